"""The framework: the record of a fix, its probes, installation, passes and upstream recipe."""
