"""The control's operators of what is known when a program runs."""
