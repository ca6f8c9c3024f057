"""The records of passes, by what they are for."""
