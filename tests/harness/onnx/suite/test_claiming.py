"""The operators that the importer has a converter for."""

from relaxcheck import fixes
from relaxcheck.harness.onnx.suite.claiming import claims


def test_a_converter_of_tvm_is_claimed_from_its_versions_on() -> None:
    fixes.uninstall()
    found = claims()
    assert found["Relu"]
    assert "Col2Im" not in found


def test_a_converter_of_a_fix_is_claimed_and_so_are_branches() -> None:
    fixes.uninstall()
    with fixes.install(["onnx_rnn"]):
        assert claims()["LSTM"] == (1,)
    assert claims()["If"] == (1,)
