"""Compares the TVM of a release with all of TVM that relaxcheck uses."""
