"""Operators on images and signals: resizing, sampling, regions and boxes, spectra."""
