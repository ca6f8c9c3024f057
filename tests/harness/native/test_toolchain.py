from dataclasses import replace

from relaxcheck.generators.targets import TARGETS
from relaxcheck.harness.native.toolchain import missing


def test_a_missing_package_is_a_line_that_says_how_to_install_it() -> None:
    target = replace(TARGETS["webgpu"], packages=("pytest", "no-such-package"))
    assert missing(target) == (
        "WGSL is generated, and neither compiled nor run, without no-such-package: "
        "make targets, or pip install 'relaxcheck[targets]'"
    )
    assert missing(replace(target, packages=("pytest",))) == ""
    assert missing(TARGETS["llvm"]) == ""
