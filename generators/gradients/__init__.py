"""Families of gradients: programs that ``relax.transform.Gradient`` differentiates."""
