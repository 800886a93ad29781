"""Every ONNX operator, version and element type, by each entry point, against the reference, bit by bit; refusals."""

from collections import Counter

import numpy as np
import onnx
import pytest

from agreement import assert_same_bits
from extremum import backend
from extremum import directml as dml
from extremum.errors import ElementTypeError
from extremum.runtimes.comparison import NodeQuestion, Outcome, compare
from extremum.tensors import wider_types
from official import node_tests
from onnx_cases import ACCEPTED, ROWS, VERSIONS, answer, question, run
from refusal import error_of
from sessions import loads_opset, node_model, run_model, run_node

NAMES = {row.name for row in VERSIONS}


def by_directml(row, given, inputs, results):
    """The answers of the operators that a node is lowered to; None where DirectML has no such tensors."""
    data = inputs[: row.input.maximum]
    lists = inputs[row.input.maximum :]
    proto = node_model(row, given, inputs, results)
    for values in lists:
        # Lowering has to know the axes, or K.
        name = proto.graph.input.pop().name
        proto.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    sizes = {f"x{at}_{axis}": size for at, x in enumerate(data) for axis, size in enumerate(x.shape)}
    lowered = dml.lower(proto, sizes=sizes)
    if any(0 in x.shape for x in (*data, *results)):
        assert "has no tensors without elements" in lowered.refusals[0].reason
        return None
    assert not lowered.refusals
    buffers = {f"x{at}": x.ravel() for at, x in enumerate(inputs)}
    # The descriptions give indices an unsigned type.
    empty = {f"y{at}": np.empty(x.shape, x.dtype) for at, x in enumerate(results)}
    buffers.update({name: memoryview(x).cast("B") if name == "y1" else x for name, x in empty.items()})
    for step in lowered.nodes[0].steps:
        operator = dml.create_operator(step.desc, feature_level=lowered.feature_level)
        operator.dispatch([buffers[name] for name in step.inputs], [buffers[name] for name in step.outputs])
    return list(empty.values())


def by_backend(row, given, inputs, _):
    return run(row, given, inputs)


@pytest.mark.parametrize("row", VERSIONS, ids=str)
def test_accepted(row):
    rng = np.random.default_rng([row.since, *row.name.encode()])
    elements = [element for version, element in ACCEPTED if version is row]
    for number, element in [(number, element) for number in range(4) for element in elements]:
        # The ways that need a model of their own take long.
        ways = [by_backend] if number else [by_backend, run_node, by_directml]
        if element.name in ("bool", "bfloat16", "float64"):
            ways = ways[:2]
        if not loads_opset(row.since):
            ways = [each for each in ways if each is not run_node]
        given, inputs = question(row, rng, element.dtype)
        inputs = [np.ascontiguousarray(x).reshape(x.shape) for x in inputs]
        before = [x.tobytes() for x in inputs]
        expected = answer(row, given, inputs)
        for ask in ways:
            actual = ask(row, given, inputs, expected)
            if given.get("sorted") == 0 and actual is not None:
                assert compare(NodeQuestion(row, given, inputs), expected, actual) is Outcome.EXACT, (given, inputs)
                actual = expected
            for one, other in zip(actual or expected, expected, strict=True):
                assert_same_bits(one, other, ask.__name__, row, given, "of", inputs)
            assert before == [x.tobytes() for x in inputs]


@pytest.mark.parametrize("row", VERSIONS, ids=str)
def test_refused(row):
    for element in (element for version, element in ROWS if version is row and element.name not in row.types):
        error = error_of(ElementTypeError, run, row, *question(row, np.random.default_rng(0), element.dtype))
        assert error.reason.startswith(f"{row} does not take {element.name}")
        cast, _, types = error.remedy.rpartition("; ")
        assert types == f"the element types of {row} are: {', '.join(row.types)}"
        assert cast in ("", *(f"Cast to {wide} first" for wide in wider_types(element.name, row.types)))


OFFICIAL = [each for each in node_tests() if each.model.graph.node[0].op_type in NAMES]


def test_all_of_onnxs_own_are_here():
    count = Counter(each.model.graph.node[0].op_type for each in OFFICIAL)
    # onnx 1.19, the lowest supported version, has one test fewer.
    assert count.pop("ReduceMax") in (10, 11)
    assert count == {"ArgMax": 16, "ArgMin": 16, "Hardmax": 7, "Max": 14, "Min": 14, "ReduceMin": 10, "TopK": 7}


@pytest.mark.parametrize("case", OFFICIAL, ids=lambda case: case.name)
def test_official(case):
    for inputs, expected in case.data_sets:
        for by in (backend.run_model, run_model)[: 1 + loads_opset(case.model.opset_import[0].version)]:
            for one, other in zip(by(case.model, inputs), expected, strict=True):
                np.testing.assert_array_equal(one, other, strict=True)
