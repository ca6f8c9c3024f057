"""Relax attributes of the two families, read from a node with Relax's defaults filled in."""

from collections.abc import Sequence
from dataclasses import dataclass

from relaxcheck.generators.core.program import Node

SPATIAL = ("W", "HW", "DHW")


@dataclass(frozen=True, slots=True)
class ConvTranspose:
    """Attributes of ``nn.conv{1,2,3}d_transpose`` with lists completed to the spatial rank."""

    strides: tuple[int, ...]
    pad_begin: tuple[int, ...]
    pad_end: tuple[int, ...]
    output_padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    data_layout: str
    kernel_layout: str
    out_layout: str
    out_dtype: str

    @property
    def rank(self) -> int:
        """The number of spatial axes."""
        return len(self.strides)

    @property
    def canonical_data(self) -> str:
        """The canonical layout of data and output: ``NCW``, ``NCHW`` or ``NCDHW``."""
        return "NC" + SPATIAL[self.rank - 1]

    @property
    def canonical_kernel(self) -> str:
        """The canonical layout of the kernel: ``IOW``, ``IOHW`` or ``IODHW``."""
        return "IO" + SPATIAL[self.rank - 1]

    def full_size(self, data: Sequence[int], kernel: Sequence[int]) -> tuple[int, ...]:
        """Spatial sizes before anything is cropped: ``(in - 1) * stride + dilation * (k - 1) + 1``.

        ``data`` and ``kernel`` are spatial sizes. An empty input has nothing to spread: size 0.
        """
        return tuple(
            (n - 1) * stride + dilation * (k - 1) + 1 if n > 0 and k > 0 else 0
            for n, k, stride, dilation in zip(
                data, kernel, self.strides, self.dilation, strict=True
            )
        )

    def output_size(self, data: Sequence[int], kernel: Sequence[int]) -> tuple[int, ...]:
        """Spatial sizes of the output (see ``MEANINGS.md``).

        Raises:
            ValueError: a size is less than 1.
        """
        sizes = tuple(
            (n - 1) * stride - begin - end + dilation * (k - 1) + 1 + extra
            for n, k, stride, begin, end, dilation, extra in zip(
                data,
                kernel,
                self.strides,
                self.pad_begin,
                self.pad_end,
                self.dilation,
                self.output_padding,
                strict=True,
            )
        )
        if min(sizes) < 1:
            raise ValueError(f"the output has a spatial size below 1: {sizes}")
        return sizes


def conv_transpose(node: Node, rank: int, data_dtype: str) -> ConvTranspose:
    """The attributes of ``node``, a transposed convolution over ``rank`` spatial axes.

    Raises:
        ValueError: a list of another length, or a value that the operator does not allow.
    """
    strides = _completed(node, "strides", 1, rank)
    dilation = _completed(node, "dilation", 1, rank)
    output_padding = _completed(node, "output_padding", 0, rank)
    padding = _integers(node, "padding", 0)
    if len(padding) == 1:
        padding = padding * (2 * rank)
    elif len(padding) == rank:
        padding = padding * 2
    elif len(padding) != 2 * rank:
        raise ValueError(f"padding {padding} has {len(padding)} values over {rank} axes")
    groups = node.attributes.get("groups", 1)
    if not isinstance(groups, int) or groups < 1:
        raise ValueError(f"groups {groups!r} is not a positive integer")
    if min(strides) < 1 or min(dilation) < 1:
        raise ValueError(f"strides {strides} and dilation {dilation} must be positive")
    if min(padding) < 0 or min(output_padding) < 0:
        raise ValueError(f"padding {padding} and output_padding {output_padding} are negative")
    if any(extra >= stride for extra, stride in zip(output_padding, strides, strict=True)):
        raise ValueError(f"output_padding {output_padding} is not below strides {strides}")
    spatial = SPATIAL[rank - 1]
    data_layout = _text(node, "data_layout", "NC" + spatial)
    return ConvTranspose(
        strides=strides,
        pad_begin=padding[:rank],
        pad_end=padding[rank:],
        output_padding=output_padding,
        dilation=dilation,
        groups=groups,
        data_layout=data_layout,
        kernel_layout=_text(node, "kernel_layout", "IO" + spatial),
        out_layout=_text(node, "out_layout", data_layout),
        out_dtype=_text(node, "out_dtype", data_dtype),
    )


