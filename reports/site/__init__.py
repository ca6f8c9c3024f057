"""Many nights as one static site: faults that are new, came back or are fixed, and their trend."""
