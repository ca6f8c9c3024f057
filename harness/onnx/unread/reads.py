"""The attributes and inputs that a converter reads, itself or in the helpers that it calls.

In doubt a thing counts as read: where the whole of the inputs or attributes goes to somebody
else than a function of the file, or a key is computed.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from relaxcheck.harness.onnx.unread.source import Function, Importer

INPUTS, ATTRIBUTES = "inputs", "attr"
"""The names that TVM's converters have for both."""

ALL = "*"

_HARMLESS = ("len", "print", "str", "repr", "bool")
"""Functions of the language that look at none of the elements."""


@dataclass(slots=True)
class Reads:
    """Names of attributes and numbers of inputs; ``ALL`` among them: every one may be read."""

    attributes: set[str] = field(default_factory=set)
    inputs: set[int | str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Scope:
    """A function being read: the roles and the constant values of its parameters, its class."""

    roles: Mapping[str, str]
    values: Mapping[str, object]
    owner: str


def reads(importer: Importer, owner: str, method: str) -> Reads:
    """The reads of ``method`` of the class ``owner``, called on a node."""
    found = Reads()
    function = importer.methods(owner)[method]
    roles = {name: name for name in (INPUTS, ATTRIBUTES)}
    _Reader(importer, found).function(function, _Scope(roles, {}, owner))
    return found


class _Reader:
    """Adds to ``found`` what functions of ``importer`` read."""

    def __init__(self, importer: Importer, found: Reads) -> None:
        self._importer, self._found = importer, found
        self._seen: set[tuple[int, str]] = set()

    def function(self, function: Function, scope: _Scope) -> None:
        """Read ``function``, unless it was read in the same roles before."""
        key = (id(function), repr((sorted(scope.roles.items()), scope.values, scope.owner)))
        if key in self._seen:
            return
        self._seen.add(key)
        parents = {
            child: parent for parent in ast.walk(function) for child in ast.iter_child_nodes(parent)
        }
        roles = dict(scope.roles)
        for statement in ast.walk(function):
            match statement:
                case ast.Assign(targets=[ast.Name(id=new)], value=ast.Name(id=old)) if old in roles:
                    roles[new] = roles[old]
        own = _Scope(roles, scope.values, scope.owner)
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in roles:
                self._use(node, parents, own)

    def _use(self, node: ast.Name, parents: Mapping[ast.AST, ast.AST], scope: _Scope) -> None:
        """Read one use of the inputs or attributes."""
        role, parent = scope.roles[node.id], parents[node]
        match parent:
            case ast.Subscript(value=value, slice=key, ctx=ast.Load()) if value is node:
                self._key(role, key, scope)
            case ast.Subscript(value=value) if value is node:
                pass
            case ast.Attribute(attr="get" | "pop" | "setdefault"):
                call = parents[parent]
                assert isinstance(call, ast.Call)
                self._key(role, call.args[0], scope)
            case ast.Attribute(attr="update" | "append"):
                pass
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()]) if key is not node:
                # Asking for an attribute is the beginning of reading it.
                self._key(role, key, scope)
            case ast.Assign(targets=[ast.Name()]):
                pass
            case ast.keyword():
                self._passed(parents[parent], node, role, scope)
            case ast.Call():
                self._passed(parent, node, role, scope)
            case _:
                self._all(role)

    def _passed(self, call: ast.AST, node: ast.Name, role: str, scope: _Scope) -> None:
        """Read the function that gets the inputs or attributes whole."""
        assert isinstance(call, ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id in _HARMLESS:
            return
        called = list(self._called(call.func, scope))
        if not called:
            self._all(role)
        for function, owner in called:
            names = [each.arg for each in function.args.args]
            if names[:1] in (["cls"], ["self"]):
                names = names[1:]
            roles, values = _bound(call, names, scope)
            if role not in roles.values():
                self._all(role)
            self.function(function, _Scope(roles, values, owner))

    def _called(self, func: ast.expr, scope: _Scope) -> Iterator[tuple[Function, str]]:
        """The function that ``func`` names, and the class that it then works for."""
        match func:
            case ast.Name(id=name) if name in self._importer.functions:
                yield self._importer.functions[name], scope.owner
            case ast.Attribute(value=ast.Name(id="cls" | "self"), attr=name):
                yield from self._method(scope.owner, name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                yield from self._method(owner, name)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=name):
                yield from self._method(scope.owner, name, inherited=True)

    def _method(
        self, owner: str, name: str, *, inherited: bool = False
    ) -> Iterator[tuple[Function, str]]:
        method = self._importer.methods(owner, inherited=inherited).get(name)
        if method is not None:
            yield method, owner

    def _key(self, role: str, key: ast.expr, scope: _Scope) -> None:
        """Read one element, or several."""
        value: object = None
        match key:
            case ast.Constant(value=value):
                pass
            case ast.Name(id=name):
                value = scope.values.get(name)
            case ast.Slice(lower=ast.Constant(value=int() as first), upper=None):
                self._found.inputs.update(range(first, first + _MANY))
                return
        if role == INPUTS and isinstance(value, int) and value >= 0:
            self._found.inputs.add(value)
        elif role == ATTRIBUTES and isinstance(value, str):
            self._found.attributes.add(value)
        else:
            self._all(role)

    def _all(self, role: str) -> None:
        if role == INPUTS:
            self._found.inputs.add(ALL)
        else:
            self._found.attributes.add(ALL)


_MANY = 32
"""More inputs than any schema states."""


def _bound(
    call: ast.Call, names: list[str], scope: _Scope
) -> tuple[dict[str, str], dict[str, object]]:
    """The roles and constant values of the parameters ``names`` in ``call``."""
    arguments = [*zip(names, call.args, strict=False)]
    arguments += [(each.arg, each.value) for each in call.keywords if each.arg is not None]
    roles: dict[str, str] = {}
    values: dict[str, object] = {}
    for name, value in arguments:
        match value:
            case ast.Name(id=own) if own in scope.roles:
                roles[name] = scope.roles[own]
            case ast.Constant(value=constant):
                values[name] = constant
    return roles, values
