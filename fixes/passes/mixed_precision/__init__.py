"""Mixed precision that computes the same function as before.

``ToMixedPrecision`` asks each operator for its call in lower precision, and casts the float32
arguments itself.
"""

KEY = "FInferMixedPrecision"
"""The operator attribute that answers ``ToMixedPrecision``."""
