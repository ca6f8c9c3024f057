"""The whole message for a call that TVM's legalization returns as it was."""

import re
from typing import Any

import pytest
from tvm import relax

from fixes import tvm_api
from tests.fixes import compiled

CONV = (
    "relax.nn.conv1d cannot be lowered with data_layout='NCW', dilation=(1,), groups=1,"
    " kernel_layout='OIW', out_dtype=None, out_layout='NWC', padding=(1, 1), strides=(2,)"
)
POOL = (
    "relax.nn.avg_pool2d cannot be lowered with ceil_mode=False, count_include_pad=True,"
    " dilation=(1, 1), layout='NCHW', out_layout='NHWC', padding=(0, 0, 0, 0),"
    " pool_size=(2, 2), strides=(1, 1)"
)


@pytest.mark.parametrize(
    ("make", "shapes", "said"),
    [
        (
            lambda x, w: relax.op.nn.conv1d(x, w, strides=2, padding=1, out_layout="NWC"),
            ((1, 2, 5), (2, 2, 3)),
            CONV,
        ),
        (
            lambda x: relax.op.nn.avg_pool2d(x, (2, 2), count_include_pad=True, out_layout="NHWC"),
            ((1, 2, 5, 5),),
            POOL,
        ),
    ],
)
def test_messages(fixes_on: None, make: Any, shapes: Any, said: str) -> None:
    module = compiled.module(make, *shapes)
    with pytest.raises(tvm_api.OpNotImplemented, match=f"^{re.escape(said)}$"):
        relax.transform.LegalizeOps()(module)
