"""Structs without what their defaults say anyway."""

from typing import Any, TypeVar

import msgspec

S = TypeVar("S", bound=msgspec.Struct)


def compact(struct: S) -> S:
    """``struct`` whose fields of default values are the defaults, which no file then holds."""
    own = {}
    for field in msgspec.structs.fields(struct):
        value = getattr(struct, field.name)
        if field.required or value != field.default:
            own[field.name] = _compact(value)
    return type(struct)(**own)


def _compact(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return compact(value)
    if isinstance(value, tuple):
        return tuple(map(_compact, value))
    return (
        {key: _compact(each) for key, each in value.items()} if isinstance(value, dict) else value
    )
