"""The options of each command and its help, in a module of its name."""
