"""The reference's gradients of operators."""
