"""Random calls of the ONNX operators in every version, and the answers that the versions promise."""

import numpy as np
from onnx import helper

from extremum import backend, lower, reference, spec, validate
from extremum.graph.operands import operand_types
from extremum.operations import results
from extremum.tensors import ELEMENT_TYPES
from strategies import sample

VERSIONS = [row for rows in spec.OPERATORS.values() for row in rows if row.domain == spec.ONNX]
ROWS = [(row, element) for row in VERSIONS for element in ELEMENT_TYPES]
ACCEPTED = [(row, element) for row, element in ROWS if element.name in row.types]


def _shape_of(rng, rank, minimum=0):
    """Sides that keep the number of elements low enough for the reference, with a 0 now and then."""
    shape = rng.integers(1, 2 + 24 // max(rank, 1) ** 2 + 1, rank)
    if rank and rng.random() < 0.2:
        shape[rng.integers(rank)] = minimum
    return [int(size) for size in shape]


def _arg(row, rng, dtype):
    rank = int(rng.integers(1, 9))
    shape = _shape_of(rng, rank)
    axis = int(rng.integers(rank))
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
    """Axes counted from either end in any order, an empty list, or no axes at all; from version 18 on as an input."""
    rank = int(rng.integers(9))
    attributes = {}
    x = sample(rng, dtype, _shape_of(rng, rank, minimum=int(not row.identity)))
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


def _top_k(row, rng, dtype):
    rank = int(rng.integers(1, 6))
    shape = _shape_of(rng, rank)
    axis = int(rng.integers(rank))
    k = int(rng.integers(shape[axis] + 1))
    attributes = {"axis": axis - rank * int(rng.integers(2))}
    if axis == rank - 1 and rng.random() < 0.5:
        attributes = {}
    if row.since >= 11:
        attributes.update({name: int(rng.integers(2)) for name in ("largest", "sorted") if rng.random() < 0.7})
    x = sample(rng, dtype, shape)
    return ({**attributes, "k": k}, [x]) if row.since == 1 else (attributes, [x, np.array([k])])


_QUESTIONS = {
    "ArgMax": _arg,
    "ArgMin": _arg,
    "Hardmax": _hardmax,
    "Max": _elementwise,
    "Min": _elementwise,
    "ReduceMax": _reduction,
    "ReduceMin": _reduction,
    "TopK": _top_k,
}


def question(row, rng, dtype):
    """Attributes and inputs that a version takes."""
    return _QUESTIONS[row.name](row, rng, dtype)


def operation(row, attributes, inputs):
    """The core operation that a node of the version stands for, as tests/test_lower.py expects it."""
    types = operand_types(row, inputs)
    return lower.operation(row, validate.attributes(row, attributes, types), inputs[0].ndim)


def answer(row, attributes, inputs):
    """The answer that the version promises: the reference's result of its core operation."""
    return results(reference.run(operation(row, attributes, inputs), *inputs[: row.input.maximum]))


def run(row, attributes, inputs):
    names = [f"x{position}" for position in range(len(inputs))]
    outputs = [f"y{position}" for position in range(len(row.outputs))]
    return backend.run_node(helper.make_node(row.name, names, outputs, **attributes), inputs, opset_version=row.since)
