"""Edits of TVM's own files: registrations, constructors, bodies, imports."""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from relaxcheck.fixes.upstream.source import (
    Edit,
    PatchError,
    Source,
    alias_name,
    alias_text,
    bound,
    import_text,
    imports,
    is_text,
    names,
)

_REGISTER = "register_legalize"
_WIDTH = 100
"""The longest line that TVM's style allows."""


def registration(source: Source, operator: str) -> ast.stmt | None:
    """The statement in ``source`` that registers the legalization of ``operator``."""
    for node in source.tree.body:
        if isinstance(node, ast.FunctionDef):
            calls: Sequence[ast.expr] = node.decorator_list
        else:
            calls = [node.value] if isinstance(node, ast.Expr) else []
        if any(_registers(call, operator) for call in calls):
            return node
    return None


def _registers(node: ast.expr, operator: str) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=value), *_]):
            return name == _REGISTER and value == operator
    return False


def lowered(source: Source, operator: str, function: str, settings: Iterable[str]) -> Edit:
    """Register ``function`` instead of the present legalization, followed by ``settings``."""
    node = _registered(source, operator)
    lines = [f'{_REGISTER}("{operator}", {function})', *settings]
    return Edit(source.start(node), source.end(node), "\n".join(lines))


def wrapped(source: Source, operator: str, function: str) -> Edit:
    """Register the result of ``function`` for the present legalization."""
    node = _registered(source, operator)
    if isinstance(node, ast.FunctionDef):
        # Below the registering decorator, which then receives our result.
        below = max(decorator.end_lineno or 0 for decorator in node.decorator_list)
        at = source.line(below + 1)
        return Edit(at, at, f"@{function}\n")
    assert isinstance(node, ast.Expr)
    assert isinstance(node.value, ast.Call)
    argument = node.value.args[1]
    text = source.of(argument)
    line = source.text.splitlines()[argument.lineno - 1]
    if "\n" not in text and len(line) + len(f"{function}()") > _WIDTH:
        indent = " " * (len(line) - len(line.lstrip()))
        text = f"\n{indent}    {text}\n{indent}"
    return Edit(source.start(argument), source.end(argument), f"{function}({text})")


def followed(source: Source, operator: str, settings: Iterable[str]) -> Edit:
    """Put ``settings`` behind the registration of the present legalization."""
    end = source.end(_registered(source, operator))
    return Edit(end, end, "".join(f"\n{setting}" for setting in settings))


def _registered(source: Source, operator: str) -> ast.stmt:
    node = registration(source, operator)
    if node is None:
        raise PatchError(f"{source.name} does not register a legalization of {operator}")
    return node


def decorated(source: Source, function: str, decorator: str) -> Edit:
    """Add ``decorator`` on top of those of ``function``."""
    at = source.start(source.function(function))
    return Edit(at, at, f"@{decorator}\n")


def entered(source: Source, function: str, entries: Mapping[str, str]) -> list[Edit]:
    """Set the keys of ``entries`` to their values in the dictionary that ``function`` returns.

    ``function`` is the name of a function, or that of a class and a method with a dot between.
    """
    table = _table(source, function)
    edits, added = [], []
    last = table.values[-1]
    line = source.text.splitlines()[last.lineno - 1]
    indent = line[: len(line) - len(line.lstrip())]
    for key, value in entries.items():
        if (other := _value(table, key)) is not None:
            edits.append(Edit(source.start(other), source.end(other), value))
        else:
            added.append(f',\n{indent}"{key}": {value}')
    if added:
        edits.append(Edit(source.end(last), source.end(last), "".join(added)))
    return edits


def entry(source: Source, function: str, key: str) -> str:
    """The text of the value of ``key`` in the dictionary that ``function`` returns; "" if none."""
    value = _value(_table(source, function), key)
    if value is None:
        return ""
    return source.text.encode()[source.start(value) : source.end(value)].decode()


def _table(source: Source, function: str) -> ast.Dict:
    owner, _, name = function.rpartition(".")
    node = source.method(owner, name) if owner else source.function(name)
    match node.body[-1]:
        case ast.Return(value=ast.Dict() as table):
            return table
    raise PatchError(f"{source.name}: {function} does not return a dictionary")


