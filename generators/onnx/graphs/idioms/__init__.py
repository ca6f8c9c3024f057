"""What exporters write for one operation of a framework, as templates."""
