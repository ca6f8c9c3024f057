"""Oracles of paged KV caches: dense attention over all keys, in float64, with bounds."""
