"""Each version becomes the core operation it means."""

import numpy as np
import pytest

from extremum import lower, spec, validate
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Reduce, Tie, TopK
from extremum.tensors import TensorType

INT64, UINT32 = np.dtype("int64"), np.dtype("uint32")
DML = spec.DIRECTML
CASES = [
    ("", "ReduceMax", 13, 0, {}, Reduce(Order.MAX, (), True, Tie.FIRST, True)),
    ("", "ReduceMax", 13, 2, {"axes": []}, Reduce(Order.MAX, (0, 1), True, Tie.FIRST, True)),
    ("", "Min", 1, 2, {"consumed_inputs": [0, 1]}, Extremum(Order.MIN)),
]
for suffix, order in (("Max", Order.MAX), ("Min", Order.MIN)):
    for opset in (1, 11, 12, 13):
        CASES += [
            ("", f"Arg{suffix}", opset, 3, {}, ArgReduce(order, (0,), True, Tie.FIRST, INT64)),
            (
                "",
                f"Arg{suffix}",
                opset,
                3,
                {"axis": -1, "keepdims": 0},
                ArgReduce(order, (2,), False, Tie.FIRST, INT64),
            ),
        ]
    for opset in (12, 13):
        last = ArgReduce(order, (0,), True, Tie.LAST, INT64)
        CASES.append(("", f"Arg{suffix}", opset, 1, {"select_last_index": 1}, last))
    CASES += [("", suffix, opset, 2, {}, Extremum(order)) for opset in (1, 6, 8, 12, 13)]
    for opset in (1, 11, 12, 13, 18, 20):
        # Version 12 does not say what the result for no elements is.
        says = opset != 12
        some, axes = ({"axes": [-1, 0]}, (0, 2)) if opset < 18 else ({"noop_with_empty_axes": 1}, ())
        CASES += [
            ("", f"Reduce{suffix}", opset, 2, {}, Reduce(order, (0, 1), True, Tie.FIRST, says)),
            ("", f"Reduce{suffix}", opset, 2, {"keepdims": 0}, Reduce(order, (0, 1), False, Tie.FIRST, says)),
            ("", f"Reduce{suffix}", opset, 3, some, Reduce(order, axes, True, Tie.FIRST, says)),
        ]
    name, last = f"DML_ARG{suffix.upper()}", {"axes": [0, 1], "axis_direction": 1}
    reduced = Reduce(order, (0, 2), True, Tie.FIRST)
    CASES += [
        (DML, f"DML_REDUCE({suffix.upper()})", 0x5000, 3, {"axes": [2, 0]}, reduced),
        (DML, name, 0x3000, 4, {"axes": [3, 1]}, ArgReduce(order, (1, 3), True, Tie.FIRST, UINT32)),
        (DML, name, 0x4100, 2, last, ArgReduce(order, (0, 1), True, Tie.LAST, UINT32)),
    ]
CASES += [
    ("", "Hardmax", opset, 3, given, OneHot(axes))
    for opset, given, axes in (
        (13, {}, (2,)),
        (13, {"axis": 0}, (0,)),
        *((opset, {}, (1, 2)) for opset in (1, 11)),
        *((opset, {"axis": 0}, (0, 1, 2)) for opset in (1, 11)),
        *((opset, {"axis": 2}, (2,)) for opset in (1, 11)),
        (11, {"axis": -3}, (0, 1, 2)),
    )
]
CASES += [
    ("", "TopK", 1, 2, {"k": 3}, TopK(Order.MAX, 1, 3, True)),
    ("", "TopK", 11, 2, {"axis": -2, "largest": 0, "sorted": 0}, TopK(Order.MIN, 0, 3, False)),
    (DML, "DML_TOP_K", 0x5000, 2, {"axis": 1, "k": 3}, TopK(Order.MAX, 1, 3, True)),
    *(
        (DML, "DML_TOP_K1", 0x5000, 2, {"axis": 0, "k": 3, "axis_direction": at}, TopK(order, 0, 3, True))
        for at, order in enumerate((Order.MIN, Order.MAX))
    ),
]


@pytest.mark.parametrize(("domain", "name", "version", "rank", "given", "expected"), CASES)
def test_lower(domain, name, version, rank, given, expected):
    schema = spec.find(domain, name, version)
    index = "uint32" if domain == DML else None
    # The only second input here is the k of TopK.
    types = [TensorType(), TensorType("int64", (1,), (3,))][: schema.least_inputs]
    assert lower.operation(schema, validate.attributes(schema, given, types), rank, index) == expected
