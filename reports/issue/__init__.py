"""A failure as an issue and as a script."""
