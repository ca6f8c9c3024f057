"""ConvertLayout keeps the values of stacks, dropout and calls with negative axes."""

import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


@I.ir_module
class Negative:
    @R.function
    def main(x: R.Tensor((2, 3, 1), "float32")):
        with R.dataflow():
            y = R.squeeze(x, axis=[-1])
            z = R.permute_dims(y, axes=[-1, 0])
            R.output(z)
        return z


@I.ir_module
class Counted:
    @R.function
    def main(x: R.Tensor((2, 3, 1), "float32")):
        with R.dataflow():
            y = R.squeeze(x, axis=[2])
            z = R.permute_dims(y, axes=[1, 0])
            R.output(z)
        return z


def test_negative_axes():
    tvm.ir.assert_structural_equal(relax.transform.ConvertLayout({})(Negative), Counted)


@I.ir_module
class Stack:
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), a: R.Tensor((), "float32")):
        with R.dataflow():
            first = R.stack((x, x), axis=0)
            last = R.stack((x, x), axis=-1)
            numbers = R.stack((a, a), axis=0)
            R.output(first, last, numbers)
        return (first, last, numbers)


def test_stack():
    tvm.ir.assert_structural_equal(relax.transform.ConvertLayout({})(Stack), Stack)


@I.ir_module
class Dropout:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            both = R.nn.dropout(x, rate=0.5)
            y = both[0]
            R.output(y)
        return y


def test_dropout():
    tvm.ir.assert_structural_equal(relax.transform.ConvertLayout({})(Dropout), Dropout)


if __name__ == "__main__":
    tvm.testing.main()
