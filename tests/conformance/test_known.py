"""Expected failures fail as declared; those that do not fail any more are reported."""

import pytest

from relaxcheck.harness.programs.conformance import Conformance


def test_declared_failures_fail_as_declared_and_have_not_expired(
    conformance: Conformance, fixes_on: bool
) -> None:
    version = conformance.pool.environment["apache-tvm"]
    if not any(declared.concerns(version, fixes=fixes_on) for declared in conformance.declared):
        pytest.skip(f"nothing is declared for apache-tvm {version}")
    failures = conformance.check_declared(fixes=fixes_on)
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)