def _value(table: ast.Dict, key: str) -> ast.expr | None:
    for there, value in zip(table.keys, table.values, strict=True):
        if isinstance(there, ast.Constant) and there.value == key:
            return value
    return None


def with_body(source: Source, function: str, body: str, before: str) -> Source:
    """``source`` with a new ``body`` for ``function``; its docstring stays.

    ``body`` is indented as within the function. ``before`` holds definitions to put in front of it.
    """
    node = source.function(function)
    rest = [statement for statement in node.body if not is_text(statement)]
    start = source.line(rest[0].lineno)
    edits = [Edit(start, source.end(rest[-1]), body.rstrip())]
    at = source.start(node)
    edits.append(Edit(at, at, before))
    return source.edited(edits)


def preceded(source: Source, function: str, lines: Iterable[str]) -> Edit:
    """Put ``lines`` in front of the body of ``function``, after its docstring.

    ``"Owner.method"`` is a method of a class, or a function within a function.
    """
    owner, _, name = function.rpartition(".")
    body = (source.method(owner, name) if owner else source.function(name)).body
    rest = [node for node in body if not is_text(node)]
    at = source.line(rest[0].lineno)
    indent = " " * rest[0].col_offset
    return Edit(at, at, "".join(f"{indent}{line}".rstrip() + "\n" for line in lines))


def delegated(source: Source, owner: str, method: str, lines: Iterable[str], to: str) -> Edit:
    """Let ``method`` of the class ``owner`` return ``to`` of its parameters, after ``lines``.

    The docstring stays.
    """
    node = source.method(owner, method)
    rest = [statement for statement in node.body if not is_text(statement)]
    indent = " " * rest[0].col_offset
    parameters = ", ".join(parameter.arg for parameter in node.args.args)
    body = [*lines, f"return {to}({parameters})"]
    text = "\n".join(f"{indent}{line}".rstrip() for line in body)
    return Edit(source.line(rest[0].lineno), source.end(rest[-1]), text)


def guards(source: Source, function: str) -> str:
    """The statements of ``function`` that raise if an argument is given, and do nothing else."""
    node = source.function(function)
    parameters = {arg.arg for arg in node.args.args}
    conditions: dict[str, str] = {}
    for statement in node.body:
        match statement:
            case ast.If(test=ast.Name(id=name), body=[ast.Raise()], orelse=[]) if (
                name in parameters
            ):
                conditions.setdefault(
                    name, source.slice(source.line(statement.lineno), source.end(statement))
                )
    return "\n".join(conditions.values())


