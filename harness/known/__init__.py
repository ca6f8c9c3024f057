"""The corpus and the failures that are declared as expected."""
