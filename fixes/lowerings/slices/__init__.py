"""Fixes of slices with strides and symbolic bounds."""
