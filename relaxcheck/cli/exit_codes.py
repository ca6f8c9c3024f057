"""Exit codes of the commands; docs/exit-codes.md says what each means for which command."""

FAILED = 1
"""There is a new failure."""
BAD_INPUT = 2
"""Bad input, or the environment cannot do it."""
FAULT = 3
"""relaxcheck itself failed."""
INTERRUPTED = 130

EXIT_CODES = """Exit codes: 0 done, and no new failure; 1 a new failure; 2 bad input, or the
environment cannot do it; 3 a fault of relaxcheck itself; 130 interrupted. See
docs/exit-codes.md."""

MESSAGES_PASS = """Error messages (invalid programs that TVM refuses without saying what is wrong)
alone end with 0."""
