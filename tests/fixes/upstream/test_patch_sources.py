"""Edits of sources, and the resolution of spellings that a release decides."""

import ast
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.fixes.upstream import editing
from relaxcheck.fixes.upstream.source import Edit, PatchError, Source, unannotated
from relaxcheck.fixes.upstream.spelling import resolved


@given(st.text(alphabet="é→ab", max_size=6), st.text(alphabet="é→xy", min_size=1, max_size=6))
def test_an_edit_is_where_the_tree_says_whatever_stands_before(before: str, new: str) -> None:
    source = Source("x", f"{before!r}; name = 1\n")
    node = source.tree.body[-1]
    assert source.of(node) == "name = 1"
    edited = source.edited([Edit(source.start(node), source.end(node), f"name = {new!r}")])
    assert edited.text == f"{before!r}; name = {new!r}\n"


def test_patches_use_the_spelling_of_their_release() -> None:
    text = """
_A = getattr(owner, "Old", None) or owner.New
_B = owner.inner if hasattr(owner, "inner") else owner.other
_C = import_module("a.b") if hasattr(owner, "Old") else import_module("a.c")
Public = getattr(owner, "Old", owner.New)
Kept = Any

def function(value):
    return isinstance(value, _A | _B), _C.x, hasattr(value, "y")
"""
    owner = SimpleNamespace(New=1, inner=2)
    result = resolved(Source("x", text), {"owner": owner}).text
    assert "isinstance(value, owner.New | owner.inner), a.c.x" in result
    assert 'hasattr(value, "y")' in result
    assert "Public = owner.New" in result
    assert "Kept = Any" in result


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("from tvm import tirx", "import re\n\nfrom tvm import te, tirx\n\nfrom . import one\n"),
        ("import math", "import math\nimport re\n\nfrom tvm import te\n\nfrom . import one\n"),
        ("from . import two", "import re\n\nfrom tvm import te\n\nfrom . import one, two\n"),
        (
            "from tvm.ir.op import Op",
            "import re\n\nfrom tvm import te\nfrom tvm.ir.op import Op\n\nfrom . import one\n",
        ),
        ("from tvm import te", "import re\n\nfrom tvm import te\n\nfrom . import one\n"),
    ],
)
def test_an_import_goes_where_it_belongs(line: str, wanted: str) -> None:
    source = Source("x", "import re\n\nfrom tvm import te\n\nfrom . import one\n")
    assert editing.with_imports(source, [line]).text == wanted


@pytest.mark.parametrize(
    ("there", "line", "is_added"),
    [
        ("from . import _ffi_api", "from tvm.relax import _ffi_api", False),
        ("from ..op import base", "from tvm.op import base", False),
        ("from .op.base import call", "from tvm.relax.op.base import call", False),
        ("from tvm.relax import _ffi_api", "from . import _ffi_api", False),
        ("from . import _ffi_api", "from tvm import _ffi_api", True),
        ("from . import _ffi_api as api", "from tvm.relax import _ffi_api", True),
        ("from .op import base", "from tvm.op import base", True),
    ],
)
def test_a_relative_import_is_that_of_its_module(there: str, line: str, is_added: bool) -> None:
    source = Source("relax/vm_build.py", f"{there}\n")
    assert (editing.with_imports(source, [line]).text != source.text) == is_added


def test_a_guard_goes_between_docstring_and_body() -> None:
    source = Source("x", 'def f(a):\n    """Text."""\n\n    # Why.\n    return a\n')
    guarded = source.edited([editing.preceded(source, "f", ["import b", "", "check(a)"])]).text
    assert guarded == (
        'def f(a):\n    """Text."""\n\n    # Why.\n    import b\n\n    check(a)\n    return a\n'
    )


def test_a_guard_of_a_function_within_a_function() -> None:
    source = Source("x", "def f(a):\n    def g(b):\n        return b\n\n    return g\n")
    guarded = source.edited([editing.preceded(source, "f.g", ["b = check(b)"])]).text
    assert guarded == (
        "def f(a):\n    def g(b):\n        b = check(b)\n        return b\n\n    return g\n"
    )


