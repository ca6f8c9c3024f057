"""Tables and pages for people, rendered from records. Runs nothing."""
