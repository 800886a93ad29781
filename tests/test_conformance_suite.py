"""What the suite asks, and that extremum answers all of it."""

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx.backend.test.loader import load_node_model_tests

import extremum as ex
from agreement import same_bits
from extremum import backend, dtypes, reference, runtimes, spec
from extremum.conformance import Selection, cases
from extremum.conformance.suite import model_of
from extremum.conformance.topics import TOPICS, Question
from extremum.errors import ArgumentError
from extremum.operations import ArgReduce, Extremum, Reduce
from official import family_alone
from onnx_cases import VERSIONS
from strategies import sometimes


@pytest.fixture(scope="module")
def suite():
    return list(cases())


def test_every_version_type_and_topic_has_cases_that_say_why(suite):
    assert 2000 < len(suite) < 12_000
    assert len({case.name for case in suite}) == len(suite)
    subjects = {(case.version, case.element) for case in suite}
    assert subjects == {(row, element.name) for row in VERSIONS for element in dtypes.ELEMENT_TYPES}
    assert {case.topic for case in suite} == set(TOPICS)
    assert all(case.question.says or case.question.leaves_open for case in suite)
    assert not any(case.specified for case in suite if case.topic in ("nan", "zeros"))


def by_backend(case, model):
    return backend.run_model(model, case.question.inputs)[0]


def by_session(case, model):
    # Its adapter feeds bfloat16, which onnxruntime does not take from Python.
    return runtimes.find("extremum:onnxruntime").load(model)(case.feeds)[0]


@pytest.mark.parametrize("every", sometimes([False, True], [False]))
@pytest.mark.parametrize(("answer", "step"), [(by_backend, 8), (by_session, 32)])
def test_models_of_the_cases_are_answered(suite, answer, step, every):
    for case in suite[:: 1 if every else step]:
        expected = case.expected()
        model = model_of(case, expected)
        if expected is None:
            with pytest.raises(Exception, match=r"."):
                answer(case, model)
        else:
            assert same_bits(answer(case, model), expected), case.name


@pytest.mark.parametrize("step", sometimes([3, 1], [3]))
def test_the_array_functions_answer_the_cases(suite, step):
    for case in suite[::step]:
        if case.question.refused:
            continue
        match operation := case.operation:
            case ArgReduce(order, axes, keepdims, tie, _):
                function = getattr(ex, f"arg{order.value}")
                last = tie.value == "last"
                actual = function(case.question.inputs[0], axes, keepdims=keepdims, select_last_index=last)
            case Extremum(order):
                actual = getattr(ex, f"{order.value}imum")(*case.question.inputs)
            case Reduce(order, axes, keepdims, _, identity):
                x = case.question.inputs[0]
                default = reference.identity_of(x.dtype, order) if identity else None
                actual = getattr(ex, order.value)(x, axes, keepdims=keepdims, default=default)
            case _:
                actual = ex.hardmax(case.question.inputs[0], operation.axes)
        assert same_bits(actual, case.expected()), case.name


def test_onnx_asks_the_same_and_expects_the_same(suite):
    """Each of onnx's own node tests of the family, as a case: the same node on the same input."""
    by_version = {(case.version.name, case.version.since): case for case in suite if not case.question.refused}
    compared = 0
    with family_alone():
        tests = load_node_model_tests()
    for test in tests:
        (node,) = test.model.graph.node if len(test.model.graph.node) == 1 else (None,)
        if node is None or ("", node.op_type) not in spec.OPERATORS:
            continue
        row = spec.find("", node.op_type, test.model.opset_import[0].version)
        case = by_version[row.name, row.since]
        attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        for inputs, outputs in test.data_sets:
            arrays = [onnx.numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else x for x in inputs]
            wanted = [onnx.numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else x for x in outputs]
            count = row.input.maximum
            attributes.update(
                (each.name, tuple(x)) for each, x in zip(row.input_attributes, arrays[count:], strict=False)
            )
            asked = replace(case, question=Question("of_onnx", tuple(arrays[:count]), attributes))
            np.testing.assert_array_equal(asked.expected(), wanted[0])
            compared += 1
    # onnx 1.19 has one less.
    assert compared in (87, 88)


def test_a_selection_leaves_its_cases_as_they_are(suite):
    few = list(cases(Selection(operators=["Max"], versions=[8], elements=["float32"])))
    whole = {case.name: case for case in suite}
    assert few
    for case in few:
        for x, y in zip(case.question.inputs, whole[case.name].question.inputs, strict=True):
            assert same_bits(x, y)
    specified = [case.name for case in cases(Selection(specified_only=True))]
    assert specified == [case.name for case in suite if not case.question.leaves_open]
    some = list(whole)[:: len(whole) // 50]
    assert [case.name for case in cases(Selection(names=some))] == some
    assert list(cases(Selection(names=some[:1], specified_only=True, operators=["Min"]))) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"operators": ["TopK"]}, "the suite has no operator 'TopK'; help: it has "),
        ({"versions": [7]}, "the suite has no version 7; help: it has "),
        ({"elements": ["float8"]}, "the suite has no element type 'float8'; help: it has "),
        ({"topics": ["speed"]}, "the suite has no topic 'speed'; help: it has "),
        (
            {"names": ["argmax_13_float32_nan_midle_row"]},
            "the suite has no case 'argmax_13_float32_nan_midle_row'; help: did you mean "
            "argmax_13_float32_nan_middle_row or ",
        ),
    ],
)
def test_a_selection_of_what_is_not_there(given, message):
    with pytest.raises(ArgumentError) as caught:
        Selection(**given)
    assert caught.value.one_line().startswith(message)
