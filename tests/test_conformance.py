"""Every ONNX operator, version and element type against the plain reference, bit by bit; and every refusal of a type.

What a version means is written down here once more, in NumPy's terms, so that a wrong row or a wrong lowering shows.
"""

import numpy as np
import pytest
from onnx import helper

from agreement import assert_same_bits
from extremum import backend, dtypes, reference, spec
from extremum.errors import ElementTypeError
from extremum.operations import Order, Tie
from strategies import sample

VERSIONS = [row for rows in spec.OPERATORS.values() for row in rows if row.domain == spec.ONNX]
ROWS = [(row, element) for row in VERSIONS for element in dtypes.ELEMENT_TYPES]
ACCEPTED = [(row, element) for row, element in ROWS if element.name in row.types]
REFUSED = [(row, element) for row, element in ROWS if element.name not in row.types]
CASES_PER_ROW = 24


def label(value):
    return getattr(value, "name", None) if isinstance(value, dtypes.ElementType) else str(value)


def test_number_of_rows():
    assert len(ROWS) == 21 * 13
    assert len(ACCEPTED) == 164
    assert len(REFUSED) == 109


def shape_of(rng, rank, minimum=0):
    """Sides that keep the number of elements low enough for the reference, with a 0 now and then."""
    shape = rng.integers(1, 2 + 24 // max(rank, 1) ** 2 + 1, rank)
    if rank and rng.random() < 0.2:
        shape[rng.integers(rank)] = minimum
    return [int(size) for size in shape]


def arg(row, rng, dtype):
    rank = int(rng.integers(1, 9))
    shape, axis = shape_of(rng, rank), int(rng.integers(rank))
    shape[axis] = max(shape[axis], 1)
    x = sample(rng, dtype, shape)
    given = {"axis": axis - rank * int(rng.integers(2)), "keepdims": int(rng.integers(2))}
    if row.since >= 12:
        given["select_last_index"] = int(rng.integers(2))
    if axis == 0 and rng.random() < 0.5:
        del given["axis"]
    if given["keepdims"] and rng.random() < 0.5:
        del given["keepdims"]
    order = Order.MAX if row.name == "ArgMax" else Order.MIN
    tie = Tie.LAST if given.get("select_last_index") else Tie.FIRST
    return given, [x], reference.arg_reduce(x, order, [axis], given.get("keepdims", 1) == 1, tie, np.int64)


def hardmax(row, rng, dtype):
    rank = int(rng.integers(1 if row.since >= 13 else 2, 9))
    axis = int(rng.integers(rank))
    x = sample(rng, dtype, shape_of(rng, rank))
    given = {"axis": axis - rank * int(rng.integers(2))}
    if axis == (rank - 1 if row.since >= 13 else 1) and rng.random() < 0.5:
        given = {}
    return given, [x], reference.one_hot(x, [axis] if row.since >= 13 else range(axis, rank))


def elementwise(row, rng, dtype):
    shape = shape_of(rng, int(rng.integers(9)))
    operands = []
    for _ in range(rng.integers(1, 5)):
        own = shape
        if row.since >= 8:
            own = [1 if rng.random() < 0.2 else size for size in shape][rng.integers(len(shape) + 1) :]
        operands.append(sample(rng, dtype, own))
    given = {"consumed_inputs": [0] * len(operands)} if row.since == 1 and rng.random() < 0.5 else {}
    return given, operands, reference.extremum(Order.MAX if row.name == "Max" else Order.MIN, *operands)


MEANING = {"ArgMax": arg, "ArgMin": arg, "Hardmax": hardmax, "Max": elementwise, "Min": elementwise}


def run(row, given, inputs):
    names = [f"x{position}" for position in range(len(inputs))]
    node = helper.make_node(row.name, names, ["y"], **given)
    (result,) = backend.run_node(node, inputs, opset_version=row.since)
    return result


@pytest.mark.parametrize(("row", "element"), ACCEPTED, ids=label)
def test_accepted(row, element):
    rng = np.random.default_rng([row.since, *row.name.encode(), *element.name.encode()])
    for _ in range(CASES_PER_ROW):
        given, inputs, expected = MEANING[row.name](row, rng, element.dtype)
        before = [x.tobytes() for x in inputs]
        actual = run(row, given, inputs)
        assert_same_bits(actual, expected, f"{row} {given} of {inputs!r}")
        assert before == [x.tobytes() for x in inputs]


@pytest.mark.parametrize(("row", "element"), REFUSED, ids=label)
def test_refused(row, element):
    x = np.ones((2, 2), element.dtype)
    with pytest.raises(ElementTypeError) as caught:
        run(row, {}, [x])
    assert caught.value.reason.startswith(f"{row} does not take {element.name}")
    assert caught.value.remedy == f"the element types of {row} are: {', '.join(row.types)}"
