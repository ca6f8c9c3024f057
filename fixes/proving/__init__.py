"""Conditions on dimensions: what operators require, proofs by TVM's analyzer and z3, checks."""
