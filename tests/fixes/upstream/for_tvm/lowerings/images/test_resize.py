"""Images of symbolic size, and of float64."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


def run(mod, *arrays):
    executable = relax.build(mod, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def test_nearest_to_a_number():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, "n", "n"), "float32")):
            with R.dataflow():
                y = R.image.resize2d(
                    x,
                    (4, 4),
                    layout="NCHW",
                    method="nearest_neighbor",
                    coordinate_transformation_mode="asymmetric",
                    rounding_method="floor",
                )
                R.output(y)
            return y

    array = np.arange(4, dtype="float32").reshape(1, 1, 2, 2)
    np.testing.assert_array_equal(run(Module, array), array.repeat(2, 2).repeat(2, 3))


def test_aligned_corners():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 1, "n"), "float32")):
            n = T.int64()
            with R.dataflow():
                y = R.image.resize2d(
                    x,
                    R.shape([1, n * 2 - 1]),
                    layout="NCHW",
                    method="linear",
                    coordinate_transformation_mode="align_corners",
                )
                R.output(y)
            return y

    array = np.array([[[[0, 2, 8]]]], "float32")
    np.testing.assert_allclose(run(Module, array), [[[[0, 1, 2, 5, 8]]]], rtol=1e-5)


def test_one_element_of_aligned_corners():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 2, 2), "float32")):
            with R.dataflow():
                y = R.image.resize2d(
                    x,
                    (1, 1),
                    layout="NCHW",
                    method="linear",
                    coordinate_transformation_mode="align_corners",
                )
                R.output(y)
            return y

    array = np.array([[[[1, 2], [3, 4]]]], "float32")
    np.testing.assert_array_equal(run(Module, array), array[..., :1, :1])


def test_float64():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 1, 2), "float64")):
            with R.dataflow():
                y = R.image.resize2d(
                    x,
                    (1, 4),
                    layout="NCHW",
                    method="linear",
                    coordinate_transformation_mode="half_pixel",
                )
                R.output(y)
            return y

    array = np.array([[[[1, 2]]]]) / 3
    want = np.array([[[[1, 1.25, 1.75, 2]]]]) / 3
    np.testing.assert_allclose(run(Module, array), want, rtol=1e-14)


def test_nearest_of_large_integers():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 1, 2), "int32")):
            with R.dataflow():
                y = R.image.resize2d(
                    x,
                    (1, 4),
                    layout="NCHW",
                    method="nearest_neighbor",
                    coordinate_transformation_mode="asymmetric",
                    rounding_method="floor",
                )
                R.output(y)
            return y

    odd = 2**24 + 1
    result = run(Module, np.array([[[[odd, 2]]]], "int32"))
    np.testing.assert_array_equal(result, [[[[odd, odd, 2, 2]]]])


def test_another_dtype():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, 1, 2), "float32")):
            with R.dataflow():
                y = R.image.resize2d(
                    x,
                    (1, 4),
                    layout="NCHW",
                    method="linear",
                    coordinate_transformation_mode="half_pixel",
                    out_dtype="float16",
                )
                R.output(y)
            return y

    result = run(Module, np.array([[[[1, 2]]]], "float32"))
    assert result.dtype == "float16"
    np.testing.assert_array_equal(result, [[[[1, 1.25, 1.75, 2]]]])


if __name__ == "__main__":
    tvm.testing.main()
