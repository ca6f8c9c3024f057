"""Fixes of single operators: their legalizations, and the TOPI functions behind these."""
