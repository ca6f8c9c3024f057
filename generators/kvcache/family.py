"""The family of KV caches: a model, a RoPE mode, windows; the seed draws the operations."""

from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, Point, Structured
from relaxcheck.generators.core.case import AnyCase, Value
from relaxcheck.generators.core.points import Given
from relaxcheck.generators.kvcache.case import FAMILY, ORDINARY, REGIMES, KvCase
from relaxcheck.generators.kvcache.drawing import Chooser, Seeded, operations
from relaxcheck.generators.kvcache.settings import INLINE, MODELS, NONE, NORMAL, ROPES, Limits

MODEL, ROPE, WINDOWS, TREES, LENGTH, ROOM, REGIME, LAST = (
    *("model", "rope", "windows", "trees", "operations", "room", "values", "last"),
)

INVALID, VALID = "invalid", "valid"
TIGHT, AMPLE = "tight", "ample"


def _rotates(model: object, rope: object) -> bool:
    # Of a model with RoPE scaling, most that is of interest needs RoPE.
    return not MODELS[str(model)].scaling or rope != NONE


_AXES = (
    Axis(MODEL, tuple(MODELS), "plain"),
    Axis(ROPE, ROPES, NONE, Given((MODEL,), _rotates)),
    # TVM's own tests exclude windows with RoPE at the time of caching: positions would repeat.
    Axis(
        WINDOWS,
        (False, True),
        False,
        Given((ROPE,), lambda rope, windows: not windows or rope != NORMAL),
        default_weight=2,
    ),
    Axis(
        TREES,
        (False, True),
        False,
        Given(
            (ROPE, WINDOWS),
            lambda rope, windows, trees: not trees or not (windows or rope == INLINE),
        ),
    ),
    Axis(LENGTH, (4, 8, 16, 28), 8, steered=False, weights={16: 2}),
    Axis(ROOM, (AMPLE, TIGHT), AMPLE, default_weight=2),
    Axis(REGIME, REGIMES, ORDINARY, default_weight=3),
    Axis(LAST, (VALID, INVALID), VALID, default_weight=7, steered=False),
)


class KvCaches(Structured):
    """The family. The seed of a case decides its operations, and the values of tokens."""

    __slots__ = ()

    name = FAMILY

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes: what the cache is for, and which operations are drawn."""
        return _AXES

    def build(self, point: Point, seed: int) -> KvCase:
        """The case at ``point`` whose operations ``seed`` draws."""
        return case_at(point, seed, Seeded(seed))

    @property
    def invalid(self) -> "tuple[st.SearchStrategy[AnyCase], ...]":
        """None: the axis ``last`` draws operations that a cache has to refuse."""
        return ()


def case_at(point: Point, seed: int, choices: Chooser) -> KvCase:
    """The case at ``point``, its operations drawn by ``choices``, its values by ``seed``."""
    model = MODELS[str(point[MODEL])]
    tight = point[ROOM] == TIGHT
    limits = Limits(
        rope=str(point[ROPE]),
        windows=bool(point[WINDOWS]),
        sequences=4 if tight else 8,
        capacity=(8 if tight else 40) * max(model.page, 8),
        chunk=256,
    )
    drawn = operations(
        choices,
        model,
        limits,
        int(point[LENGTH] or 1),
        trees=bool(point[TREES]),
        invalid=point[LAST] == INVALID,
    )
    at: dict[str, Value] = dict(point)
    return KvCase(
        operations=drawn, model=model, limits=limits, at=at, seed=seed, regime=str(point[REGIME])
    )


def family() -> KvCaches:
    """The family."""
    return KvCaches()
