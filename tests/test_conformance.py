"""Every ONNX operator, version and element type by each way in against the plain reference, bit by bit; refusals."""

import numpy as np
import onnx
import pytest

from agreement import assert_same_bits
from extremum import directml as dml
from extremum import dtypes
from extremum.errors import ElementTypeError
from onnx_cases import ACCEPTED, ROWS, answer, question, run
from sessions import node_model, run_node

REFUSED = [(row, element) for row, element in ROWS if element.name not in row.types]


def label(value):
    return getattr(value, "name", None) if isinstance(value, dtypes.ElementType) else str(value)


def test_number_of_rows():
    assert len(ROWS) == 33 * 13
    assert len(ACCEPTED) == 272
    assert len(REFUSED) == 157


def by_directml(row, given, inputs, result):
    """The answer of the operators that a node is lowered to; None where DirectML has no such tensors."""
    data, lists = inputs[: row.input.maximum], inputs[row.input.maximum :]
    proto = node_model(row, given, inputs, result)
    for values in lists:
        # The axes have to be known.
        name = proto.graph.input.pop().name
        proto.graph.initializer.append(onnx.numpy_helper.from_array(values, name))
    sizes = {f"x{at}_{axis}": size for at, x in enumerate(data) for axis, size in enumerate(x.shape)}
    lowered = dml.lower(proto, sizes=sizes)
    if any(0 in x.shape for x in data):
        assert "has no tensors without elements" in lowered.refusals[0].reason
        return None
    assert not lowered.refusals
    buffers = {f"x{at}": x.ravel() for at, x in enumerate(inputs)}
    buffers["y"] = np.empty(result.size, result.dtype)
    for step in lowered.nodes[0].steps:
        operator = dml.create_operator(step.desc, feature_level=lowered.feature_level)
        operator.dispatch([buffers[name] for name in step.inputs], [buffers[step.output]])
    return buffers["y"].reshape(result.shape)


def by_backend(row, given, inputs, _):
    return run(row, given, inputs)


@pytest.mark.parametrize(("row", "element"), ACCEPTED, ids=label)
def test_accepted(row, element):
    rng = np.random.default_rng([row.since, *row.name.encode(), *element.name.encode()])
    ways = [by_backend, run_node]
    if element.directml not in (None, "FLOAT64"):
        ways.append(by_directml)
    for number in range(12):
        given, inputs = question(row, rng, element.dtype)
        inputs = [np.ascontiguousarray(x).reshape(x.shape) for x in inputs]
        before, expected = [x.tobytes() for x in inputs], answer(row, given, inputs)
        # The ways through a model of its own take long.
        for ask in ways if number < 3 else [by_backend]:
            actual = ask(row, given, inputs, expected)
            if actual is not None:
                assert_same_bits(actual, expected, f"{ask.__name__}: {row} {given} of {inputs!r}")
            assert before == [x.tobytes() for x in inputs]


@pytest.mark.parametrize(("row", "element"), REFUSED, ids=label)
def test_refused(row, element):
    x = np.ones((2, 2), element.dtype)
    with pytest.raises(ElementTypeError) as caught:
        run(row, {}, [x])
    assert caught.value.reason.startswith(f"{row} does not take {element.name}")
    assert caught.value.remedy == f"the element types of {row} are: {', '.join(row.types)}"
