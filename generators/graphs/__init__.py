"""Programs of several operators over symbolic dimensions."""
