"""Conformance of a pipeline of a user's own: the same cases through TVM's and through theirs."""
