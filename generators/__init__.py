"""What to try: the program model, Hypothesis strategies, and emission as a Relax module."""
