"""Campaigns: draw cases, run them, group failures, merge and resume."""
