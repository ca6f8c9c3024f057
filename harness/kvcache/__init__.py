"""Paged KV caches as a kind of case: kernels compiled, operations run, results judged."""
