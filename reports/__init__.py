"""What a person opens: records rendered as tables and pages. Runs nothing."""
