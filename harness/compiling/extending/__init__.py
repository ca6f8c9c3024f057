"""Extensions where TVM is: registrations of operators, and passes of a user's own pipeline."""
