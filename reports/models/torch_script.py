"""A piece of a PyTorch program as a script that needs TVM, PyTorch and NumPy alone."""

from collections.abc import Mapping

import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.models.fault import Fault
from relaxcheck.harness.models.pieces.calls import SEED, SMALL, TOLERANCE, TorchInput, TorchPiece
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.environment import tvm_version
from relaxcheck.reports.issue.template import TEMPLATES
from relaxcheck.reports.templating import docstring_text

LINES = 60
"""Lines of a script at most."""

VALUES = "values.npz"
"""The file beside a script with captured values that are too many to be written out."""

_COMPARED = (Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE)


def script(
    piece: TorchPiece,
    fault: Fault,
    title: str,
    environment: Mapping[str, str],
    *,
    fused: bool = False,
    opt_level: int = 3,
    fixes: bool = False,
) -> tuple[str, dict[str, Array]]:
    """The script, and the arrays that it loads from ``VALUES``, by name.

    It prints the results of PyTorch and of TVM, and exits with 1 while they differ, or while TVM
    fails; with 0 once that is gone. ``fixes``: it puts the bundled fixes on.
    """
    stored = {
        each.name: each.captured
        for each in piece.inputs
        if _is_stored(each) and each.captured is not None
    }
    symbols = sorted({name for each in piece.inputs for name in each.symbols.values()})
    text = TEMPLATES.get_template("models/torch.py.j2").render(
        title=docstring_text(title),
        seen=docstring_text(tvm_version(environment)),
        operators=", ".join(piece.operators),
        inputs=[(each.name, _source(each)) for each in piece.inputs],
        names=", ".join(each.name for each in piece.inputs),
        calls=piece.calls,
        outputs=", ".join(piece.outputs),
        labels=repr(list(piece.outputs)),
        drawn=any(each.data is None for each in piece.inputs),
        stored=VALUES if stored else "",
        seed=SEED,
        symbols=symbols,
        dynamic=_dynamic(piece) if symbols else "",
        compares=fault.verdict in _COMPARED,
        message=docstring_text(fault.message)[:160],
        fused=fused,
        opt_level=opt_level,
        fixes=fixes,
        tolerance=f"{TOLERANCE:g}",
        python=any("operator." in line or "math." in line for line in piece.calls),
    )
    return text, stored


def _is_stored(each: TorchInput) -> bool:
    return each.captured is not None and each.captured.size > SMALL


def _source(each: TorchInput) -> str:
    """The array of an input as Python."""
    if each.captured is None:
        return f'rng.standard_normal({each.shape}).astype("{each.dtype}")'
    if _is_stored(each):
        return f'values["{each.name}"]'
    return f'np.array({_literal(each.captured)}, "{each.dtype}")'


def _literal(array: Array) -> str:
    if array.dtype.kind != "f":
        return repr(array.tolist())
    text = np.array2string(
        array, separator=", ", threshold=SMALL + 1, max_line_width=10**6, formatter={"all": str}
    ).replace("\n", "")
    return text.replace("nan", "np.nan").replace("inf", "np.inf")


def _dynamic(piece: TorchPiece) -> str:
    """The argument ``dynamic_shapes`` as Python."""
    rows = []
    for each in piece.inputs:
        axes = ", ".join(f"{axis}: {name}" for axis, name in each.symbols.items())
        rows.append(f'"{each.name}": {{{axes}}}')
    return f"{{{', '.join(rows)}}}"
