"""Scripts that show a failure of a KV cache with TVM and NumPy alone."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from relaxcheck.generators.core.case import CaseError, Invalid
from relaxcheck.generators.kvcache.case import KvCase
from relaxcheck.generators.kvcache.model import Cache, Refused
from relaxcheck.generators.kvcache.operations import (
    LAST,
    Add,
    Commit,
    Fork,
    Forward,
    Operation,
    Pop,
    Remove,
    Slide,
)
from relaxcheck.generators.kvcache.settings import CLASS, NONE
from relaxcheck.generators.kvcache.values import SIZES, drawn
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.oracles.kvcache.attention import Rows, attention
from relaxcheck.oracles.kvcache.rope import frequencies
from relaxcheck.reports.issue.template import TEMPLATES
from relaxcheck.reports.templating import docstring_text

_DIES = (Verdict.PROCESS_DEATH, Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY)


def script_text(case: KvCase, outcome: Outcome, title: str, environment: Mapping[str, str]) -> str:
    """The script ``repro.py``: exits with 1 while the failure is there, with 0 once it is gone.

    Raises:
        CaseError: the outcome says nothing about TVM, or the case runs with the fixes.
    """
    if not outcome.verdict.is_failure and not outcome.verdict.is_right:
        raise CaseError(f"case {case.identifier}: {outcome.verdict} is nothing to be shown")
    if case.fixes:
        raise CaseError(f"case {case.identifier} has the fixes on, which a script does not have")
    lines, refusal, tolerance = _written(case)
    version = environment.get("apache-tvm", "")
    word = "Seen" if outcome.verdict.is_failure else "Gone"
    rope = case.limits.rope
    return TEMPLATES.get_template("kvcache/repro.py.j2").render(
        title=docstring_text(title),
        dies=outcome.verdict in _DIES,
        seen=f"{word} with apache-tvm {docstring_text(version)}." if version else "",
        model=case.model,
        limits=case.limits,
        by_class=case.model.interface == CLASS,
        scaling=case.model.rope_scaling,
        frequencies=[] if rope == NONE else (frequencies(case.model) * case.model.scale).tolist(),
        trees=any(isinstance(each, Forward) and each.parents for each in case.operations),
        used={type(each).__name__.lower() for each in case.operations},
        seed=case.seed,
        size=SIZES[case.regime],
        tolerance=tolerance,
        lines=lines,
        refusal=refusal,
    )


def _written(case: KvCase) -> tuple[list[str], dict[str, Any] | None, float]:
    """The statements of the operations, that of one to refuse, and a tolerance for all."""
    cache, lines = Cache(case.model, case.limits), list[str]()
    keys, values = list[Any](), list[Any]()
    largest = 0.0
    for number, operation in enumerate(case.operations):
        try:
            parts = cache.apply(operation)
        except Refused as refused:
            assert isinstance(case.expect, Invalid)
            refusal = {
                "lines": list(_called(operation)),
                "words": [word for term in refused.terms for word in (term, term.capitalize())],
                "message": repr(f"operation {number} is accepted, though {refused}"),
            }
            return lines, refusal, _rounded(largest)
        if isinstance(operation, Forward):
            rows = drawn(case, number)
            keys.append(rows.keys)
            values.append(rows.values)
            start = 0
            for part in parts:
                stop = start + len(part.queries)
                serials = [token.serial for token in part.keys]
                for layer in range(case.model.layers):
                    given = Rows(
                        rows.queries[layer, start:stop],
                        np.concatenate(keys, axis=1)[layer, serials],
                        np.concatenate(values, axis=1)[layer, serials],
                    )
                    bound = attention(case, part, given).bound
                    largest = max(largest, float(bound.max(initial=0.0)))
                start = stop
        lines.extend(_statements(number, operation, cache))
    return lines, None, _rounded(largest)


def _rounded(bound: float) -> float:
    """``bound`` with two digits, rounded up."""
    if not 0 < bound < math.inf:
        return 1e-3
    step = 10.0 ** (math.floor(math.log10(bound)) - 1)
    return float(f"{math.ceil(bound / step) * step:.1e}")


def _called(operation: Operation) -> Iterator[str]:
    """The call of the runtime alone."""
    match operation:
        case Add(sequence):
            yield f'call("kv_state_add_sequence", {sequence})'
        case Remove(sequence):
            yield f'call("kv_state_remove_sequence", {sequence})'
        case Fork(parent, child, position):
            yield f'call("kv_state_fork_sequence", {parent}, {child}, {position})'
        case Pop(sequence, count):
            yield f'call("kv_state_popn", {sequence}, {count})'
        case Slide(sequence, window, sink):
            name = "attention_kv_cache_enable_sliding_window_for_seq"
            yield f'call("{name}", {sequence}, {window}, {sink})'
        case Commit(sequences, leaves):
            name = "attention_kv_cache_commit_accepted_token_tree_nodes"
            yield f'call("{name}", {_shape(sequences)}, {_shape(leaves)})'
        case Forward(sequences, lengths, parents):
            flat = [parent for each in parents or () for parent in each]
            tree = "" if parents is None else f", {_shape(tuple(flat))}"
            yield f'call("kv_state_begin_forward", {_shape(sequences)}, {_shape(lengths)}{tree})'


def _shape(numbers: tuple[int, ...]) -> str:
    return f"tvm_ffi.Shape([{', '.join(map(str, numbers))}])"


def _statements(number: int, operation: Operation, cache: Cache) -> Iterator[str]:
    """``operation`` on TVM's cache and on the script's model, and the comparison after it."""
    yield f"# operation {number}"
    if isinstance(operation, Forward):
        lengths = dict(zip(operation.sequences, operation.lengths, strict=True))
        if operation.parents is None:
            yield f"forward({number}, {lengths})"
        else:
            trees = {
                sequence: list(parents)
                for sequence, parents in zip(operation.sequences, operation.parents, strict=True)
            }
            yield f"forward({number}, {lengths}, {trees})"
        yield f"check({number})"
        return
    yield from _called(operation)
    match operation:
        case Add(sequence):
            yield f"tokens[{sequence}] = []"
        case Remove(sequence):
            yield f"del tokens[{sequence}]"
        case Fork(parent, child, position):
            upto = "" if position == LAST else str(position)
            yield f"tokens[{child}] = tokens[{parent}][:{upto}]"
        case Pop(sequence, count):
            yield f"tokens[{sequence}] = tokens[{sequence}][: len(tokens[{sequence}]) - {count}]"
        case Slide(sequence, window, _):
            yield f"windows[{sequence}] = ({window}, {cache.sequences[sequence].pinned})"
        case Commit(sequences, _):
            for sequence in sequences:
                rows = [
                    (token.serial, token.position) for token in cache.sequences[sequence].tokens
                ]
                yield f"tokens[{sequence}] = {rows}"
                yield f"del trees[{sequence}]"
    yield f"check({number})"
