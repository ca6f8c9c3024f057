"""The journal of a campaign, one SQLite file."""
