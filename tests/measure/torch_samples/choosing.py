"""Choice of samples that differ as much as possible, and their labels."""

from collections.abc import Iterator, Sequence

import msgspec

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.torch.program import (
    Argument,
    Complex,
    Dots,
    Layer,
    Many,
    Named,
    Node,
    Program,
    Real,
    Ref,
    Span,
)
from relaxcheck.generators.torch.samples.record import Sample
from tests.measure.torch_samples.compacting import compact

MOST = 20
"""Samples of an entry at most."""

MOST_BYTES, FEWEST = 5000, 5
"""Bytes of the programs of an entry at most, where they are more than a few."""

MOST_WRITTEN = 300
"""Values that are written out, of all tensors of a sample, at most."""

LONGEST = 48
"""Characters of a label at most."""


def structure(program: Program) -> str:
    """All of ``program`` but its values, as text."""
    tensors = [(t.name, t.shape, t.dtype) for t in program.tensors]
    return repr((tensors, program.nodes, program.layers))


def features(program: Program) -> frozenset[str]:
    """The facts that can differ between two samples of one entry, as texts."""
    found: set[str] = set()
    for at, tensor in enumerate(program.tensors):
        found |= {f"rank {at} {len(tensor.shape)}", f"dtype {at} {tensor.dtype}"}
        found |= {f"shape {at} {tensor.shape}", f"ones {at} {1 in tensor.shape}"}
        found |= {f"empty {at} {0 in tensor.shape}"}
    found.add(f"tensors {len(program.tensors)}")
    found.add(f"nodes {[node.target for node in program.nodes]}")
    for node in program.nodes:
        settings = [*enumerate(node.args), *node.keywords.items()]
        found |= {f"{node.target} {key} {value!r}" for key, value in settings}
        found |= {f"{node.target} {key} {type(value).__name__}" for key, value in settings}
        found.add(f"{node.target} together {settings!r}")
    for layer in program.layers.values():
        made = [*enumerate(layer.args), *layer.keywords.items()]
        found |= {f"layer {key} {value!r}" for key, value in made}
    return frozenset(found)


def simplicity(program: Program) -> tuple[object, ...]:
    """The order of samples: full tensors of ranks about 2, few settings, few elements first."""
    sizes = [size for tensor in program.tensors for size in tensor.shape]
    settings = sum(len(node.keywords) + len(node.args) for node in program.nodes)
    made = sum(len(layer.args) + len(layer.keywords) for layer in program.layers.values())
    odd = sum(
        not tensor.shape or 0 in tensor.shape or 1 in tensor.shape for tensor in program.tensors
    )
    ranks = sum(abs(len(tensor.shape) - 2) for tensor in program.tensors)
    literal = sum(isinstance(tensor.fill, Literal) for tensor in program.tensors)
    return odd, len(program.nodes), settings + made, literal, ranks, sum(map(int, sizes))


def chosen(programs: Sequence[Program], kept: int) -> list[Program]:
    """The first ``kept`` of ``programs``, and of the others those that add most to the simplest.

    They are ``MOST`` together at most, the simplest first.
    """
    distinct = {structure(program): program for program in reversed(programs)}
    rest = sorted(distinct.values(), key=simplicity)
    own = {id(program): features(program) for program in rest}
    wanted = [structure(program) for program in programs[:kept]]
    picked = [distinct[each] for each in dict.fromkeys(wanted)] or rest[:1]
    rest = [each for each in rest if not any(each is other for other in picked)]
    seen = {feature for each in picked for feature in own[id(each)]}
    while rest and len(picked) < MOST:
        best = max(rest, key=lambda each: len(own[id(each)] - seen))
        rest = [each for each in rest if each is not best]
        seen |= own[id(best)]
        picked.append(best)
    return sorted(picked, key=simplicity)


def affordable(samples: Sequence[Sample]) -> list[Sample]:
    """Those of ``samples`` that add most to the first, of ``MOST_BYTES`` together, in order."""
    own = {sample.label: features(sample.program) for sample in samples}
    picked, rest = list(samples[:1]), list(samples[1:])
    while rest:
        seen = {feature for each in picked for feature in own[each.label]}
        best = max(rest, key=lambda each: len(own[each.label] - seen))
        rest.remove(best)
        size = sum(len(msgspec.json.encode(compact(each.program))) for each in (*picked, best))
        if len(picked) >= FEWEST and size > MOST_BYTES:
            break
        picked.append(best)
    return [sample for sample in samples if sample in picked]


def labels(programs: Sequence[Program]) -> list[str]:
    """A label for each of ``programs``, no two the same: shapes, and the settings that differ."""
    settings = [dict(_settings(program)) for program in programs]
    keys = dict.fromkeys(key for own in settings for key in own)
    differ = [key for key in keys if len({own.get(key) for own in settings}) > 1]
    found: list[str] = []
    for program, own in zip(programs, settings, strict=True):
        shapes = ",".join("x".join(map(str, t.shape)) or "()" for t in program.tensors)
        words = [own[key] for key in differ if key in own]
        label = _short(" ".join([shapes, *words]))
        count = sum(each == label or each.startswith(f"{label} #") for each in found)
        found.append(f"{label} #{count + 1}" if count else label)
    return found


def _short(label: str) -> str:
    return label if len(label) <= LONGEST else label[: LONGEST - 1].rstrip() + "…"


def _settings(program: Program) -> Iterator[tuple[str, str]]:
    """The arguments of ``program`` that are no tensors, as texts, by where they stand."""
    layers = [Node("", layer.args, layer.keywords) for layer in program.layers.values()]
    for at, node in enumerate((*layers, *program.nodes)):
        for place, argument in enumerate(node.args):
            if not _is_value(argument):
                yield f"{at} {place}", _text(argument)
        for key, argument in node.keywords.items():
            if not _is_value(argument):
                yield f"{at} {key}", f"{key}={_text(argument)}"


def _is_value(argument: Argument) -> bool:
    return isinstance(argument, Ref) or (
        isinstance(argument, Many) and all(map(_is_value, argument.items))
    )


def _text(argument: Argument) -> str:
    match argument:
        case Ref(name=name) | Named(name=name):
            return name
        case Real(text=text):
            return text
        case Complex():
            return str(complex(argument.real, argument.imaginary))
        case Span(start=start, stop=stop, step=step):
            ends = ["" if each is None else str(each) for each in (start, stop, step)]
            return ":".join(ends if step is not None else ends[:2])
        case Dots():
            return "..."
        case Many(items=items) | tuple(items):
            return f"[{','.join(map(_text, items))}]"
        case Layer(kind=kind):
            return kind.rpartition(".")[2]
    return str(argument)


def is_small(program: Program) -> bool:
    """True if ``program`` has few values that are written out."""
    fills = [tensor.fill for tensor in program.tensors]
    return sum(len(fill.values) for fill in fills if isinstance(fill, Literal)) <= MOST_WRITTEN
