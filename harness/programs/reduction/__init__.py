"""Steps that make a failing program simpler, and the order that they go down."""
