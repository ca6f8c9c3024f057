"""Case files that somebody wrote, or spoilt: a case, or one line that says what is wrong."""

import json
import random
from functools import cache
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import settle
from relaxcheck.generators.core.case import AnyCase, CaseError, encode
from relaxcheck.generators.core.faults import broken, pin
from relaxcheck.generators.families import families
from relaxcheck.harness import kinds
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.known.corpus import Record, entries
from relaxcheck.harness.known.links import check_link

EXAMPLES = 300
MANY = 100_000


@cache
def seeds() -> tuple[Any, ...]:
    """JSON of cases of every form: a small one of each operator of the corpus, and batches."""
    smallest: dict[tuple[Any, ...], bytes] = {}
    for entry in entries():
        text = encode(entry.case)
        key = (entry.case.kind, type(entry.case.expect), kinds.operators(entry.case))
        smallest[key] = min(smallest.get(key, text), text, key=len)
    batch = next(each for each in kinds.families() if each.name == "algebra")
    point = {axis.name: axis.default for axis in batch.axes}
    texts = [*smallest.values(), encode(batch.build(point, 7))]
    return tuple(json.loads(text) for text in texts)


WORDS = (
    *("", "x", "m", "m +", "1//0", "2*m", "m//(m - m)", "9" * 30, "a\nb", "\x1b[31m", "../../x"),
    *("class", "__class__", "nn.relu.__globals__", "add", "item", "x" * 600, "\ud800", "\uff4d"),
    *("valid", "invalid", "mismatch", "shape", "type", "float32", "int8", "build", "literal"),
)
NUMBERS = (-1, 0, 1, 2, 3, 64, 2**28, 2**31, 2**63, 2**64, 10**30, 0.5, 1e300, True, None)


def spoilt(source: random.Random) -> Any:
    """A case with up to three parts replaced, repeated, left out or called otherwise."""
    value = source.choice(seeds())
    for _ in range(source.randint(1, 3)):
        value = _changed(source, value)
    return value


def _changed(source: random.Random, value: Any) -> Any:
    if not isinstance(value, dict | list) or not value or not source.randrange(6):
        return _replacement(source, value)
    copy = dict(value) if isinstance(value, dict) else list(value)
    key = source.choice(list(value)) if isinstance(value, dict) else source.randrange(len(value))
    match source.choice(["within"] * 8 + ["drop", "again", "rename"]):
        case "drop":
            del copy[key]
        case "again" if isinstance(copy, list):
            copy.insert(key, copy[key])
        case "rename" if isinstance(copy, dict):
            copy[source.choice(WORDS)] = copy.pop(key)
        case _:
            copy[key] = _changed(source, copy[key])
    return copy


def _replacement(source: random.Random, value: Any) -> Any:
    match source.randrange(6):
        case 0:
            return source.choice(WORDS)
        case 1:
            return source.choice(NUMBERS)
        case 2:
            return [value] * source.choice((0, 1, 2, 80))
        case 3:
            return {str(source.choice(WORDS)): value}
        case 4 if isinstance(value, int):
            return value + source.choice((-1, 1))
    # A part of the same place, or of any other, in another case.
    part: Any = source.choice(seeds())
    for _ in range(source.randint(1, 6)):
        if isinstance(part, dict | list) and part:
            part = source.choice(list(part.values()) if isinstance(part, dict) else part)
    return part


JSON = st.recursive(
    st.one_of(
        *(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
        *(st.sampled_from(WORDS), st.sampled_from(NUMBERS)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=9), inner, max_size=4)
    ),
    max_leaves=8,
)


def text_of(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


def holds(text: bytes) -> AnyCase | None:
    """Decode ``text``: the case, or None where it is refused in one line."""
    try:
        case = kinds.decode(text, "case.json")
    except CaseError as error:
        message = str(error)
        assert message.startswith("case.json: ")
        assert "\n" not in message
        assert message.isprintable()
        assert len(message) < 2000
        return None
    assert kinds.decode(encode(case)) == case
    assert "/" not in case.family
    assert isinstance(kinds.operators(case), tuple)
    assert kinds.way(case)
    return case


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.one_of(JSON.map(text_of), st.binary(max_size=60)))
@example(b"[" * 100_000)
@example(b'{"format": 1, "program": ' + b'{"functions": {"f": ' * 9000)
def test_any_json_is_refused_in_one_line(text: bytes) -> None:
    assert holds(text) is None


# Hypothesis makes the choices one by one, so that it can simplify what fails.
@settings(max_examples=EXAMPLES, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_spoilt_case_is_a_case_or_one_line(source: random.Random) -> None:
    holds(text_of(spoilt(source)))


def check_spoilt(seed: int) -> None:
    """Check the spoilt case of ``seed``; a failure says how to have it again."""
    text = text_of(spoilt(random.Random(seed)))
    try:
        holds(text)
    except Exception as error:
        error.add_note(f"To run it again: check_spoilt({seed}), which decodes {text!r}")
        raise


@pytest.mark.slow
def test_none_of_a_hundred_thousand_spoilt_cases_raises() -> None:
    first = random.SystemRandom().randrange(2**48)
    for seed in range(first, first + MANY):
        check_spoilt(seed)


def test_a_case_that_raises_names_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    check_spoilt(7)
    monkeypatch.setattr(kinds, "decode", lambda *_: 1 // 0)
    notes = []
    for _ in range(2):
        with pytest.raises(ZeroDivisionError) as failure:
            check_spoilt(7)
        notes += failure.value.__notes__
    assert notes[0] == notes[1]
    assert notes[0].startswith("To run it again: check_spoilt(7), which decodes b'")


def test_every_invalid_program_that_is_drawn_is_a_case() -> None:
    count = 0
    for family in families(tuple(PIPELINES)):
        for fault in family.faults:
            axes = pin(family.axes, fault.pinned)
            point = settle(axes, {axis.name: axis.default for axis in axes}, ())
            assert point is not None
            case = broken(family, fault, point, 0)
            assert kinds.decode(encode(case)) == case
            count += 1
    assert count > 200


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "//x", "x", ""])
def test_an_issue_is_an_address_of_the_web(address: str) -> None:
    with pytest.raises(ValueError, match="is no address"):
        check_link(address)
    with pytest.raises(msgspec.ValidationError, match="is no address"):
        msgspec.json.decode(
            msgspec.json.encode({"title": "x", "issue": address, "verdicts": {}}), type=Record
        )
    check_link("https://github.com/apache/tvm/issues/19694")
