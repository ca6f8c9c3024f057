"""Counts of sequences of numbers."""

from relaxcheck.generators.core.axes import Axis
from relaxcheck.generators.core.fills.kinds import Below
from relaxcheck.generators.onnx.choices import decimals
from relaxcheck.generators.onnx.hint import Hint
from relaxcheck.generators.onnx.sketch import Sketch

_SINGLES = (2, 3, 5, 4)
_PAIRS = (5, 6, 7, 8, 6, 7)
_COUNT = len(_SINGLES) + len(_PAIRS) // 2


def _vectorize(sketch: Sketch) -> None:
    data = sketch.data("x", sketch.shape(), fill=Below(9))
    least, most, skips = (int(each) for each in sketch.text("lengths").split(","))
    weights = None
    if sketch.has("weights"):
        weights = tuple(decimals("2, 0.5, -1, 1.5, 3, 0.25, 4"))
    sketch.node(
        data,
        mode=sketch.text("mode"),
        min_gram_length=least,
        max_gram_length=most,
        max_skip_count=skips,
        ngram_counts=(0, len(_SINGLES)),
        # Counts do not stand in the order of the pool.
        ngram_indexes=tuple(reversed(range(_COUNT))),
        pool_int64s=(*_SINGLES, *_PAIRS),
        weights=weights,
    )


HINTS = (
    Hint(
        "TfIdfVectorizer",
        _vectorize,
        (
            Axis("mode", ("TF", "IDF", "TFIDF"), "TF"),
            Axis("lengths", ("1, 2, 0", "2, 2, 0", "1, 1, 0", "2, 2, 3", "1, 2, 1"), "1, 2, 0"),
            Axis("weights", (False, True), False),
        ),
        ranks=(2, 1),
        held=(),
        regimes=("normal",),
    ),
)
