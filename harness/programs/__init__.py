"""Relax programs: compile, run, judge."""
