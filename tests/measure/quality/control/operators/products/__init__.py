"""Products along named axes."""
