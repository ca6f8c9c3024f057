"""Native code: targets and linking, for every kind of case that is compiled."""
