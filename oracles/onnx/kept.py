"""Things made of a model, kept for its further runs: a protobuf, a session of ONNX Runtime."""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import Model
from relaxcheck.generators.onnx.proto import model_proto

T = TypeVar("T")


class Kept(Generic[T]):
    """Calls ``make`` on a model and the values of its constants, and keeps the last ``most``.

    A case runs one model on inputs of several regimes. Only for the very same object, with equal
    constants, is the result of an earlier call returned: to compare models costs as much as a run.
    """

    def __init__(self, make: Callable[[Model, Mapping[str, Array]], T], most: int) -> None:
        self._make = make
        self._most = most
        self._made: OrderedDict[int, tuple[Model, Mapping[str, Array], T]] = OrderedDict()

    def __call__(self, model: Model, arrays: Mapping[str, Array]) -> T:
        """The result for ``model``; ``arrays`` are the values of all its tensors, by name."""
        constants = {t.name: arrays[t.name] for t in model.tensors if t.constant}
        known = self._made.get(id(model))
        if known is not None and known[0] is model and _equal(known[1], constants):
            return known[2]
        made = self._make(model, constants)
        self._made[id(model)] = model, constants, made
        self._made.move_to_end(id(model))
        if len(self._made) > self._most:
            self._made.popitem(last=False)
        return made


def _equal(first: Mapping[str, Array], second: Mapping[str, Array]) -> bool:
    return all(map(_same, first.values(), second.values()))


def _same(first: Array, second: Array) -> bool:
    """True if both have the same elements, bit by bit; shapes and dtypes are those of one model."""
    if first.dtype == object:
        return bool((first == second).all())
    return first.tobytes() == second.tobytes()


PROTOS = Kept(model_proto, 64)
"""The protobufs of models; nobody may change them."""
