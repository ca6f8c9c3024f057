"""An invalid transposed convolution is refused when it is made, by its name and the attribute's."""

import pytest
import tvm.testing
from tvm import relax
from tvm.script import relax as R

CASES = [
    ("conv1d_transpose", (5,), (3,)),
    ("conv2d_transpose", (5, 5), (3, 3)),
    ("conv3d_transpose", (5, 5, 5), (3, 3, 3)),
]


def tensors(extents, taps):
    data = relax.Var("data", R.Tensor((1, 4, *extents), "float32"))
    return data, relax.Var("weight", R.Tensor((4, 2, *taps), "float32"))


@pytest.mark.parametrize(("name", "extents", "taps"), CASES)
@pytest.mark.parametrize(
    ("attribute", "value"), [("groups", 0), ("groups", 3), ("strides", 0), ("output_padding", 1)]
)
def test_attribute(name, extents, taps, attribute, value):
    with pytest.raises(ValueError, match=f"{name} is invalid with {attribute}="):
        getattr(relax.op.nn, name)(*tensors(extents, taps), **{attribute: value})


@pytest.mark.parametrize(("name", "extents", "taps"), CASES)
def test_nothing_is_left_of_the_output(name, extents, taps):
    with pytest.raises(ValueError, match=f"{name} is invalid with padding="):
        getattr(relax.op.nn, name)(*tensors(extents, taps), padding=[4] * len(extents))


@pytest.mark.parametrize(("name", "extents", "taps"), CASES)
def test_valid_call_is_made(name, extents, taps):
    call = getattr(relax.op.nn, name)(*tensors(extents, taps), groups=2)
    assert call.op.name == f"relax.nn.{name}"


if __name__ == "__main__":
    tvm.testing.main()
