"""The reference's operators of training."""