def check_channels(attributes: ConvTranspose, data: Sequence[int], kernel: Sequence[int]) -> None:
    """Raise ``ValueError`` unless the channels of two canonical shapes and the groups agree."""
    if data[1] != kernel[0]:
        raise ValueError(f"data has {data[1]} channels and the kernel takes {kernel[0]}")
    if data[1] % attributes.groups:
        raise ValueError(f"groups {attributes.groups} does not divide {data[1]} channels")


@dataclass(frozen=True, slots=True)
class Attention:
    """Attributes of ``nn.attention`` and ``nn.attention_var_len``."""

    scale: float | None
    causal_mask: str | None
    window_size: int | None

    def factor(self, head_dim: int) -> float:
        """The factor of the scores: ``scale``, or 1/sqrt(head_dim).

        Raises:
            ValueError: no scale is given and ``head_dim`` is 0.
        """
        if self.scale is not None:
            return self.scale
        if head_dim == 0:
            raise ValueError("head_dim is 0 and no scale is given")
        return float(head_dim**-0.5)


def attention(node: Node) -> Attention:
    """The attributes of ``node``. Raises ``ValueError`` where one has the wrong type."""
    scale = node.attributes.get("scale")
    causal_mask = node.attributes.get("causal_mask")
    window_size = node.attributes.get("window_size")
    if scale is not None and not isinstance(scale, int | float):
        raise ValueError(f"scale {scale!r} is not a number")
    if causal_mask is not None and not isinstance(causal_mask, str):
        raise ValueError(f"causal_mask {causal_mask!r} is not text")
    if window_size is not None and not isinstance(window_size, int):
        raise ValueError(f"window_size {window_size!r} is not an integer")
    return Attention(None if scale is None else float(scale), causal_mask, window_size)


def check_heads(
    query: Sequence[int], key: Sequence[int], value: Sequence[int], bias: Sequence[int] | None
) -> None:
    """Raise ``ValueError`` unless the BSNH shapes of an attention's operands fit together."""
    if len(query) != 4 or len(key) != 4 or len(value) != 4:
        raise ValueError("query, key and value must have 4 axes")
    if not query[0] == key[0] == value[0]:
        raise ValueError(f"batch sizes differ: {query[0]}, {key[0]}, {value[0]}")
    if key[1] != value[1] or query[3] != key[3]:
        raise ValueError("key and value lengths or query and key head dimensions differ")
    if key[2] != value[2]:
        raise ValueError(f"key and value heads differ: {key[2]}, {value[2]}")
    if key[2] == 0 or query[2] % key[2]:
        raise ValueError(f"{query[2]} query heads are no multiple of {key[2]}")
    if bias is not None:
        wanted = (query[0], query[2], query[1], key[1])
        if len(bias) != 4 or any(b not in (1, w) for b, w in zip(bias, wanted, strict=True)):
            raise ValueError(f"bias {tuple(bias)} does not broadcast to {wanted}")


def _integers(node: Node, name: str, default: int) -> tuple[int, ...]:
    value = node.attributes.get(name, default)
    if isinstance(value, int):
        return (value,)
    if isinstance(value, tuple):
        return value
    raise ValueError(f"{name} {value!r} is not a list of integers")


def _completed(node: Node, name: str, default: int, rank: int) -> tuple[int, ...]:
    values = _integers(node, name, default)
    if len(values) == 1:
        return values * rank
    if len(values) != rank:
        raise ValueError(f"{name} {values} has {len(values)} values over {rank} axes")
    return values


def _text(node: Node, name: str, default: str) -> str:
    value = node.attributes.get(name)
    if value is None:
        return default
    if not isinstance(value, str):
        raise ValueError(f"{name} {value!r} is not text")
    return value
