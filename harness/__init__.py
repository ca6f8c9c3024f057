"""The engine: compile stages, isolated workers, comparison, campaigns, command line."""
