"""The program model, dimensions, values, axes and steering."""
