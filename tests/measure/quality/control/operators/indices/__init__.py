"""The control of operators with indices, and of those that make and order numbers by place."""
