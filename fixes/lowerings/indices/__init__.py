"""Lowerings of operators that compute with places."""
