"""Exports: the folder of one failure, and of every finding of a campaign."""
