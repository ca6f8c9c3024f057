"""Reads of a converter, in text that stands for the importer's file."""

from textwrap import dedent

import pytest

from relaxcheck.harness.onnx.unread.reads import ALL, Reads, reads
from relaxcheck.harness.onnx.unread.source import Importer, read
from relaxcheck.harness.releases.releases import ReleaseError

MAP = """
def _get_convert_map():
    return {"Op": Op}
"""


def importer(*parts: str) -> Importer:
    return read("\n".join(dedent(part) for part in (*parts, MAP)))


def of(body: str, *others: str) -> Reads:
    """The reads of a converter with this ``body``, and ``others`` in the file."""
    lines = "\n".join(f"        {line}" for line in dedent(body).strip().splitlines())
    head = "class Op(Base):\n    @classmethod\n    def _impl_v1(cls, bb, inputs, attr, params):\n"
    return reads(importer(*others, f"{head}{lines}\n"), "Op", "_impl_v1")


@pytest.mark.parametrize(
    "line",
    [
        'return attr.get("axis", 0)',
        'return attr["axis"]',
        'return attr.pop("axis")',
        'return "axis" in attr',
        'own = attr\nreturn own["axis"]',
    ],
)
def test_attributes_are_read_by_name(line: str) -> None:
    assert of(line) == Reads({"axis"}, set())


def test_what_is_only_written_is_not_read() -> None:
    assert of('attr["axis"] = 0\nreturn inputs[1]') == Reads(set(), {1})


@pytest.mark.parametrize(
    "line",
    [
        "return [f(each) for each in inputs]",
        "return f(*inputs)",
        "return relax.op.concat(inputs)",
        "return inputs[number]",
    ],
)
def test_inputs_that_go_elsewhere_as_a_whole_may_all_be_read(line: str) -> None:
    assert of(line).inputs == {ALL}


def test_a_slice_reads_all_inputs_from_its_beginning() -> None:
    found = of("return inputs[2:]").inputs
    assert {2, 3, 9} <= found
    assert not {0, 1, ALL} & found


def test_the_number_of_inputs_reads_none() -> None:
    assert of("return len(inputs)") == Reads()


def test_helpers_are_read_by_the_roles_and_constants_they_are_called_with() -> None:
    found = of(
        "return [_helper(1, attr, inputs), cls.other(inputs, key='name', attributes=attr)]",
        """
        def _helper(at, settings, tensors):
            return tensors[at] + settings["mode"]

        class Base:
            @classmethod
            def other(cls, values, attributes, key):
                return values[0] + attributes.get(key)
        """,
    )
    assert found == Reads({"mode", "name"}, {0, 1})


def test_a_version_that_asks_its_base_class_reads_what_that_reads() -> None:
    found = of(
        "return super()._impl_v1(bb, inputs, attr, params)",
        """
        class Base:
            @classmethod
            def _impl_v1(cls, bb, inputs, attr, params):
                return cls._impl_v1 and inputs[0] + attr["axis"]
        """,
    )
    assert found == Reads({"axis"}, {0})


def test_the_converter_is_the_newest_that_is_not_newer_than_the_opset() -> None:
    own = importer(
        """
        class Base:
            def _impl_v5(cls): ...

        class Op(Base):
            def _impl_v9(cls): ...
            def _impl_v13(cls): ...
            _impl_v18 = _impl_v9
        """
    )
    chosen = [own.chosen("Op", opset) for opset in (1, 7, 9, 12, 13, 18, 30)]
    assert chosen == [f"_impl_v{number}" for number in (5, 5, 9, 9, 13, 18, 18)]
    assert own.methods("Op")["_impl_v18"] is own.methods("Op")["_impl_v9"]
    assert own.converters == {"Op": "Op"}
    assert own.chosen("Nobody", 9) is None


def test_a_file_without_the_map_is_no_importer() -> None:
    with pytest.raises(ReleaseError, match="_get_convert_map"):
        read("def other(): ...")
