"""PyTorch programs: export, import, compile, run, judge."""
