"""`max`, `min`, `minmax`, and the options they share with `argmax` and `argmin`: held to the reference, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremum as ex
import twins
from agreement import EVERY_SET, assert_extremes, assert_identical, kernels
from extremum.errors import ArgumentError, ElementTypeError
from law_cases import Laid, arrays_and_axes, search
from layouts import LAYOUTS
from refusal import error_of, refusal
from strategies import BFLOAT16, ELEMENT_TYPES, FLOATS, nans, sample, sometimes

REDUCTIONS = (ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax)


@st.composite
def masks(draw, shape):
    """No mask, or one that broadcasts to the shape: full, empty, sparse, laid out in any way."""
    share = draw(st.sampled_from([None, 0.0, 0.1, 0.5, 0.95, 1.0]))
    if share is None:
        return None
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    own = tuple(1 if draw(st.booleans()) and draw(st.booleans()) else n for n in shape)
    mask = np.asarray(rng.random(own) < share)
    return draw(st.sampled_from(LAYOUTS))(mask, rng)


@given(st.data(), arrays_and_axes(), st.sampled_from(["propagate", "omit"]))
def test_values_and_indices_are_the_references_on_any_threads_and_instruction_set(data, case, policy):
    x, axes = case
    memory = Laid(x)
    ways = ({}, {"threads": 3, "small_limit": 0}, *EVERY_SET)
    assert_extremes(x, axes, data.draw(masks(x.shape)), policy, search, ways)
    assert memory.untouched


@pytest.mark.parametrize("dtype", sometimes(ELEMENT_TYPES))
@pytest.mark.parametrize("shape", [(40000,), (300, 500), (500, 300), (70, 40, 60), (4096, 3), (3, 4096)], ids=str)
def test_large_arrays_along_every_axis(dtype, shape):
    rng = np.random.default_rng(sum(shape))
    x = sample(rng, dtype, shape)
    for where, policy in ((None, "propagate"), (rng.random(shape) < 0.3, "propagate"), (None, "omit")):
        for axes in (*((axis,) for axis in range(x.ndim)), tuple(range(x.ndim))):
            assert_extremes(x, axes, where, policy, twins.find)


@pytest.mark.parametrize("dtype", sometimes(FLOATS))
@pytest.mark.parametrize("shape", [(1, 40), (2, 3), (5, 700), (9, 64), (90, 150), (3, 8, 33)], ids=str)
def test_columns_of_nan_alone_are_told_from_columns_with_the_lowest_number(dtype, shape):
    rng = np.random.default_rng(sum(shape))
    x = rng.choice(np.array([np.nan, -np.inf, np.inf, -0.0, 0.0, 1.0]), shape, p=[0.5, 0.4, *[0.025] * 4])
    x[..., ::3] = np.nan
    for values in (x, -x):
        assert_extremes(values.astype(dtype), (0,), None, "omit", ways=({}, *EVERY_SET))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
def test_reduced_axes_go_or_have_length_one(axis):
    x = np.random.default_rng(1).integers(0, 9, (3, 4, 5))
    for function, numpys in ((ex.max, np.max), (ex.min, np.min)):
        for keepdims in (False, True):
            assert_identical(function(x, axis, keepdims=keepdims), numpys(x, axis, keepdims=keepdims))
            best = function(x, axis, keepdims=keepdims, return_index=True)
            index = getattr(ex, f"arg{function.__name__}")(x, axis, keepdims=keepdims)
            assert_identical(best.indices, index)
    low, high = ex.minmax(x, axis)
    assert_identical(low, x.min(axis))
    assert_identical(high, x.max(axis))


def test_a_default_beside_an_unsigned_index_is_refused():
    text = refusal(ArgumentError, ex.max, [1.0], default=0.0, return_index=True, index_dtype="uint32")
    assert text == "max: the index of a default value is -1, which does not fit uint32"
    for x in ([1.0], np.ones(1)):
        text = refusal(ArgumentError, ex.argmax, x, default=-1, dtype="uint64")
        assert text == "argmax: default=-1 does not fit uint64"


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("options", [{}, {"nan_policy": "omit"}, {"where": True}], ids=str)
@pytest.mark.parametrize(("shape", "axis"), [((2, 0), 1), ((0, 0), 1), ((0, 4, 0), (1, 2)), ((3, 0, 0), -1)])
def test_an_axis_without_elements_needs_a_default_also_where_the_result_is_empty(function, options, shape, axis):
    x = np.zeros(shape)
    assert "hold no element" in refusal(ArgumentError, function, x, axis=axis, **options)
    answer = function(x, axis=axis, default=7, **options)
    results = answer if isinstance(answer, tuple) else (answer,)
    for each in results:
        assert np.asarray(each).tolist() == [7, 7] if shape == (2, 0) else np.size(each) == 0


def test_the_default_of_both_ends_may_be_a_pair():
    assert ex.minmax(np.zeros((0,)), default=(5.0, -5.0)) == (5.0, -5.0)
    assert refusal(ArgumentError, ex.minmax, [1], default=(1, 2, 3)) == "minmax: default has 3 values"


@pytest.mark.parametrize("function", [ex.argmax, ex.max, ex.minmax, ex.hardmax], ids=lambda function: function.__name__)
def test_nan_is_an_error_under_raise(function):
    name = function.__name__
    x = np.array([[1.0, 2.0], [3.0, np.nan]])
    text = f"{name}: the slice at (1,{' 0' if name == 'hardmax' else ''}) of the result holds NaN"
    assert refusal(ArgumentError, function, x, axis=1, nan_policy="raise") == text
    mask = np.array([[True, True], [True, False]])
    answer = function(x, axis=1, nan_policy="raise", where=mask)
    assert np.isfinite(np.asarray(answer)).all()
    assert np.isfinite(np.asarray(function(x[:1], axis=1, nan_policy="raise"))).all()


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"nan_policy": ""}, ArgumentError, "max: there is no NaN policy ''"),
        ({"nan_policy": 3}, ArgumentError, "max: there is no NaN policy 3"),
        ({"where": [1, 0]}, ElementTypeError, "max: where has element type int64, not bool"),
        (
            {"where": [[True, False, True]]},
            ArgumentError,
            "max: where has shape (1, 3), which does not broadcast to the shape (2,) of the array",
        ),
        ({"default": "x"}, ElementTypeError, "max: default is 'x', which is not an element of int8"),
        ({"default": 1.5}, ElementTypeError, "max: default is 1.5, which is not an element of int8"),
        ({"default": 300}, ArgumentError, "max: default=300 does not fit int8"),
    ],
)
def test_bad_options_are_refused(options, error, text):
    assert refusal(error, ex.max, np.array([1, 2], np.int8), **options) == text


@pytest.mark.parametrize("function", [ex.argmax, ex.argmin, ex.max, ex.min])
def test_out_is_filled_or_left_alone(function):
    x = np.array([[1.0, np.nan], [np.nan, np.nan]])
    out = np.full(2, 9, np.int64 if "arg" in function.__name__ else np.float64)
    error_of(ArgumentError, function, x, axis=1, nan_policy="omit", out=out)
    assert out.tolist() == [9, 9]
    assert function(x, axis=1, nan_policy="omit", default=0, out=out) is out
    assert out.tolist() == ([0, 0] if "arg" in function.__name__ else [1, 0])


def test_a_slice_without_an_element_is_named():
    x = np.array([[1.0, 2.0], [np.nan, np.nan]])
    text = refusal(ArgumentError, ex.argmax, x, axis=1, nan_policy="omit")
    assert text == "argmax: the slice at (1,) of the result has no element to choose from: all are NaN or masked"
    text = refusal(ArgumentError, ex.argmax, x, where=False)
    assert text == "argmax: the array has no element to choose from: all are masked"


def test_hardmax_of_a_slice_without_an_element_has_no_one():
    x = np.array([[1.0, np.nan, 1.0], [np.nan, np.nan, np.nan]])
    assert ex.hardmax(x, nan_policy="omit").tolist() == [[1, 0, 0], [0, 0, 0]]
    assert ex.hardmax(x, where=[True, False, False]).tolist() == [[1, 0, 0], [1, 0, 0]]
    assert ex.hardmax(x, (0, 1), where=[[False] * 3, [False] * 3]).tolist() == [[0] * 3] * 2


@given(arrays_and_axes(least_axes=1), st.integers(0, 2**32 - 1))
def test_hardmax_marks_what_argmax_finds(case, seed):
    x, axes = case
    where = np.random.default_rng(seed).random(x.shape) < 0.6
    index = ex.argmax(x, axes, where=where, default=-1, keepdims=True)
    expected = twins.ones_at(index, axes, x.shape).astype(x.dtype.newbyteorder("="))
    for way in EVERY_SET:
        with kernels(**way):
            assert_identical(ex.hardmax(x, axes, where=where), expected)


@pytest.mark.parametrize("dtype", ["float32", "int16", BFLOAT16, "m8[s]"], ids=str)
@pytest.mark.parametrize("options", [{"nan_policy": "omit"}, {"nan_policy": "raise"}, {"where": True}], ids=str)
def test_hardmax_of_more_slices_than_numpy_reads_at_a_time(dtype, options):
    expected = np.tile([[1, 0], [0, 1]], (4100, 1))
    x = expected.astype(dtype)
    assert_identical(ex.hardmax(x, **options), expected.astype("i8" if dtype == "m8[s]" else dtype))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("policy", ["propagate", "omit", "raise"])
def test_a_signalling_nan_warns_of_nothing(dtype, policy):
    x = np.concatenate([nans(dtype), np.zeros(1, dtype)])
    with np.errstate(all="raise"):
        for function in (ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax, ex.hardmax, ex.maximum, ex.minimum):
            for where in (None, True):
                if policy == "raise":
                    assert "NaN" in refusal(ArgumentError, function, x, nan_policy=policy, where=where)
                else:
                    function(x, nan_policy=policy, where=where)


def test_hardmax_is_along_the_last_axis_unless_another_is_named():
    x = np.array([[1.0, 3.0, 3.0], [np.nan, 5.0, np.nan], [-0.0, 0.0, -1.0]])
    assert ex.hardmax(x).tolist() == [[0, 1, 0], [1, 0, 0], [1, 0, 0]]
    assert_identical(ex.hardmax(np.array(2.0), ()), np.float64(1))
    for whole in (x, np.array(2.0)):
        for each in (whole, whole.astype("m8[s]"), whole.tolist()):
            for options in ({}, {"nan_policy": "propagate"}, {"where": True}):
                assert_identical(ex.hardmax(each, None, **options), ex.hardmax(each, tuple(range(whole.ndim))))
    for shape in ((0,), (0, 3), (3, 0), (2, 0, 3)):
        for axis in (0, -1, tuple(range(len(shape)))):
            assert_identical(ex.hardmax(np.empty(shape, np.float32), axis), np.empty(shape, np.float32))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("omit", [False, True], ids=["mask", "NaN"])
def test_both_ends_of_an_empty_slice_have_the_default(dtype, omit):
    x = np.array([[1, 5, 3], [2, 6, 4], [7, 8, 9]], dtype)
    there = np.array([[True, True, False], [False] * 3, [True] * 3])
    options = {"where": there}
    if omit:
        x[~there] = np.nan
        options = {"nan_policy": "omit"}
    # A float is written by the native module, and an integer by Python.
    for default in (0.5, -4):
        low, high = ex.minmax(x, 1, default=default, **options)
        assert low.tolist() == [1, default, 7]
        assert high.tolist() == [5, default, 9]
