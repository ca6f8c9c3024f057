"""The tables of TVM's importers, and how an entry of ours is written into one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from relaxcheck.fixes.framework.patch import AtenConversion, Conversion, Function, Step
from relaxcheck.fixes.frontends.onnx import converting as onnx
from relaxcheck.fixes.frontends.torch import converting as torch

_LINE = 100
"""The longest line of TVM's sources."""


@dataclass(frozen=True, slots=True)
class Table:
    """The dictionary that ``function`` of ``file`` returns, with an ``indent`` before each entry.

    ``key`` is the first argument of our ``converter``: TVM's own name of the operator if empty.
    """

    file: str
    function: str
    converter: Function
    indent: str
    key: str = ""

    def entry(self, operator: str, converter: str, function: str, before: str) -> str:
        """The text of our entry for ``operator``, which ``before`` served, if there was one.

        ``converter`` and ``function`` are the names that the file has for our definitions.
        """
        key = self.key or f'"{operator}"'
        arguments = [key, function, *([before] * bool(before))]
        value = f"{converter}({', '.join(arguments)})"
        if len(f'{self.indent}"{operator}": {value},') <= _LINE:
            return value
        lines = "".join(f"\n{self.indent}    {argument}," for argument in arguments)
        return f"{converter}({lines}\n{self.indent})"


_ONNX = Table(onnx.IMPORTER, onnx.TABLE, onnx.Converter, " " * 8)
_TORCH = Table(torch.IMPORTER, f"{torch.OWNER}.{torch.TABLE}", torch.Converter, " " * 12, "self")
"""Its entries are methods of one importer, where a class of ONNX's table serves all."""


def table_of(step: Conversion | AtenConversion) -> Table:
    """The table that ``step`` is to change."""
    return _TORCH if isinstance(step, AtenConversion) else _ONNX


def together(steps: Iterable[Step]) -> Iterator[Step | tuple[Conversion | AtenConversion, ...]]:
    """``steps`` alone, but together conversions of different operators that follow each other.

    They are of one table. An importer's file is long: to parse it after each of hundreds of
    conversions takes minutes.
    """
    waiting: dict[str, Conversion | AtenConversion] = {}
    for step in steps:
        if not isinstance(step, Conversion | AtenConversion):
            if waiting:
                yield tuple(waiting.values())
            waiting = {}
            yield step
            continue
        if waiting and (
            step.operator in waiting or type(step) is not type(next(iter(waiting.values())))
        ):
            yield tuple(waiting.values())
            waiting = {}
        waiting[step.operator] = step
    if waiting:
        yield tuple(waiting.values())