def with_imports(source: Source, lines: Iterable[str]) -> Source:
    """``source`` with those of the imports ``lines`` that it lacks, each where it belongs.

    Raises:
        PatchError: ``source`` imports nothing.
    """
    there = [node for node in source.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    if not there:
        raise PatchError(f"{source.name} imports nothing")
    # Only what the imports are in is parsed for each line: the rest may be ten thousand lines.
    end = source.end(there[-1])
    before = head = Source(source.name, source.slice(0, end))
    for line in lines:
        (node,) = ast.parse(line).body
        assert isinstance(node, ast.Import | ast.ImportFrom)
        head = _with_import(head, node)
    return source if head == before else source.edited([Edit(0, end, head.text)])


def _with_import(source: Source, node: ast.Import | ast.ImportFrom) -> Source:
    there = [
        statement
        for statement in source.tree.body
        if isinstance(statement, ast.Import | ast.ImportFrom)
    ]
    bound_there = {
        alias_text(alias)
        for imported in there
        for alias in imported.names
        if _origin(source, imported) == _origin(source, node)
    }
    missing = [alias for alias in node.names if alias_text(alias) not in bound_there]
    same = next((imported for imported in there if _alike(imported, node)), None)
    if not missing:
        return source
    if same is not None and isinstance(node, ast.ImportFrom):
        text = import_text(same, sorted([*same.names, *missing], key=_by_kind))
        return source.edited([Edit(source.start(same), source.end(same), text)])
    text = import_text(node, missing)
    earlier = [imported for imported in there if import_order(imported) < import_order(node)]
    if not earlier:
        at = source.start(there[0])
        between = "\n" if import_order(there[0])[0] == import_order(node)[0] else "\n\n"
        return source.edited([Edit(at, at, text + between)])
    at = source.end(earlier[-1])
    between = "\n" if import_order(earlier[-1])[0] == import_order(node)[0] else "\n\n"
    return source.edited([Edit(at, at, between + text)])


def _alike(left: ast.Import | ast.ImportFrom, right: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(left, ast.ImportFrom) and isinstance(right, ast.ImportFrom):
        return (left.level, left.module) == (right.level, right.module)
    return isinstance(left, ast.Import) and isinstance(right, ast.Import)


def _origin(source: Source, node: ast.Import | ast.ImportFrom) -> str | None:
    """The dotted name of the module that ``node`` imports names from; None for ``import``.

    A relative import starts from the package of ``source``, whose name is its path below ``tvm``.
    """
    if isinstance(node, ast.Import):
        return None
    if not node.level:
        return node.module
    folders = ("tvm", *PurePosixPath(source.name).parent.parts)
    package = folders[: len(folders) - node.level + 1]
    return ".".join((*package, *([node.module] if node.module else [])))


def import_order(node: ast.Import | ast.ImportFrom) -> tuple[int, bool, str]:
    """The sort key of an import: standard library, TVM, relative ones."""
    if isinstance(node, ast.Import):
        module, level = node.names[0].name, 0
    else:
        module, level = node.module or "", node.level
    group = 2 if level else int(module.partition(".")[0] == "tvm")
    return (group, isinstance(node, ast.ImportFrom), "~" * (9 - level) + module)


def _by_kind(alias: ast.alias) -> tuple[bool, str]:
    """Classes before functions, as TVM's formatter sorts them."""
    return (not alias.name[0].isupper(), alias.name)


def with_last_import(source: Source, line: str) -> Source:
    """``source`` with ``line`` as its last import."""
    last = [
        statement
        for statement in source.tree.body
        if isinstance(statement, ast.Import | ast.ImportFrom)
    ][-1]
    at = source.end(last)
    return source if line in source.text else source.edited([Edit(at, at, f"\n{line}")])


def without_unused(
    source: Source, before: Source, is_named_elsewhere: Callable[[str], bool]
) -> Source:
    """``source`` without private functions and imports that only ``before`` used.

    Names that other files use stay.
    """
    while True:
        used = names(source.tree)
        was = names(before.tree)
        edits = []
        for node in source.tree.body:
            gone = [name for name in bound(node) if name in was - used]
            if isinstance(node, ast.FunctionDef) and gone and _is_private(node, is_named_elsewhere):
                edits.append(_removed(source, node))
        statements: dict[ast.Import | ast.ImportFrom, list[ast.alias]] = {}
        for statement, alias in imports(source.tree):
            if alias_name(alias) in was - used:
                statements.setdefault(statement, []).append(alias)
        for statement, unused in statements.items():
            kept = [alias for alias in statement.names if alias not in unused]
            text = import_text(statement, kept)
            end = source.end(statement)
            edit = Edit(source.start(statement), end, text)
            edits.append(edit if text else _removed(source, statement))
        if not edits:
            return source
        source = source.edited(edits)


def _is_private(node: ast.FunctionDef, is_named_elsewhere: Callable[[str], bool]) -> bool:
    return (
        node.name.startswith("_") and not node.decorator_list and not is_named_elsewhere(node.name)
    )


def _removed(source: Source, node: ast.stmt) -> Edit:
    """Remove ``node`` with its line, and blank lines behind it if some precede it."""
    start, end = source.start(node), source.end(node)
    rest = source.slice(end, len(source.text.encode()))
    ahead = source.slice(0, start).endswith("\n\n")
    blank = len(rest) - len(rest.lstrip("\n")) if ahead else min(len(rest), 1)
    return Edit(start, end + blank, "")
