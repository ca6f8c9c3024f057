"""The idioms of models: control flow, state, and what exporters and authors write out."""
