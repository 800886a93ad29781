"""Each version becomes the core operation it means."""

import numpy as np
import pytest

from extremum import lower, spec, validate
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Reduce, Tie, TopK
from extremum.tensors import TensorType

INT64 = np.dtype("int64")
UINT32 = np.dtype("uint32")
MAX = Order.MAX
MIN = Order.MIN
FIRST = Tie.FIRST
LAST = Tie.LAST


def row(name, versions, rank, given, expected, behaviour):
    """A node of some versions on a tensor of a rank, with the operation that it means."""
    return pytest.param(name, versions, rank, given, expected, id=f"{name}: {behaviour}")


INDEX = [
    row("ArgMax", (1, 11, 12, 13), 3, {}, ArgReduce(MAX, (0,), True, FIRST, INT64), "axis is 0, keepdims 1"),
    row("ArgMin", (1, 11, 12, 13), 3, {}, ArgReduce(MIN, (0,), True, FIRST, INT64), "axis is 0, keepdims 1"),
    row("ArgMax", (1, 11, 12, 13), 3, {"axis": -1}, ArgReduce(MAX, (2,), True, FIRST, INT64), "axis -1 is the last"),
    row("ArgMin", (1, 11, 12, 13), 3, {"axis": -1}, ArgReduce(MIN, (2,), True, FIRST, INT64), "axis -1 is the last"),
    row("ArgMax", (1, 11, 12, 13), 1, {"keepdims": 0}, ArgReduce(MAX, (0,), False, FIRST, INT64), "the axis goes"),
    row("ArgMin", (1, 11, 12, 13), 1, {"keepdims": 0}, ArgReduce(MIN, (0,), False, FIRST, INT64), "the axis goes"),
    row("ArgMax", (12, 13), 1, {"select_last_index": 1}, ArgReduce(MAX, (0,), True, LAST, INT64), "the last of equals"),
    row("ArgMin", (12, 13), 1, {"select_last_index": 1}, ArgReduce(MIN, (0,), True, LAST, INT64), "the last of equals"),
]
ELEMENTWISE = [
    row("Max", (1, 6, 8, 12, 13), 2, {}, Extremum(MAX), "the elementwise largest"),
    row("Min", (1, 6, 8, 12, 13), 2, {}, Extremum(MIN), "the elementwise smallest"),
    row("Min", (1,), 2, {"consumed_inputs": [0, 1]}, Extremum(MIN), "consumed_inputs mean nothing"),
]
# The last field of Reduce: what the extremum of no element is. Version 12 does not say.
REDUCTION = [
    row("ReduceMax", (1, 11, 13, 18, 20), 2, {}, Reduce(MAX, (0, 1), True, FIRST, True), "all axes, keepdims is 1"),
    row("ReduceMin", (1, 11, 13, 18, 20), 2, {}, Reduce(MIN, (0, 1), True, FIRST, True), "all axes, keepdims is 1"),
    row("ReduceMax", (12,), 2, {}, Reduce(MAX, (0, 1), True, FIRST, False), "12 has no answer for no element"),
    row("ReduceMin", (12,), 2, {}, Reduce(MIN, (0, 1), True, FIRST, False), "12 has no answer for no element"),
    row("ReduceMax", (1, 20), 2, {"keepdims": 0}, Reduce(MAX, (0, 1), False, FIRST, True), "the axes go"),
    row("ReduceMin", (1, 20), 2, {"keepdims": 0}, Reduce(MIN, (0, 1), False, FIRST, True), "the axes go"),
    row("ReduceMax", (1, 11, 13), 3, {"axes": [-1, 0]}, Reduce(MAX, (0, 2), True, FIRST, True), "axes in any order"),
    row("ReduceMin", (1, 11, 13), 3, {"axes": [-1, 0]}, Reduce(MIN, (0, 2), True, FIRST, True), "axes in any order"),
    row("ReduceMax", (13,), 2, {"axes": []}, Reduce(MAX, (0, 1), True, FIRST, True), "an empty list means all axes"),
    row("ReduceMax", (13,), 0, {}, Reduce(MAX, (), True, FIRST, True), "a scalar has no axes"),
    row(
        "ReduceMax",
        (18, 20),
        3,
        {"noop_with_empty_axes": 1},
        Reduce(MAX, (), True, FIRST, True),
        "noop_with_empty_axes leaves every axis",
    ),
    row(
        "ReduceMin",
        (18, 20),
        3,
        {"noop_with_empty_axes": 1},
        Reduce(MIN, (), True, FIRST, True),
        "noop_with_empty_axes leaves every axis",
    ),
]
HARDMAX = [
    row("Hardmax", (13,), 3, {}, OneHot((2,)), "13 takes the last axis"),
    row("Hardmax", (13,), 3, {"axis": 0}, OneHot((0,)), "13 takes one axis"),
    row("Hardmax", (1, 11), 3, {}, OneHot((1, 2)), "before 13 the axes from 1 on are one row"),
    row("Hardmax", (1, 11), 3, {"axis": 0}, OneHot((0, 1, 2)), "before 13 axis 0 makes one row of all"),
    row("Hardmax", (1, 11), 3, {"axis": 2}, OneHot((2,)), "before 13 the last axis is itself"),
    row("Hardmax", (11,), 3, {"axis": -3}, OneHot((0, 1, 2)), "11 counts from the end too"),
]
# The k of versions from 10 on is an input, which is 3 here.
SELECTION = [
    row("TopK", (1,), 2, {"k": 3}, TopK(MAX, 1, 3, True), "the largest along the last axis"),
    row("TopK", (10, 11, 24), 2, {}, TopK(MAX, 1, 3, True), "the largest along the last axis"),
    row("TopK", (11, 24), 2, {"axis": -2, "largest": 0, "sorted": 0}, TopK(MIN, 0, 3, False), "the smallest, unsorted"),
]
DIRECTML = [
    row(
        "DML_ARGMAX",
        (0x3000, 0x4100),
        4,
        {"axes": [3, 1]},
        ArgReduce(MAX, (1, 3), True, FIRST, UINT32),
        "axes in any order",
    ),
    row(
        "DML_ARGMIN",
        (0x3000, 0x4100),
        4,
        {"axes": [3, 1]},
        ArgReduce(MIN, (1, 3), True, FIRST, UINT32),
        "axes in any order",
    ),
    row(
        "DML_ARGMAX",
        (0x4100,),
        2,
        {"axes": [0, 1], "axis_direction": 1},
        ArgReduce(MAX, (0, 1), True, LAST, UINT32),
        "decreasing means the last of equals",
    ),
    row(
        "DML_ARGMIN",
        (0x4100,),
        2,
        {"axes": [0, 1], "axis_direction": 1},
        ArgReduce(MIN, (0, 1), True, LAST, UINT32),
        "decreasing means the last of equals",
    ),
    row("DML_REDUCE(MAX)", (0x5000,), 3, {"axes": [2, 0]}, Reduce(MAX, (0, 2), True, FIRST), "the listed axes"),
    row("DML_REDUCE(MIN)", (0x5000,), 3, {"axes": [2, 0]}, Reduce(MIN, (0, 2), True, FIRST), "the listed axes"),
    row("DML_TOP_K", (0x5000,), 2, {"axis": 1, "k": 3}, TopK(MAX, 1, 3, True), "the largest"),
    row(
        "DML_TOP_K1",
        (0x5000,),
        2,
        {"axis": 0, "k": 3, "axis_direction": 0},
        TopK(MIN, 0, 3, True),
        "increasing means the smallest",
    ),
    row(
        "DML_TOP_K1",
        (0x5000,),
        2,
        {"axis": 0, "k": 3, "axis_direction": 1},
        TopK(MAX, 0, 3, True),
        "decreasing means the largest",
    ),
]


@pytest.mark.parametrize(
    ("name", "versions", "rank", "given", "expected"),
    [*INDEX, *ELEMENTWISE, *REDUCTION, *HARDMAX, *SELECTION, *DIRECTML],
)
def test_lower(name, versions, rank, given, expected):
    is_directml = name.startswith("DML_")
    for version in versions:
        schema = spec.find(spec.DIRECTML if is_directml else spec.ONNX, name, version)
        # The only second input here is the k of TopK.
        types = [TensorType(), TensorType("int64", (1,), (3,))][: schema.least_inputs]
        attributes = validate.attributes(schema, given, types)
        operation = lower.operation(schema, attributes, rank, "uint32" if is_directml else None)
        assert operation == expected, f"in version {version}"
