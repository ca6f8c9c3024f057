"""Attention over sequences of one length, and over concatenated ones of several."""
