"""Extensions of relaxcheck: two pipelines, and an operator with its oracles."""
