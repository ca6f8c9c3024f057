"""The work of each command, in a module of its name; imported when the command is called."""
