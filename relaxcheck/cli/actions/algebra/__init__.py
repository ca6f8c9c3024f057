"""``relaxcheck algebra``: facts, kernels, causes."""
