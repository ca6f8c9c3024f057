"""Entries of the importers' tables, and how conversions are grouped."""

from relaxcheck.fixes.framework.patch import AtenConversion, Conversion, Import
from relaxcheck.fixes.upstream import editing
from relaxcheck.fixes.upstream.conversions import table_of, together
from relaxcheck.fixes.upstream.source import Source


def nothing() -> None:
    """Stands for a converter."""


def test_conversions_of_one_table_are_together() -> None:
    onnx = [Conversion(name, nothing) for name in ("A", "B", "A")]
    aten = [AtenConversion(name, nothing) for name in ("a.default", "b.default")]
    line = Import("file", "import a")
    grouped = list(together([*onnx, *aten, line]))
    assert grouped == [(onnx[0], onnx[1]), (onnx[2],), tuple(aten), line]


def test_an_entry_of_each_table() -> None:
    onnx = table_of(Conversion("A", nothing))
    assert onnx.entry("A", "c.C", "f.f", "B") == 'c.C("A", f.f, B)'
    aten = table_of(AtenConversion("a.default", nothing))
    assert aten.entry("a.default", "c.C", "f.f", "") == "c.C(self, f.f)"
    long = aten.entry("a.default", "converting.Converter", "f" * 40, "self._before" * 3)
    assert long.count("\n") == 4
    assert max(map(len, long.splitlines())) <= 100


def test_the_table_of_a_method() -> None:
    text = 'class A:\n    def table(self):\n        return {\n            "a": 1,\n        }\n'
    source = Source("x", text)
    assert editing.entry(source, "A.table", "a") == "1"
    edits = editing.entered(source, "A.table", {"a": "2", "b": "3"})
    assert '"a": 2,\n            "b": 3,' in source.edited(edits).text
