"""Lowerings of images that are sampled at computed places."""
