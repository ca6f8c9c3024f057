"""Elements chosen by indices, and elements put there."""
