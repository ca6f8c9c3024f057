"""The reference's products along named axes."""
