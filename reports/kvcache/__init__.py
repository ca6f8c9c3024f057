"""Paged KV caches for a person to read: text, titles, scripts, issues."""
