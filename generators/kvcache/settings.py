"""Settings of a paged KV cache: the model that it serves, and its limits."""

import math
from collections.abc import Sequence
from types import MappingProxyType

from relaxcheck.generators.core.case import Data

NONE, NORMAL, INLINE = "none", "normal", "inline"
ROPES = (NONE, NORMAL, INLINE)
"""Rotary embedding: none; applied before keys are cached; or in the attention kernels."""

KERNELS, CLASS = "kernels", "class"
INTERFACES = (KERNELS, CLASS)
"""The kernels passed to the runtime one by one, as TVM's tests do, or ``TIRPagedKVCache``."""

DTYPES = ("float32", "float16")

FUSED_PAGE = 16
"""The page size that ``TIRPagedKVCache`` and the kernel of paged tree attention are written for."""

SCALINGS: MappingProxyType[str, MappingProxyType[str, str | float | int]] = MappingProxyType(
    {
        "": MappingProxyType({}),
        "llama3": MappingProxyType(
            {
                "rope_type": "llama3",
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            }
        ),
        "gptj": MappingProxyType({"rope_type": "gptj"}),
        "yarn": MappingProxyType(
            {
                "rope_type": "yarn",
                "factor": 4.0,
                "beta_fast": 32,
                "beta_slow": 1,
                "original_max_position_embeddings": 64,
            }
        ),
    }
)
"""RoPE scaling, by name, as TVM takes it. Contexts are short, so that positions reach the end."""


MOST = 65_536
"""The largest size: what is beyond fits no memory here, which is no fault of TVM."""

_LARGEST = 1e9
"""The largest base of RoPE and factor of positions: both are float32 in the kernels."""


class Model(Data, frozen=True, omit_defaults=True):
    """A model that kernels are compiled for: its heads, sizes, dtype and RoPE.

    ``page`` is the number of tokens in a page, ``scaling`` a name in ``SCALINGS``, ``theta`` the
    base of RoPE and ``scale`` what positions are multiplied by. ``interface``: of ``INTERFACES``.
    """

    heads: int = 1
    kv_heads: int = 1
    head_dim: int = 4
    page: int = FUSED_PAGE
    layers: int = 1
    dtype: str = "float32"
    scaling: str = ""
    theta: float = 10000.0
    scale: float = 1.0
    interface: str = KERNELS

    def __post_init__(self) -> None:
        _check_sizes((self.heads, self.kv_heads, self.head_dim, self.page, self.layers), "model")
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.kv_heads} key heads do not divide {self.heads} query heads")
        if self.head_dim % 2:
            raise ValueError(f"a head dimension of {self.head_dim}, which is odd")
        for name, known in (
            ("dtype", DTYPES),
            ("scaling", tuple(SCALINGS)),
            ("interface", INTERFACES),
        ):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} {getattr(self, name)!r} is unknown: {', '.join(known)}")
        for name, least in (("theta", 1.0), ("scale", 0.0)):
            if not least < getattr(self, name) <= _LARGEST:
                raise ValueError(f"{name} is not above {least:g} and at most {_LARGEST:g}")

    @property
    def rope_scaling(self) -> dict[str, str | float | int]:
        """The RoPE scaling as TVM's kernels take it; ``TIRPagedKVCache`` completes it by itself."""
        chosen = dict(SCALINGS[self.scaling])
        if chosen.get("rope_type") == "yarn" and self.interface != CLASS:
            chosen["inv_theta_log_scale"] = 1 / (2 * math.log(self.theta))
        return chosen

    @property
    def group(self) -> int:
        """The query heads that share a key head."""
        return self.heads // self.kv_heads


def _check_sizes(sizes: Sequence[int], of: str) -> None:
    if not 1 <= min(sizes) <= max(sizes) <= MOST:
        raise ValueError(f"a size of the {of} is not from 1 to {MOST}")


class Limits(Data, frozen=True, omit_defaults=True):
    """The limits of a cache: RoPE mode, sliding windows or not, and its capacity.

    ``sequences`` is the largest batch, ``capacity`` the tokens in all, ``chunk`` the tokens of one
    forward pass.
    """

    rope: str = NONE
    windows: bool = False
    sequences: int = 8
    capacity: int = 512
    chunk: int = 128

    def __post_init__(self) -> None:
        if self.rope not in ROPES:
            raise ValueError(f"rope {self.rope!r} is unknown: {', '.join(ROPES)}")
        if self.windows and self.rope == NORMAL:
            raise ValueError(f"rope {NORMAL!r} with windows, which the runtime makes {INLINE!r}")
        _check_sizes((self.sequences, self.capacity, self.chunk), "cache")

    def pages(self, page: int) -> int:
        """The pages of ``page`` tokens that the runtime allocates (``paged_kv_cache.cc``)."""
        whole = -(-self.capacity // page) + 1
        return whole + (2 * self.sequences if self.windows else 0)


MODELS: MappingProxyType[str, Model] = MappingProxyType(
    {
        "plain": Model(),
        "group-2": Model(heads=4, kv_heads=2, head_dim=8),
        "group-3": Model(heads=3, head_dim=8, page=8),
        "group-4": Model(heads=8, kv_heads=2, head_dim=16, scaling="llama3"),
        "group-5": Model(heads=5, head_dim=6, layers=2),
        "group-6": Model(heads=6, head_dim=10, scaling="gptj"),
        "group-7": Model(heads=14, kv_heads=2, head_dim=8, theta=500000.0),
        "group-8": Model(heads=8, head_dim=4, page=4),
        "heads": Model(heads=3, kv_heads=3, head_dim=2, layers=2),
        "half": Model(heads=2, kv_heads=2, head_dim=8, dtype="float16"),
        "half-6": Model(heads=6, kv_heads=1, head_dim=16, dtype="float16", page=32),
        "half-llama3": Model(heads=4, kv_heads=2, head_dim=8, dtype="float16", scaling="llama3"),
        "yarn": Model(heads=2, head_dim=16, scaling="yarn"),
        "scaled": Model(heads=2, head_dim=8, scale=0.25),
        "page-1": Model(head_dim=4, page=1),
        "wide": Model(heads=2, kv_heads=1, head_dim=64),
        "class": Model(interface=CLASS),
        "class-group-2": Model(heads=4, kv_heads=2, head_dim=8, layers=2, interface=CLASS),
        "class-half-7": Model(heads=7, head_dim=8, dtype="float16", interface=CLASS),
        "class-llama3": Model(heads=2, head_dim=16, scaling="llama3", interface=CLASS),
        "class-yarn": Model(heads=2, head_dim=16, scaling="yarn", interface=CLASS),
        "class-page-8": Model(head_dim=4, page=8, interface=CLASS),
    }
)
"""Models that campaigns draw from. To compile the kernels of one takes seconds, a run milliseconds:
few models, which cover pairs of their settings, and many sequences of operations."""