def test_annotations_are_taken_off() -> None:
    text = "def f(a: int, *, b: dict[str, int] = {}, c=1) -> None:\n    x: int = a\n"
    result = unannotated(Source("x", text)).text
    assert ast.unparse(ast.parse(result)) == "def f(a, *, b={}, c=1):\n    x: int = a"


def test_code_that_only_the_old_registration_used_is_removed() -> None:
    text = """import math
import re

from .common import register_legalize


def _helper():
    return math.pi


def _named_elsewhere():
    return 1


@register_legalize("one")
def _one(bb, call):
    return _helper(), _named_elsewhere()


# About the next.
@register_legalize("two")
def _two(bb, call):
    return re
"""
    before = Source("x", text)
    edit = editing.lowered(before, "one", "ours.lower", ["setting()"])
    result = editing.without_unused(
        before.edited([edit]), before, lambda name: name == "_named_elsewhere"
    ).text
    assert "math" not in result
    assert "_helper" not in result
    assert "def _named_elsewhere" in result
    assert 'register_legalize("one", ours.lower)\nsetting()\n' in result
    assert '# About the next.\n@register_legalize("two")\n' in result


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('@register_legalize("a")\ndef f(): ...\n', '@register_legalize("a")\n@w\ndef f(): ...\n'),
        ('register_legalize("a", g(1))\n', 'register_legalize("a", w(g(1)))\n'),
    ],
)
def test_a_registration_is_wrapped_as_it_is_written(text: str, wanted: str) -> None:
    source = Source("x", text)
    assert source.edited([editing.wrapped(source, "a", "w")]).text == wanted


def test_an_entry_is_added_or_replaced() -> None:
    source = Source("x", 'def f():\n    return {\n        "a": one,\n        "b": two(1),\n    }\n')
    added = source.edited(editing.entered(source, "f", {"c": "three", "a": "six", "d": "4"})).text
    assert '"a": six,\n        "b": two(1),\n        "c": three,\n        "d": 4,\n    }\n' in added
    replaced = source.edited(editing.entered(source, "f", {"a": "three"})).text
    assert '        "a": three,\n        "b": two(1),\n    }\n' in replaced


def test_a_place_that_is_not_there_is_an_error() -> None:
    source = Source("nn.py", "x = 1\n")
    with pytest.raises(PatchError, match=r"nn\.py does not register a legalization of a"):
        editing.lowered(source, "a", "b", [])
    with pytest.raises(PatchError, match=r"nn\.py has no function conv"):
        editing.decorated(source, "conv", "b")
    with pytest.raises(PatchError, match=r"nn\.py imports nothing"):
        editing.with_imports(source, ["import a"])
    with pytest.raises(PatchError, match=r"nn\.py: f does not return a dictionary"):
        editing.entered(Source("nn.py", "def f():\n    return 1\n"), "f", {"a": "b"})


def test_guards_of_arguments_are_distinguished_from_other_statements() -> None:
    text = """
def f(a, b, c):
    assert a
    if b:
        raise RuntimeError("b")
    if b:
        raise RuntimeError("again")
    if c:
        c = 1
    if not a:
        raise RuntimeError("a")
"""
    assert editing.guards(Source("x", text), "f") == '    if b:\n        raise RuntimeError("b")'


def test_a_method_is_left_to_a_function() -> None:
    text = '''class Owner:
    def method(self, first, second: int = 2):
        """Do it."""
        third = first
        return third

    def other(self):
        return 1
'''
    edit = editing.delegated(
        Source("x", text), "Owner", "method", ["from . import new", ""], "new.go"
    )
    assert (
        Source("x", text).edited([edit]).text
        == '''class Owner:
    def method(self, first, second: int = 2):
        """Do it."""
        from . import new

        return new.go(self, first, second)

    def other(self):
        return 1
'''
    )
    for owner, name in (("Owner", "gone"), ("Gone", "method")):
        with pytest.raises(PatchError, match=rf"x has no method {owner}\.{name}"):
            editing.delegated(Source("x", text), owner, name, [], "new.go")
