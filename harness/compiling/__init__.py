"""Relax modules, however they were made: compile them in distinct stages, and run them."""
