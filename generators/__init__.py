"""Cases as data: the program model, Hypothesis strategies, and emission as a Relax module."""
