"""Commands that list what there is to draw, check and fix."""
