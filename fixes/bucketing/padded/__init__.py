"""Operators along a padded axis, and the values that have to stand past its end."""
