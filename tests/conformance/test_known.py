"""What is declared as known fails as it is declared; what does not fail any more is told."""

import pytest

from harness.conformance import Conformance


def test_what_is_declared_fails_as_declared_and_has_not_expired(
    conformance: Conformance, fixes_on: bool
) -> None:
    version = conformance.pool.environment["apache-tvm"]
    if not any(one.concerns(version, fixes=fixes_on) for one in conformance.declared):
        pytest.skip(f"nothing is declared for apache-tvm {version}")
    failures = conformance.check_declared(fixes=fixes_on)
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)
