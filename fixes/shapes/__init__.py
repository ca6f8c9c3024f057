"""Fixes of symbolic shapes: inference, casts and checks over a whole program."""
