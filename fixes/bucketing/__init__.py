"""Programs over one symbol, compiled as static programs for a few sizes."""
