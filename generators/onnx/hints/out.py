"""Operators that are not drawn, with the reason."""

_TEXT = "it takes or makes text, which Relax has no tensors of"

OUT = {
    "ImageDecoder": "its input is a file of an image format",
    "RegexFullMatch": _TEXT,
    "StringConcat": _TEXT,
    "StringNormalizer": _TEXT,
    "StringSplit": _TEXT,
}
"""The reason for each operator without a hint."""
