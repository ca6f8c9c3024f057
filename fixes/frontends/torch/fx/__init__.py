"""Fixes of the importers of FX graphs: ``from_fx``, and ``relax_dynamo``, which calls it."""
