"""A campaign, or the corpus, as one HTML file that needs nothing beside it."""
