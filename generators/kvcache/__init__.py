"""Paged KV caches: settings and sequences of operations as data, and the model of a cache."""
