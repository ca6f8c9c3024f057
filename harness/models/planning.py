"""The runs of a check: at which sizes, on which inputs, and what the framework computes there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.models.frameworks.inputs import Ranges, bindings, drawn, ranges, shape
from relaxcheck.harness.models.job import Job
from relaxcheck.harness.models.sources import ModelError, Source, line_of, user_inputs
from relaxcheck.harness.models.values import Values


@dataclass(frozen=True, slots=True)
class Planned:
    """The inputs of a run of the model, the sizes and a description of them, and the outputs."""

    binding: Mapping[str, int]
    label: str
    arrays: Sequence[Array]
    values: Values


def planned(model: Source, job: Job) -> tuple[list[Planned], tuple[str, ...]]:
    """The runs of ``model``, with the framework's results; and why some sizes are left out.

    Raises:
        ModelError: the framework cannot run the model at all.
    """
    try:
        every = bindings(model.symbols, job.sizes)
    except ValueError as error:
        raise ModelError(f"--dim: {error}") from error
    plan: list[tuple[Mapping[str, int], str, list[Array]]] = []
    if job.data:
        arrays = user_inputs(Path(job.data), model)
        plan.append(({}, f"inputs of {job.data}", arrays))
    own, *others = every
    examples = [each.example for each in model.inputs]
    if examples and all(
        example is not None and example.shape == shape(each.dims, own)
        for each, example in zip(model.inputs, examples, strict=True)
    ):
        plan.append((own, "the example inputs", [e for e in examples if e is not None]))
    limits = _ranges(model, own)
    for number in range(job.draws):
        seed = job.seed + number
        plan.append((own, f"drawn, seed {seed}", drawn(model.inputs, own, seed, limits)))
    for other in others:
        drawn_there = drawn(model.inputs, other, job.seed, limits)
        plan.append((other, f"drawn, seed {job.seed}", drawn_there))
    runs, skipped = [], []
    for number, (binding, label, arrays) in enumerate(plan):
        try:
            values = model.outputs(arrays)
        except Exception as error:
            at = ", ".join(f"{name} = {n}" for name, n in _shown(model, binding).items())
            text = f"{model.framework} fails{f' at {at}' if at else ''}: {line_of(error)}"
            # The sizes are a guess of ours, where the user named none.
            if number == 0 or binding == own or job.sizes:
                raise ModelError(f"{job.model}: {text}") from error
            skipped.append(text)
            continue
        runs.append(Planned(_shown(model, binding), label, arrays, values))
    return runs, tuple(skipped)


def _shown(model: Source, binding: Mapping[str, int]) -> dict[str, int]:
    """``binding`` by the names that a user knows."""
    names = {symbol.name: symbol.shown for symbol in model.symbols}
    return {names[name]: size for name, size in binding.items()}


def _ranges(model: Source, binding: Mapping[str, int]) -> Ranges:
    open_ = [each for each in model.inputs if each.example is None and each.dtype.kind in "iu"]
    if not open_:
        return Ranges({})

    def runs(arrays: list[Array]) -> bool:
        try:
            model.outputs(arrays)
        except Exception:  # The framework says no in any way; that is the answer.
            return False
        return True

    return ranges(model.inputs, binding, runs)
