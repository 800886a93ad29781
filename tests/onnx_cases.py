"""Questions to the ONNX operators in every version, and the answers that the versions promise.

What a version means is written down here once more, in NumPy's terms, so that a wrong row or a wrong lowering shows.
"""

import numpy as np
from onnx import helper

from extremum import backend, dtypes, reference, spec
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Reduce, Tie
from strategies import sample

VERSIONS = [row for rows in spec.OPERATORS.values() for row in rows if row.domain == spec.ONNX]
ROWS = [(row, element) for row in VERSIONS for element in dtypes.ELEMENT_TYPES]
ACCEPTED = [(row, element) for row, element in ROWS if element.name in row.types]


def _shape_of(rng, rank, minimum=0):
    """Sides that keep the number of elements low enough for the reference, with a 0 now and then."""
    shape = rng.integers(1, 2 + 24 // max(rank, 1) ** 2 + 1, rank)
    if rank and rng.random() < 0.2:
        shape[rng.integers(rank)] = minimum
    return [int(size) for size in shape]


def _arg(row, rng, dtype):
    rank = int(rng.integers(1, 9))
    shape, axis = _shape_of(rng, rank), int(rng.integers(rank))
    shape[axis] = max(shape[axis], 1)
    attributes = {"axis": axis - rank * int(rng.integers(2)), "keepdims": int(rng.integers(2))}
    if row.since >= 12:
        attributes["select_last_index"] = int(rng.integers(2))
    if axis == 0 and rng.random() < 0.5:
        del attributes["axis"]
    if attributes["keepdims"] and rng.random() < 0.5:
        del attributes["keepdims"]
    return attributes, [sample(rng, dtype, shape)]


def _hardmax(row, rng, dtype):
    rank = int(rng.integers(1 if row.since >= 13 else 2, 9))
    axis = int(rng.integers(rank))
    attributes = {"axis": axis - rank * int(rng.integers(2))}
    if axis == (rank - 1 if row.since >= 13 else 1) and rng.random() < 0.5:
        attributes = {}
    return attributes, [sample(rng, dtype, _shape_of(rng, rank))]


def _elementwise(row, rng, dtype):
    shape = _shape_of(rng, int(rng.integers(9)))
    operands = []
    for _ in range(rng.integers(1, 5)):
        own = shape
        if row.since >= 8:
            own = [1 if rng.random() < 0.2 else size for size in shape][rng.integers(len(shape) + 1) :]
        operands.append(sample(rng, dtype, own))
    return {"consumed_inputs": [0] * len(operands)} if row.since == 1 and rng.random() < 0.5 else {}, operands


def _reduction(row, rng, dtype):
    """Axes from either end in any sequence, an empty list of them, or none given; from 18 on as an input."""
    rank = int(rng.integers(9))
    attributes, x = {}, sample(rng, dtype, _shape_of(rng, rank, minimum=int(not row.identity)))
    axes = rng.permutation(rank)[: rng.integers(rank + 1)]
    axes = [int(axis) - rank * int(rng.integers(2)) for axis in axes]
    given = bool(axes) if row.since < 18 else rng.random() < 0.8
    if rng.random() < 0.7:
        attributes["keepdims"] = int(rng.integers(2))
    if row.since >= 18 and rng.random() < 0.5:
        attributes["noop_with_empty_axes"] = int(rng.integers(2))
    if given and row.since < 18:
        attributes["axes"] = axes
    return attributes, [x, np.array(axes, np.int64)] if given and row.since >= 18 else [x]


_QUESTIONS = {
    "ArgMax": _arg,
    "ArgMin": _arg,
    "Hardmax": _hardmax,
    "Max": _elementwise,
    "Min": _elementwise,
    "ReduceMax": _reduction,
    "ReduceMin": _reduction,
}


def question(row, rng, dtype):
    """Attributes and inputs that a version takes."""
    return _QUESTIONS[row.name](row, rng, dtype)


def answer(row, attributes, inputs):
    """What the version promises."""
    order = Order.MIN if row.name.endswith("Min") else Order.MAX
    if row.name in ("Max", "Min"):
        return reference.run(Extremum(order), *inputs)
    x, *listed = inputs
    if row.name.startswith("Reduce"):
        axes = [axis % x.ndim for axis in (listed[0].tolist() if listed else attributes.get("axes", []))]
        if not axes and not attributes.get("noop_with_empty_axes"):
            axes = range(x.ndim)
        keepdims = attributes.get("keepdims", 1) == 1
        return reference.run(Reduce(order, tuple(axes), keepdims, Tie.FIRST, identity=row.since != 12), x)
    if row.name == "Hardmax":
        axis = attributes.get("axis", -1 if row.since >= 13 else 1) % x.ndim
        return reference.run(OneHot((axis,) if row.since >= 13 else tuple(range(axis, x.ndim))), x)
    axis, keepdims = attributes.get("axis", 0) % x.ndim, attributes.get("keepdims", 1) == 1
    tie = Tie.LAST if attributes.get("select_last_index") else Tie.FIRST
    return reference.run(ArgReduce(order, (axis,), keepdims, tie, np.int64), x)


def run(row, attributes, inputs):
    names = [f"x{position}" for position in range(len(inputs))]
    node = helper.make_node(row.name, names, ["y"], **attributes)
    (result,) = backend.run_node(node, inputs, opset_version=row.since)
    return result
