"""Integer expressions: issues, scripts and tables."""
