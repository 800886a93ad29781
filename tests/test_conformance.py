"""Every ONNX operator, version and element type against the plain reference, bit by bit; and refusals of types."""

import numpy as np
import pytest

from agreement import assert_same_bits
from extremum import dtypes
from extremum.errors import ElementTypeError
from onnx_cases import ACCEPTED, ROWS, answer, question, run

REFUSED = [(row, element) for row, element in ROWS if element.name not in row.types]
CASES_PER_ROW = 24


def label(value):
    return getattr(value, "name", None) if isinstance(value, dtypes.ElementType) else str(value)


def test_number_of_rows():
    assert len(ROWS) == 33 * 13
    assert len(ACCEPTED) == 272
    assert len(REFUSED) == 157


@pytest.mark.parametrize(("row", "element"), ACCEPTED, ids=label)
def test_accepted(row, element):
    rng = np.random.default_rng([row.since, *row.name.encode(), *element.name.encode()])
    for _ in range(CASES_PER_ROW):
        given, inputs = question(row, rng, element.dtype)
        before = [x.tobytes() for x in inputs]
        actual = run(row, given, inputs)
        assert_same_bits(actual, answer(row, given, inputs), f"{row} {given} of {inputs!r}")
        assert before == [x.tobytes() for x in inputs]


@pytest.mark.parametrize(("row", "element"), REFUSED, ids=label)
def test_refused(row, element):
    x = np.ones((2, 2), element.dtype)
    with pytest.raises(ElementTypeError) as caught:
        run(row, {}, [x])
    assert caught.value.reason.startswith(f"{row} does not take {element.name}")
    assert caught.value.remedy == f"the element types of {row} are: {', '.join(row.types)}"
