"""Each version becomes the core operation it means."""

import numpy as np
import pytest

from extremum import lower, spec, validate
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Reduce, Tie

INT64 = np.dtype("int64")


def lowered(name, opset, rank, domain=spec.ONNX, index=None, **attributes):
    row = spec.find(domain, name, opset)
    return lower.operation(row, validate.attributes(row, attributes), rank, index)


@pytest.mark.parametrize("opset", [1, 11, 12, 13])
@pytest.mark.parametrize(("name", "order"), [("ArgMax", Order.MAX), ("ArgMin", Order.MIN)])
def test_arg(name, order, opset):
    assert lowered(name, opset, 3) == ArgReduce(order, (0,), True, Tie.FIRST, INT64)
    assert lowered(name, opset, 3, axis=-1, keepdims=0) == ArgReduce(order, (2,), False, Tie.FIRST, INT64)


@pytest.mark.parametrize("opset", [12, 13])
def test_last_index(opset):
    assert lowered("ArgMax", opset, 1, select_last_index=1) == ArgReduce(Order.MAX, (0,), True, Tie.LAST, INT64)


@pytest.mark.parametrize("opset", [1, 6, 8, 12, 13])
def test_elementwise(opset):
    assert lowered("Max", opset, 2) == Extremum(Order.MAX)
    assert lowered("Min", opset, 2) == Extremum(Order.MIN)


def test_hardmax():
    assert lowered("Hardmax", 13, 3) == OneHot((2,))
    assert lowered("Hardmax", 13, 3, axis=0) == OneHot((0,))
    for opset in (1, 11):
        assert lowered("Hardmax", opset, 3) == OneHot((1, 2))
        assert lowered("Hardmax", opset, 3, axis=0) == OneHot((0, 1, 2))
        assert lowered("Hardmax", opset, 3, axis=2) == OneHot((2,))


@pytest.mark.parametrize(("name", "order"), [("ReduceMax", Order.MAX), ("ReduceMin", Order.MIN)])
@pytest.mark.parametrize("opset", [1, 11, 12, 13, 18, 20])
def test_reduce(name, order, opset):
    identity = opset != 12
    assert lowered(name, opset, 2) == Reduce(order, (0, 1), True, Tie.FIRST, identity)
    assert lowered(name, opset, 2, keepdims=0) == Reduce(order, (0, 1), False, Tie.FIRST, identity)
    if opset < 18:
        assert lowered(name, opset, 3, axes=[-1, 0]) == Reduce(order, (0, 2), True, Tie.FIRST, identity)
    else:
        assert lowered(name, opset, 3, noop_with_empty_axes=1) == Reduce(order, (), True, Tie.FIRST, identity)


@pytest.mark.parametrize(("name", "order"), [("DML_REDUCE(MAX)", Order.MAX), ("DML_REDUCE(MIN)", Order.MIN)])
def test_directml_reduce(name, order):
    assert lowered(name, 0x5000, 3, spec.DIRECTML, axes=[2, 0]) == Reduce(order, (0, 2), True, Tie.FIRST)


@pytest.mark.parametrize(("name", "order"), [("DML_ARGMAX", Order.MAX), ("DML_ARGMIN", Order.MIN)])
def test_directml(name, order):
    first = lowered(name, 0x3000, 4, spec.DIRECTML, "uint32", axes=[3, 1])
    assert first == ArgReduce(order, (1, 3), True, Tie.FIRST, np.dtype("uint32"))
    last = lowered(name, 0x4100, 2, spec.DIRECTML, axes=[0, 1], axis_direction=1)
    assert last == ArgReduce(order, (0, 1), True, Tie.LAST, INT64)
