"""Relax programs as Python source."""
