"""Programs as a whole."""
