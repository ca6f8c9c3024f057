"""The entries of PyTorch's own tests, each with its samples, or the reason why it has none."""

import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import torch
from msgspec.structs import replace

from relaxcheck.generators.torch.case import Exporting
from relaxcheck.generators.torch.program import DTYPES, Program
from relaxcheck.generators.torch.samples import varying
from relaxcheck.generators.torch.samples.record import Entry, Out, Sample
from tests.measure.torch_samples.checking import checked, with_named, with_sizes
from tests.measure.torch_samples.choosing import affordable, chosen, is_small, labels
from tests.measure.torch_samples.filling import DEGREES, drawn_integers_of, filled
from tests.measure.torch_samples.more import more
from tests.measure.torch_samples.naming import Unnamed, path_of
from tests.measure.torch_samples.running import alike, is_random, refusal_of_export, runs
from tests.measure.torch_samples.tracing import direct, layered, traced
from tests.measure.torch_samples.writing import Unwritable, tensors_of

USUAL = ("float32", "int64", "bool", "float64", "float16", "bfloat16")
"""The dtypes that samples are written in, the first that an entry has."""

MOST_READ = 160
"""Samples of an entry that are looked at."""

EXPORTED = 3
"""Samples of an entry that are exported, until one is."""

NAMED = 4
"""Samples of an entry that are exported with names of dimensions."""

Made = tuple[Entry, list[Sample]] | Out

UNINITIALISED = ("empty", "new_empty", "resize_")
"""The beginnings of names of functions whose results are whatever lay in memory."""


