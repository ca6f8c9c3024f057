"""Integer expressions: ask the analyzer, compile, compare."""
