"""The pairs of values of axes that a campaign is steered to, and covering arrays of them."""