def operator(info: Any, name: str) -> Made:
    """The entry called ``name`` of the operator ``info``, an ``OpInfo``."""
    if name.startswith(UNINITIALISED):
        return Out(name, "its result is not initialised")
    dtypes = _dtypes(info.dtypes)
    if not dtypes:
        only_complex = info.dtypes and all(dtype.is_complex for dtype in info.dtypes)
        why = "takes complex numbers alone" if only_complex else "has no dtype of a case's on CPU"
        return Out(name, f"it {why}")
    if name.startswith(DEGREES):
        # A degree below 0 would be an enormous one.
        dtypes = tuple(dtype for dtype in dtypes if not dtype.startswith("uint"))
    domain = getattr(info, "domain", (None, None)) or (None, None)
    reasons: Counter[str] = Counter()
    programs: list[Program] = []
    added = more(name)
    calls = (((each.input, *each.args), each.kwargs) for each in _samples(info, dtypes[0], reasons))
    for args, keywords in chain(added, calls):
        try:
            program = _call(info.op, args, keywords)
        except (Unwritable, Unnamed) as error:
            reasons[str(error)] += 1
            continue
        except Exception as error:
            reasons[f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"] += 1
            continue
        programs.append(program)

    def fill(program: Program) -> Program:
        return filled(drawn_integers_of(program, dtypes[0]), name, domain)

    picked = chosen(programs, len(added))
    return _made(name, dtypes, picked, fill, reasons, _inplace(info), typed=False)


def _samples(info: Any, dtype: str, reasons: Counter[str]) -> Iterator[Any]:
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = info.sample_inputs("cpu", getattr(torch, dtype), requires_grad=False)
            yield from islice(made, MOST_READ)
    except Exception as error:
        reasons[f"its samples: {type(error).__name__}"] += 1


def _call(function: Callable[..., Any], args: Sequence[Any], keywords: dict[str, Any]) -> Program:
    """The call of ``function``, whose program gives what it gives."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        result = function(*args, **keywords)
        leaves = [_real(each) for each in tensors_of(result)]
        torch.manual_seed(1)
        if not alike(leaves, [_real(each) for each in tensors_of(function(*args, **keywords))]):
            raise Unwritable("its result is random")
        try:
            path = path_of(function)
        except Unnamed:
            program = traced(function, args, keywords)
        else:
            program = direct(path, args, keywords, result)
        again = runs(program)
        if again is None:
            raise Unwritable("its program does not run")
        # Values of a program are rounded to 1/256.
        shapes = [(result.shape, result.dtype) for result in again]
        if shapes[: len(leaves)] != [(leaf.shape, leaf.dtype) for leaf in leaves]:
            raise Unwritable("its program gives something else")
        return program


def _real(tensor: torch.Tensor) -> torch.Tensor:
    """``tensor``, its numbers as pairs if they are complex."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _inplace(info: Any) -> str:
    try:
        path = path_of(info.inplace_variant) if info.inplace_variant else ""
    except Unnamed:
        return ""
    return path if path.startswith("torch.Tensor.") else ""


def _dtypes(dtypes: Any) -> tuple[str, ...]:
    own = {str(dtype).removeprefix("torch.") for dtype in dtypes}
    known = [dtype for dtype in DTYPES if dtype in own]
    first = next((dtype for dtype in USUAL if dtype in known), None)
    return (first, *(dtype for dtype in known if dtype != first)) if first else ()


def _made(
    name: str,
    dtypes: tuple[str, ...],
    programs: list[Program],
    fill: Callable[[Program], Program],
    reasons: Counter[str],
    inplace: str,
    typed: bool,
) -> Made:
    picked = [fill(program) for program in programs]
    found: list[Sample] = []
    for label, program in zip(labels(picked), picked, strict=True):
        if runs(program) is None:
            reasons["eager PyTorch refuses its programs"] += 1
        elif is_random(program):
            reasons["its result is random"] += 1
        elif not is_small(program):
            reasons["its samples have too many values that are not drawn"] += 1
        elif sample := checked(name, label, program, dtypes, inplace, typed):
            found.append(sample)
        else:
            reasons["its results change from run to run, or raise with other values"] += 1
    kept = list(found)
    for sample in found[:EXPORTED]:
        refusal = refusal_of_export(sample.program, Exporting(decomposed=False))
        if not refusal:
            break
        reasons[f"torch.export: {refusal}"] += 1
        kept.remove(sample)
    else:
        if found:
            kept = []
    if not kept:
        return Out(name, _reason(reasons))
    kept = affordable(kept)
    kept[:NAMED] = map(with_named, kept[:NAMED])
    kept = list(map(with_sizes, kept))
    own = tuple(d for d in dtypes if any(d not in s.refused for s in kept))
    return (
        Entry(
            name,
            shard_of(name, layer=bool(kept[0].program.layers)),
            own,
            inplace,
            _inplace_dtypes(kept, own, inplace),
        ),
        [_within(sample, own) for sample in kept],
    )


def _within(sample: Sample, dtypes: tuple[str, ...]) -> Sample:
    return replace(sample, refused=tuple(d for d in sample.refused if d in dtypes))


def _inplace_dtypes(
    samples: Sequence[Sample], dtypes: tuple[str, ...], inplace: str
) -> tuple[str, ...]:
    """The dtypes in which each sample that has a form in place has it."""
    able = [sample for sample in samples if sample.inplace]
    if not able:
        return ()
    return tuple(
        dtype
        for dtype in dtypes
        if all(
            dtype in sample.refused
            or runs(varying.in_place(varying.in_dtype(sample, dtypes[0], dtype), inplace))
            is not None
            for sample in able
        )
    )


def _reason(reasons: Counter[str]) -> str:
    return reasons.most_common(1)[0][0] if reasons else "it has no sample"


def shard_of(name: str, *, layer: bool) -> str:
    """The name of the file of the samples of the entry ``name``, which is that of a ``layer``."""
    for space, shard in (
        ("nn.functional.", "functional"),
        ("linalg.", "linalg"),
        ("special.", "special"),
        ("masked.", "masked"),
        ("fft.", "fft"),
        ("_refs", "refs"),
    ):
        if name.startswith(space):
            rest = name.removeprefix(space)[:1]
            return f"{shard}-{'a-m' if rest <= 'm' else 'n-z'}" if shard == "functional" else shard
    if layer:
        return f"layers-{'a-l' if name[:1] <= 'L' else 'm-z'}"
    first = name.lstrip("_")[:1].lower()
    return f"torch-{first}"


def module(info: Any, name: str) -> Made:
    """The entry called ``name`` of the layer ``info``, a ``ModuleInfo``."""
    kind = info.module_cls
    if name.startswith("Lazy"):
        return Out(name, "it has no weights before its first call")
    dtypes = _dtypes(info.dtypes)
    reasons: Counter[str] = Counter()
    programs: list[Program] = []
    torch.manual_seed(0)
    try:
        made = info.module_inputs_func(
            info, device="cpu", dtype=getattr(torch, dtypes[0]), requires_grad=False, training=False
        )
    except Exception as error:
        return Out(name, f"its samples: {type(error).__name__}")
    for sample in made[:MOST_READ]:
        created, called = sample.constructor_input, sample.forward_input
        try:
            if called is None:
                raise Unwritable("it is not called")
            layer = kind(*created.args, **created.kwargs).eval()
            with torch.no_grad():
                result = layer(*called.args, **called.kwargs)
            programs.append(
                layered(
                    f"torch.nn.{kind.__name__}",
                    (created.args, created.kwargs),
                    called.args,
                    called.kwargs,
                    result,
                )
            )
        except Exception as error:
            reasons[f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:80]}"] += 1
    typed = "dtype" in inspect.signature(kind.__init__).parameters
    return _made(
        name,
        dtypes,
        chosen(programs, 0),
        lambda program: filled(program, name, (None, None)),
        reasons,
        "",
        typed,
    )
