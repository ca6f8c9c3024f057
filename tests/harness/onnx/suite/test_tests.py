"""The backend tests of the installed ``onnx``, read."""

import numpy as np

from relaxcheck.harness.onnx.suite.tests import KINDS, SuiteTest, nodes, suite, with_initializers


def of(name: str, kind: str = "node") -> SuiteTest:
    return next(test for test in suite(kind) if test.name == name)


def test_every_kind_has_tests_with_inputs_and_outputs() -> None:
    for kind in KINDS:
        assert len({test.name for test in suite(kind)}) == len(suite(kind)) > 20
        for test in suite(kind):
            assert test.data_sets
            assert all(
                len(outputs) == len(test.model.graph.output) for _, outputs in test.data_sets
            )


def test_an_expansion_is_about_the_operator_that_it_defines() -> None:
    test = of("test_softmax_axis_0_expanded_ver18")
    assert (test.operator, test.version, test.opset, test.expanded) == ("Softmax", 13, 18, True)
    assert {node.op_type for node in nodes(test.model.graph)} >= {"ReduceSum", "Exp"}


def test_operators_of_other_domains_are_named_with_the_domain() -> None:
    assert of("test_adam").operator == "ai.onnx.preview.training.Adam"
    assert of("test_ai_onnx_ml_binarizer").operator == "ai.onnx.ml.Binarizer"


def test_nodes_of_branches_are_nodes() -> None:
    inner = [node.op_type for node in nodes(of("test_if").model.graph)]
    assert inner.count("Constant") == 2
    assert "If" in inner


def test_only_outputs_that_random_numbers_decide_are_not_stated() -> None:
    assert of("test_training_dropout").draws
    assert of("test_bernoulli_expanded").draws
    assert not of("test_training_dropout_zero_ratio").draws
    assert not of("test_dropout_default_ratio").draws


def test_integer_inputs_behind_the_first_become_initializers() -> None:
    test = of("test_reduce_sum_keepdims_example")
    moved = with_initializers(test)
    assert [each.name for each in moved.model.graph.input] == ["data"]
    assert [each.name for each in moved.model.graph.initializer] == ["axes"]
    (inputs, outputs), (before, same) = moved.data_sets[0], test.data_sets[0]
    assert len(inputs) == 1
    np.testing.assert_array_equal(inputs[0], before[0])
    assert outputs is same
    # The original stays as it was.
    assert len(test.model.graph.input) == 2


def test_a_model_of_floats_keeps_its_inputs() -> None:
    test = of("test_add")
    assert with_initializers(test) is test
