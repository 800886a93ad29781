"""`unravel`: the way from the row-major index over several axes to one index for each."""

import numpy as np
import pytest
from hypothesis import given

import extremum as ex
from agreement import assert_identical
from extremum.errors import ArgumentError, ArgumentTypeError, AxisError, ElementTypeError
from law_cases import arrays_and_axes
from layouts import LAYOUTS, REPEATING
from refusal import error_of, refusal
from strategies import BEYOND_BUFFERS


@given(arrays_and_axes())
def test_the_indices_lead_to_the_extremum(case):
    x, axes = case
    index = ex.argmax(x, axes, keepdims=True)
    places = list(np.indices(index.shape, sparse=True))
    for axis, place in zip(sorted(axes), ex.unravel(index, x.shape, axes), strict=True):
        places[axis] = place
    assert_identical(x[tuple(places)].astype(x.dtype.newbyteorder("=")), ex.max(x, axes, keepdims=True))


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint32", "uint64"])
def test_numpy_agrees(dtype):
    indices = np.arange(24, dtype=dtype)
    for actual, expected in zip(ex.unravel(indices, (2, 3, 4)), np.unravel_index(indices, (2, 3, 4)), strict=True):
        assert_identical(actual, expected.astype(dtype))


@pytest.mark.parametrize(
    "layout", [layout for layout in LAYOUTS if layout not in REPEATING], ids=lambda each: each.__name__
)
@pytest.mark.parametrize("shape", BEYOND_BUFFERS, ids=str)
def test_indices_of_any_shape_and_layout_are_split_as_the_flat_ones(shape, layout):
    rng = np.random.default_rng(3)
    flat = rng.integers(-1, 10**6, np.prod(shape))
    indices = layout(flat.reshape(shape), rng)
    for actual, numpys in zip(ex.unravel(indices, (1000, 1000)), np.divmod(flat, 1000), strict=True):
        expected = np.where(flat == -1, -1, numpys).reshape(shape)
        assert_identical(actual, expected.astype(indices.dtype))


def test_what_stands_beside_a_default_stays():
    assert [place.tolist() for place in ex.unravel([-1, 5], (2, 3))] == [[-1, 1], [-1, 2]]


def test_a_default_of_a_shape_without_elements_stays_however_long_its_axes():
    for place in ex.unravel([-1, -1], (2**40, 2**30, 0)):
        assert place.tolist() == [-1, -1]


def test_no_axis_is_no_index():
    assert ex.unravel(np.int64(0), (), None) == ()


@pytest.mark.parametrize("axis", range(3))
def test_an_axis_may_be_counted_from_the_end(axis):
    assert ex.unravel([1], (2, 3, 4), axis - 3) == ex.unravel([1], (2, 3, 4), axis) == ([1],)


def test_an_axis_out_of_range_has_the_range_as_its_remedy():
    assert error_of(AxisError, ex.unravel, [0], (2, 3, 4), 3).remedy == "use an axis in [-3, 2]"


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([6], (2, 3)), ArgumentError, "unravel: index 6 is outside the 6 elements of axes (0, 1)"),
        (([-2], (2, 3)), ArgumentError, "unravel: index -2 is outside the 6 elements of axes (0, 1)"),
        (([0], (2, 0)), ArgumentError, "unravel: index 0 is outside the 0 elements of axes (0, 1)"),
        (([0.5], (2, 3)), ElementTypeError, "unravel: indices of type float64"),
        (([0], (2, 3), 2), AxisError, "unravel: axis 2 is out of range for a shape with 2 dimensions"),
        (([0], (2, 3, 4), 5), AxisError, "unravel: axis 5 is out of range for a shape with 3 dimensions"),
        (([0], (2, 3, 4), -4), AxisError, "unravel: axis -4 is out of range for a shape with 3 dimensions"),
        (([0], (2, 3), (0, -2)), AxisError, "unravel: axis 0 is given more than once"),
        (([0], (2, 3, 4), (0, -2, 1, 2)), AxisError, "unravel: axis 1 is given more than once"),
        (([0], 5), ArgumentTypeError, "unravel: shape is 5, not a tuple of integers"),
        (([0], (2, 2.5)), ArgumentTypeError, "unravel: shape is (2, 2.5), not a tuple of integers"),
        (([0], "23"), ArgumentTypeError, "unravel: shape is '23', not a tuple of integers"),
        (([0], (2, -3)), ArgumentError, "unravel: shape (2, -3) has a negative length"),
        (
            ([0], (2**40, 2**30)),
            ArgumentError,
            f"unravel: axes (0, 1) have {2**70} elements, more than an index can count",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments, error, text):
    assert refusal(error, ex.unravel, *arguments) == text
