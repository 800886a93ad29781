"""The examples in the documents of the five operators: ONNX ArgMax, ArgMin, Max and Hardmax, and DML_ARGMAX."""

import numpy as np
import pytest
from onnx import helper

from extremum import backend, dtypes, lower, spec, validate

TWO_BY_TWO = [[2, 1], [3, 10]]
TIED = [[2, 2], [3, 10]]

# operator, attributes, input, output
ARG_EXAMPLES = [
    ("ArgMax", {"axis": 1, "keepdims": 0}, TWO_BY_TWO, [0, 1]),
    ("ArgMax", {"axis": 1, "keepdims": 1}, TWO_BY_TWO, [[0], [1]]),
    ("ArgMax", {"keepdims": 1}, TWO_BY_TWO, [[1, 1]]),
    ("ArgMax", {"axis": -1, "keepdims": 1}, TWO_BY_TWO, [[0], [1]]),
    ("ArgMax", {"axis": 1, "keepdims": 0, "select_last_index": True}, TIED, [1, 1]),
    ("ArgMax", {"axis": 1, "keepdims": 1, "select_last_index": True}, TIED, [[1], [1]]),
    ("ArgMax", {"keepdims": 1, "select_last_index": True}, TIED, [[1, 1]]),
    ("ArgMax", {"axis": -1, "keepdims": 1, "select_last_index": True}, TIED, [[1], [1]]),
    ("ArgMin", {"axis": 1, "keepdims": 0}, TWO_BY_TWO, [1, 0]),
    ("ArgMin", {"axis": 1, "keepdims": 1}, TWO_BY_TWO, [[1], [0]]),
    ("ArgMin", {"keepdims": 1}, TWO_BY_TWO, [[0, 0]]),
    ("ArgMin", {"axis": -1, "keepdims": 1}, TWO_BY_TWO, [[1], [0]]),
    ("ArgMin", {"axis": 1, "keepdims": 0, "select_last_index": True}, TIED, [1, 0]),
    ("ArgMin", {"axis": 1, "keepdims": 1, "select_last_index": True}, TIED, [[1], [0]]),
    ("ArgMin", {"keepdims": 1, "select_last_index": True}, TIED, [[0, 0]]),
    ("ArgMin", {"axis": -1, "keepdims": 1, "select_last_index": True}, TIED, [[1], [0]]),
]


def versions(name, attributes):
    """The versions whose document can have the example: all that know its attributes."""
    return [row.since for row in spec.OPERATORS[spec.ONNX, name] if all(map(row.attribute, attributes))]


def cases(examples):
    return [(opset, *example) for example in examples for opset in versions(*example[:2])]


def run(name, opset, attributes, *inputs):
    names = [f"x{position}" for position in range(len(inputs))]
    (result,) = backend.run_node(helper.make_node(name, names, ["y"], **attributes), inputs, opset_version=opset)
    return result


@pytest.mark.parametrize(("opset", "name", "attributes", "data", "expected"), cases(ARG_EXAMPLES))
def test_arg_example(opset, name, attributes, data, expected):
    result = run(name, opset, attributes, np.array(data, np.float32))
    assert result.dtype == np.int64
    np.testing.assert_array_equal(result, expected, strict=False)
    assert result.shape == np.shape(expected)


def numpy_answer(name, data, axis=0, keepdims=1, select_last_index=0):
    find = np.argmax if name == "ArgMax" else np.argmin
    if not select_last_index:
        return find(data, axis=axis, keepdims=bool(keepdims))
    return data.shape[axis] - 1 - find(np.flip(data, axis), axis=axis, keepdims=bool(keepdims))


@pytest.mark.parametrize(("opset", "name", "attributes"), [case[:3] for case in cases(ARG_EXAMPLES)])
def test_arg_random_example(opset, name, attributes):
    data = np.random.default_rng(opset).uniform(-10, 10, (2, 3, 4)).astype(np.float32)
    np.testing.assert_array_equal(
        run(name, opset, attributes, data), numpy_answer(name, data, **attributes), strict=True
    )


