"""The inputs of a case as Python source text whose values are exactly the case's."""

import msgspec
import numpy as np

from relaxcheck.generators.core.fills.kinds import Misfit, Random
from relaxcheck.generators.core.program import WHOLE_RANGE, Case, Input
from relaxcheck.generators.core.values import FOREIGN, Array, arrays, exponents
from relaxcheck.harness.programs.reproduction import Run
from relaxcheck.oracles.reference.estimate import FORMATS
from relaxcheck.reports.programs.python.source import PARTS, WIDTH, array_text, shape_text

FEW = 48
"""Up to so many elements, all inputs of a run together, are written out."""

_BY_REGIME = {"moderate": "drawn_spread", "boundary": "drawn_spread"}


def input_lines(case: Case, tensor: Input, run: Run, name: str) -> list[str]:
    """Lines that give the variable ``name`` the value of the input ``tensor`` in ``run``.

    They use ``np``, ``ml_dtypes`` and, where there are many elements, the functions of
    ``helper_lines``.
    """
    array = run.inputs[tensor.name]
    count = sum(each.size for each in run.inputs.values())
    drawn = isinstance(tensor.fill, Random | Misfit) and array.size > 0
    regime = case.regime if tensor.constant else run.regime
    if not drawn or count <= FEW or (regime == WHOLE_RANGE and tensor.dtype in FORMATS):
        return _literal(array, name)
    number = -1 if tensor.constant else run.index
    base = "normal" if regime == "special" else regime
    function, more = _function(tensor.dtype, base)
    kept = f"ml_dtypes.{tensor.dtype}" if tensor.dtype in FOREIGN else f'"{tensor.dtype}"'
    key = f'"{case.seed}/{tensor.name}/{number}"'
    call = f"{function}({key}, {shape_text(array.shape)}, {kept}{more})"
    return [f"{name} = {call}", *_special(case, tensor, run, name)]


def _literal(array: Array, name: str) -> list[str]:
    if array.dtype.name in FOREIGN:
        cast = f"{name} = {name}.astype(ml_dtypes.{array.dtype.name})"
        return [*_literal(array.astype(np.float32), name), cast]
    line = f"{name} = {array_text(array)}"
    if line.endswith(PARTS) and len(line) > WIDTH:
        return [line.removesuffix(PARTS), f"{name} /= 2048"]
    return [line]


def _function(dtype: str, regime: str) -> tuple[str, str]:
    """The helper that draws ``dtype`` in ``regime``, and its further arguments."""
    if dtype == "bool":
        return "drawn_bools", ""
    if dtype not in FORMATS:
        return ("drawn_naturals" if dtype.startswith("u") else "drawn_integers"), ""
    powers = exponents(dtype, regime)
    if powers:
        return _BY_REGIME[regime], f", {powers}"
    # A format of 8 bits has one magnitude in these regimes.
    return ("drawn_exact" if regime == "exact" else "drawn"), ""


def _special(case: Case, tensor: Input, run: Run, name: str) -> list[str]:
    """A line that puts the values in that are not drawn as usual, if there are any."""
    regime = case.regime if tensor.constant else run.regime
    if regime != "special":
        return []
    usual = arrays(msgspec.structs.replace(case, regime="normal"), run.index, "normal")[tensor.name]
    array = run.inputs[tensor.name]
    wide = array if array.dtype.kind in "iub" else array.astype(np.float64)
    plain = usual.astype(wide.dtype)
    other = np.flatnonzero((wide != plain) | _signs(wide, plain))
    if not other.size:
        return []
    values: Array = wide.reshape(-1)[other]
    return [f"{name}.flat[{other.tolist()}] = {array_text(values)}"]


def _signs(wide: Array, plain: Array) -> Array:
    if wide.dtype.kind in "iub":
        return np.zeros(wide.shape, np.bool_)
    return np.asarray(np.signbit(wide) != np.signbit(plain))


_HELPERS = {
    "drawn": ("multiples of 1/2048 from -2 up to 2", "((words >> 40) % 8192) / 2048 - 2"),
    "drawn_exact": ("integers from -3 to 3", "((words >> 40) % 7).astype(float) - 3"),
    "drawn_integers": ("integers from -4 to 3", '((words >> 40) % 8).astype("int64") - 4'),
    "drawn_naturals": ("integers from 0 to 7", "(words >> 40) % 8"),
    "drawn_bools": ("booleans", "(words >> 40) % 2"),
    "drawn_spread": (
        "multiples of 1/2048 from -2 up to 2, each times one of three powers of 2",
        "np.ldexp(((words >> 40) % 8192) / 2048 - 2, np.take(exponents, (words >> 8) % 3))",
    ),
}


def helper_lines(text: str) -> list[str]:
    """The functions that ``text`` calls to draw inputs."""
    lines: list[str] = []
    for name, (noun, values) in _HELPERS.items():
        if f"{name}(" not in text:
            continue
        more = ", exponents" if name == "drawn_spread" else ""
        lines += [
            "",
            "",
            f"def {name}(key, shape, dtype{more}):",
            f'    """{noun.capitalize()}, the same on every machine."""',
            '    seed = np.frombuffer(hashlib.sha256(key.encode()).digest()[:16], "<u8")',
            "    words = np.random.Philox(key=seed).random_raw(math.prod(shape))",
            f"    values = {values}",
            "    return values.astype(dtype).reshape(shape)",
        ]
    return lines
