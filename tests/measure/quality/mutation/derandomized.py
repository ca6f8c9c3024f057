"""A pytest plugin: properties try the same examples every time, and stop at a failure."""

import hypothesis
import pytest


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """The same examples every time, and none is made smaller: that it fails is all we ask."""
    for name, examples in (("mutation", 40), ("mutation-programs", 5)):
        hypothesis.settings.register_profile(
            name,
            max_examples=examples,
            deadline=None,
            derandomize=True,
            phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
            suppress_health_check=list(hypothesis.HealthCheck),
        )
    hypothesis.settings.load_profile("mutation")
