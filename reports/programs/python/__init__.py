"""Programs and their inputs as Python source."""
