"""Elements that are not there are refused wherever an array comes in; none is compared as if it were there.

The libraries themselves are too large to install for this: small classes speak as they do. What they stand for was seen
with pandas 3.1, PyArrow 26.0, Polars 2.1, Dask 2026.8, astropy 8.0 and PyTorch 2.15.
"""

from collections import UserList, deque

import numpy as np
import pytest

import extremum
from agreement import assert_same_bits
from extremum.arrays import as_array
from extremum.errors import ArgumentError
from refusal import refusal

FUNCTIONS = (extremum.argmax, extremum.argmin, extremum.maximum, extremum.minimum, extremum.hardmax)
VALUES = np.array([1.0, 9.0, 3.0])
MASKED = np.ma.array(VALUES, mask=[False, True, False])
ONE = "element would be compared as if it were there"


class Elements:
    """An array of another library, which hands out its elements by `__array__`."""

    dtype = VALUES.dtype

    def __init__(self, values=VALUES):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values


class Arrow(Elements):
    null_count = 1


class Polars(Elements):
    def null_count(self):
        return 1


class PolarsTable(Elements):
    columns = ["a", "b"]  # noqa: RUF012

    def null_count(self):
        return Elements(np.array([[0, 1]]))


class ArrowTable(Elements):
    columns = [Arrow(), Elements()]  # noqa: RUF012


class Pandas(Elements):
    dtype = "Int64"

    def isna(self):
        return np.array([False, True, False])


class PandasTable(Pandas):
    dtypes = Elements(np.array([np.dtype("int64"), "Int64"], dtype=object))


class PandasOfPlainFloats(Pandas):
    """NaN in a column of NumPy's own type is an element like others."""

    dtype = VALUES.dtype


class Masked(np.ndarray):
    """astropy's array with a mask: a subclass that is not NumPy's."""

    mask = np.array([False, True, False])


class Torch(Elements):
    """PyTorch's array with a mask, which is True where an element is there."""

    def get_mask(self):
        return Elements(np.array([True, False, True]))

    def get_data(self):
        return self.values


class Dask(Elements):
    """Dask's array drops the mask when it is asked for its elements."""

    _meta = np.ma.array([])

    def compute(self):
        return MASKED


MISSING = {
    "masked": MASKED,
    "masked, as 2-D": MASKED[None],
    "masked scalar": np.ma.masked,
    "list of masked": [MASKED, MASKED],
    "list with a masked scalar": [1.0, np.ma.masked, 2.0],
    "nested list of masked": [[VALUES, VALUES], (VALUES, MASKED)],
    "deque of masked": deque([MASKED]),
    "UserList of masked": UserList([MASKED]),
    "__array__ that gives masked": Elements(MASKED),
    "arrow": Arrow(),
    "arrow table": ArrowTable(),
    "list of arrow": [Arrow(), Elements()],
    "polars": Polars(),
    "polars table": PolarsTable(),
    "pandas": Pandas(),
    "pandas table": PandasTable(),
    "astropy": VALUES.view(Masked),
    "torch": Torch(),
    "dask": Dask(),
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("x", MISSING.values(), ids=MISSING.keys())
def test_missing_elements_are_refused(function, x):
    if isinstance(x, np.ma.MaskedArray) and function not in (extremum.maximum, extremum.minimum):
        # A mask says what takes part in a reduction.
        assert np.asarray(
            function(x if x.ndim else MASKED, where=False, **({} if function is extremum.hardmax else {"default": 7}))
        ).max() in (0, 7)
        return
    reason = refusal(ArgumentError, function, x)
    assert reason.endswith(
        ("element would be compared as if it were there", "elements would be compared as if they were there")
    )


@pytest.mark.parametrize("place", [0, 1, 2])
def test_among_other_operands_too(place):
    operands = [VALUES, VALUES, VALUES]
    operands[place] = MASKED
    for function in (extremum.maximum, extremum.minimum):
        assert refusal(ArgumentError, function, *operands) == f"1 masked {ONE}"
        assert refusal(ArgumentError, function, 1, MASKED, 2) == f"1 masked {ONE}"


def test_the_whole_text():
    with pytest.raises(ArgumentError) as caught:
        extremum.maximum(np.ma.masked_greater(VALUES, 2), 1)
    assert str(caught.value) == (
        "2 masked elements would be compared as if they were there\n"
        "  at    maximum\n"
        f"  given {np.ma.MaskedArray.__module__}.MaskedArray\n"
        "  help  fill or drop them first, as x.filled(value) or x.compressed() does"
    )


def test_out_with_masked_elements_is_refused():
    index = np.ma.array([0], mask=[True])
    for call in (
        lambda: extremum.argmax(VALUES, keepdims=True, out=index),
        lambda: extremum.argmin(VALUES, keepdims=True, out=index),
        lambda: extremum.maximum(VALUES, out=MASKED.copy()),
        lambda: extremum.minimum(VALUES, 2, out=MASKED.copy()),
        lambda: extremum.hardmax(VALUES, out=MASKED.copy()),
    ):
        assert refusal(ArgumentError, call) == f"1 masked {ONE}"
    assert index.data.tolist() == [0]


def itself():
    x = [1.0]
    x.append(x)
    return x


@pytest.mark.parametrize(
    "x",
    [
        np.ma.array(VALUES),
        np.ma.array(VALUES, mask=[False] * 3),
        [np.ma.array(VALUES)],
        Elements(np.ma.array(VALUES)),
        PandasOfPlainFloats(),
        [1.0, np.float32(9), np.array(3)],
    ],
    ids=["no mask", "an open mask", "a list", "__array__", "NaN of NumPy's own type", "numbers"],
)
def test_what_has_all_its_elements_comes_in(x):
    assert_same_bits(as_array(x).reshape(-1), VALUES)
    assert type(as_array(x)) is np.ndarray
    assert extremum.argmax(x) == 1


def test_a_list_that_holds_itself_ends():
    with pytest.raises((TypeError, ValueError)):
        extremum.argmax(itself())


def test_masked_out_of_all_elements_is_filled():
    out = np.ma.array([0.0, 0.0, 0.0])
    assert extremum.maximum(VALUES, out=out) is out
    assert out.tolist() == VALUES.tolist()
