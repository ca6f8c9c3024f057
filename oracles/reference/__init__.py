"""The float64 reference: a value and an error bound for each element."""
