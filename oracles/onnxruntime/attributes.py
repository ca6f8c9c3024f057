"""The attributes of a node in the terms of ONNX's own operators."""

from typing import Annotated, Literal

import msgspec

from relaxcheck.generators.core.program import Node

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]


class Attention(msgspec.Struct, frozen=True):
    """Attributes of ``nn.attention`` and ``nn.attention_var_len``, all of which may be left out."""

    scale: float | None = None
    causal_mask: Literal["TopLeft", "BottomRight"] | None = None
    window_size: AtLeastOne | None = None


class _Relax(msgspec.Struct, frozen=True):
    """Attributes of ``nn.conv{1,2,3}d_transpose`` as Relax writes them."""

    strides: AtLeastOne | tuple[AtLeastOne, ...] = 1
    padding: int | tuple[int, ...] = 0
    output_padding: int | tuple[int, ...] = 0
    dilation: AtLeastOne | tuple[AtLeastOne, ...] = 1
    groups: AtLeastOne = 1
    data_layout: str | None = None
    kernel_layout: str | None = None
    out_layout: str | None = None
    out_dtype: str | None = None


class ConvTranspose(msgspec.Struct, frozen=True):
    """Attributes of ONNX's ConvTranspose, and the layouts and dtype around it.

    ``pads`` are all begins, then all ends; the other lists have a value an axis.
    """

    strides: tuple[int, ...]
    pads: tuple[int, ...]
    output_padding: tuple[int, ...]
    dilations: tuple[int, ...]
    group: int
    data: str
    kernel: str
    out: str
    dtype: str

    def output_shape(self, data: tuple[int, ...], kernel: tuple[int, ...]) -> tuple[int, ...]:
        """The shape (N, O, spatial) by the formula of ONNX's ConvTranspose.

        ``data`` is (N, I, spatial) and ``kernel`` (I, O / groups, spatial).
        """
        rank = len(self.strides)
        spatial = (
            self.strides[at] * (data[2 + at] - 1)
            + self.output_padding[at]
            + ((kernel[2 + at] - 1) * self.dilations[at] + 1)
            - self.pads[at]
            - self.pads[rank + at]
            for at in range(rank)
        )
        return (data[0], kernel[1] * self.group, *spatial)


def attention(node: Node) -> Attention:
    """The attributes of ``node``. Raises ``msgspec.ValidationError`` where one has a wrong type."""
    return msgspec.convert(node.attributes, Attention)


def conv_transpose(node: Node, spatial: str, dtype: str) -> ConvTranspose:
    """The attributes of ``node``, whose spatial axes are ``spatial`` and data are ``dtype``.

    Raises:
        msgspec.ValidationError: an attribute has a wrong type.
    """
    attributes = msgspec.convert(node.attributes, _Relax)
    rank = len(spatial)
    data = attributes.data_layout or f"NC{spatial}"
    return ConvTranspose(
        strides=_repeated(attributes.strides, rank),
        # Both a value for all sides and one an axis stand for begins and ends alike.
        pads=_repeated(attributes.padding, 2 * rank),
        output_padding=_repeated(attributes.output_padding, rank),
        dilations=_repeated(attributes.dilation, rank),
        group=attributes.groups,
        data=data,
        kernel=attributes.kernel_layout or f"IO{spatial}",
        out=attributes.out_layout or data,
        dtype=attributes.out_dtype or dtype,
    )


def _repeated(values: int | tuple[int, ...], count: int) -> tuple[int, ...]:
    """``values`` over and over until there are ``count``."""
    listed = (values,) if isinstance(values, int) else values
    return listed * (count // len(listed))
