"""Invalid programs and wrong calls: errors that reject them, and evidence of what is invalid."""