def test_the_documents_shapes():
    data = np.zeros((2, 3, 4), np.float32)
    assert run("ArgMax", 13, {"axis": 1, "keepdims": 0}, data).shape == (2, 4)
    assert run("ArgMax", 13, {"axis": 1, "keepdims": 1}, data).shape == (2, 1, 4)
    assert run("ArgMax", 13, {}, data).shape == (1, 3, 4)
    assert run("ArgMax", 13, {"axis": -1, "keepdims": 1}, data).shape == (2, 3, 1)


@pytest.mark.parametrize(
    ("opset", "element"),
    [(row.since, element) for row in spec.OPERATORS[spec.ONNX, "Max"] for element in row.types],
)
@pytest.mark.parametrize(
    ("name", "inputs", "expected"),
    [
        ("Max", ([3, 2, 1], [1, 4, 4]), [3, 4, 4]),
        ("Min", ([3, 2, 1], [1, 4, 4]), [1, 2, 1]),
        ("Max", ([3, 2, 1], [1, 4, 4], [2, 5, 3]), [3, 5, 4]),
        ("Max", ([3, 2, 1],), [3, 2, 1]),
    ],
)
def test_max_of_every_numeric_type(opset, element, name, inputs, expected):
    dtype = dtypes.from_name(element).dtype
    result = run(name, opset, {}, *(np.array(x).astype(dtype) for x in inputs))
    assert result.dtype == dtype
    assert result.astype(int).tolist() == expected


FOUR_ROWS = [[3, 0, 1, 2], [2, 5, 1, 0], [0, 1, 3, 2], [0, 1, 2, 3]]


@pytest.mark.parametrize("opset", [1, 11, 13])
@pytest.mark.parametrize(("data", "expected"), [(FOUR_ROWS, np.eye(4)), ([[3, 3, 3, 1]], [[1, 0, 0, 0]])])
def test_hardmax_example(opset, data, expected):
    np.testing.assert_array_equal(
        run("Hardmax", opset, {}, np.array(data, np.float32)), np.float32(expected), strict=True
    )


@pytest.mark.parametrize("attributes", [{"axis": 0}, {"axis": 1}, {"axis": 2}, {"axis": -1}, {}])
def test_hardmax_axis_example(attributes):
    x = np.random.default_rng(0).standard_normal((3, 4, 5)).astype(np.float32)
    axis = attributes.get("axis", -1)
    expected = np.zeros_like(x)
    np.put_along_axis(expected, np.expand_dims(x.argmax(axis), axis), 1, axis)
    np.testing.assert_array_equal(run("Hardmax", 13, attributes, x), expected, strict=True)


@pytest.mark.parametrize("opset", [1, 11])
@pytest.mark.parametrize(("attributes", "split"), [({}, 1), ({"axis": 2}, 2), ({"axis": 0}, 0)])
def test_hardmax_sees_two_dimensions_before_13(opset, attributes, split):
    x = np.random.default_rng(1).standard_normal((3, 4, 5)).astype(np.float32)
    coerced = x.reshape(int(np.prod(x.shape[:split])), -1)
    expected = np.eye(coerced.shape[1], dtype=np.float32)[coerced.argmax(1)].reshape(x.shape)
    np.testing.assert_array_equal(run("Hardmax", opset, attributes, x), expected, strict=True)


GRID = np.array([[1, 2, 3], [3, 0, 4], [2, 5, 2]], np.float32)


def dml_argmax(level, x, axes, direction):
    row = spec.find(spec.DIRECTML, "DML_ARGMAX", level)
    return lower.operation(
        row, validate.attributes(row, {"axes": axes, "axis_direction": direction}), x.ndim, "uint32"
    )(x)


@pytest.mark.parametrize("level", [0x3000, 0x4100])
@pytest.mark.parametrize(("axes", "expected"), [([0], [[1, 2, 1]]), ([1], [[2], [2], [1]]), ([0, 1], [[7]])])
def test_dml_argmax_example(level, axes, expected):
    np.testing.assert_array_equal(dml_argmax(level, GRID, axes, 0), np.array(expected, np.uint32), strict=True)


@pytest.mark.parametrize("level", [0x3000, 0x4100])
@pytest.mark.parametrize(("direction", "expected"), [(0, 0), (1, 4)])
def test_dml_axis_direction(level, direction, expected):
    assert dml_argmax(level, np.array([3, 2, 1, 2, 3], np.float32), [0], direction).tolist() == [expected]
