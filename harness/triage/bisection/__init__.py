"""Bisection: the pass that breaks a case."""
