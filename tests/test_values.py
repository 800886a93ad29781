"""`max`, `min`, `minmax`, and the options they share with `argmax` and `argmin`: held to the reference, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremum as ex
from agreement import assert_identical, assert_same_bits, kernels
from extremum import _native, reference
from extremum.errors import ArgumentError, AxisError, ElementTypeError
from extremum.operations import Order, Tie
from law_cases import Laid, arrays_and_axes
from layouts import LAYOUTS
from refusal import refusal
from strategies import ELEMENT_TYPES, FLOATS, INTEGERS, is_nan, sample

POLICIES = ("propagate", "omit")
ENDS = {Order.MAX: (ex.max, ex.argmax), Order.MIN: (ex.min, ex.argmin)}


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


@st.composite
def calls(draw):
    x, axes = draw(arrays_and_axes())
    where = draw(masks(x.shape))
    return x, axes, where, draw(st.sampled_from(POLICIES)), draw(st.sampled_from(Tie))


def as_called(values, indices, axes, x):
    """What a function returns by default: without the axes that were reduced."""
    return values.squeeze(axes).astype(x.dtype.newbyteorder("="), copy=False), indices.squeeze(axes)


def hold(case, order, **options):
    """Hold every function to the reference; where slices have nothing to choose from, with a default and without."""
    x, axes, where, policy, tie = case
    native = x.astype(x.dtype.newbyteorder("="))
    omit = policy == "omit" and native.dtype in FLOATS
    values, indices = reference.find(native, order, axes, tie, omit=omit, where=where)
    values, indices = as_called(values, indices, axes, x)
    common = {"axis": axes, "nan_policy": policy, "where": where, "select_last_index": tie is Tie.LAST, **options}
    extreme, place = ENDS[order]
    context = f"{order} of {x!r}, strides {x.strides}, {common}"
    if (indices == -1).any():
        for function in (extreme, place):
            assert "no element to choose from: all are" in refusal(ArgumentError, function, x, **common)
        default = native.dtype.type(1)
        assert_identical(place(x, **common, default=-1), indices, context)
        values = np.where(indices == -1, default, values).astype(values.dtype)
        common["default"] = default
    else:
        assert_identical(place(x, **common), indices, context)
    assert_identical(extreme(x, **common), values, context)
    both = extreme(x, **common, return_index=True)
    assert_identical(both.values, values, context)
    assert_identical(both.indices, indices, context)


@given(calls(), st.sampled_from(Order))
def test_values_and_indices_are_the_references(case, order):
    memory = Laid(case[0])
    hold(case, order)
    assert memory.untouched


@given(calls(), st.sampled_from(Order), st.sampled_from([0, 32]), st.sampled_from([1, 3]))
def test_neither_instruction_set_nor_threads_change_them(case, order, small_limit, threads):
    for name in _native.instruction_sets():
        with kernels(name, small_limit=small_limit, threads=threads):
            hold(case, order)


@given(calls(), st.booleans())
def test_both_ends_at_once_are_each_end_alone(case, keepdims):
    x, axes, where, policy, tie = case
    options = {
        "axis": axes,
        "keepdims": keepdims,
        "nan_policy": policy,
        "where": where,
        "select_last_index": tie is Tie.LAST,
        "default": x.dtype.type(1),
        "return_index": True,
    }
    low, high, argmin, argmax = ex.minmax(x, **options)
    for (values, indices), function in (((low, argmin), ex.min), ((high, argmax), ex.max)):
        alone = function(x, **options)
        assert_identical(values, alone.values, f"{x!r} {options}")
        assert_identical(indices, alone.indices, f"{x!r} {options}")
    options["return_index"] = False
    assert_identical(ex.minmax(x, **options).max, high)
    assert_identical(ex.minmax(x, **options).min, low)


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
@pytest.mark.parametrize("shape", [(40000,), (300, 500), (500, 300), (70, 40, 60), (4096, 3), (3, 4096)], ids=str)
@pytest.mark.parametrize("policy", POLICIES)
def test_large_arrays_along_every_axis(dtype, shape, policy):
    rng = np.random.default_rng(hash(shape) % 1000)
    x = sample(rng, dtype, shape)
    omit = policy == "omit" and dtype in FLOATS
    for where in (None, rng.random(shape) < 0.3):
        present = (~is_nan(x) if omit else np.ones(shape, bool)) & (True if where is None else where)
        for axis in (*range(x.ndim), None):
            order = Order.MAX
            found = ex.max(x, axis, nan_policy=policy, where=where, default=dtype.type(0), return_index=True)
            # A twin of the reference that is fast enough: what is not there is worse than all that is.
            key = _keys(x, order)
            key = np.where(present, key, -1)
            flat = key.reshape(-1) if axis is None else key
            expected = flat.argmax(0 if axis is None else axis)
            lacking = ~present.any(axis)
            assert_identical(found.indices, np.where(lacking, -1, expected), f"{shape} {axis} {policy}")
            chosen = (
                x.reshape(-1)[expected]
                if axis is None
                else np.take_along_axis(x, np.expand_dims(expected, axis), axis).squeeze(axis)
            )
            assert_same_bits(found.values, np.where(lacking, dtype.type(0), chosen).astype(dtype))


def _keys(x, order):
    """The place of each element in the order of its array, NaN last of all."""
    assert order is Order.MAX
    with np.errstate(invalid="ignore"):
        plain = x.astype(np.float64) if x.dtype.name == "bfloat16" else x
    _, key = np.unique(plain, return_inverse=True)
    key = key.reshape(x.shape)
    return np.where(is_nan(x), x.size, key) if x.dtype in FLOATS else key


@pytest.mark.parametrize("index", INTEGERS, ids=str)
def test_indices_have_the_type_that_is_asked_for(index):
    x = np.array([[3.0, np.nan], [1.0, 2.0]])
    assert_identical(ex.argmax(x, 1, nan_policy="omit", dtype=index), np.array([0, 1], index))
    assert_identical(
        ex.max(x, 1, nan_policy="omit", return_index=True, index_dtype=index).indices, np.array([0, 1], index)
    )


def test_a_default_beside_an_unsigned_index_is_refused():
    text = refusal(ArgumentError, ex.max, [1.0], default=0.0, return_index=True, index_dtype="uint32")
    assert text == "max: the index beside a default value is -1, which does not fit uint32"
    for x in ([1.0], np.ones(1)):
        text = refusal(ArgumentError, ex.argmax, x, default=-1, dtype="uint64")
        assert text == "argmax: default=-1 does not fit uint64"


@pytest.mark.parametrize("function", [ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax])
def test_an_axis_without_elements_is_a_slice_with_nothing_to_choose_from(function):
    x = np.zeros((2, 0), np.float32)
    name = function.__name__
    text = f"{name}: the reduced axes (1,) of shape (2, 0) hold no element"
    assert refusal(ArgumentError, function, x, axis=1) == text
    answer = function(x, axis=1, default=7)
    for each in answer if isinstance(answer, tuple) else (answer,):
        assert np.asarray(each).tolist() == [7, 7]
    empty = function(x, axis=0, default=7)
    for each in empty if isinstance(empty, tuple) else (empty,):
        assert np.asarray(each).shape == (0,)


@pytest.mark.parametrize("function", [ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax])
@pytest.mark.parametrize("options", [{}, {"nan_policy": "omit"}, {"where": True}], ids=str)
@pytest.mark.parametrize(("shape", "axis"), [((0, 0), 1), ((0, 4, 0), (1, 2)), ((3, 0, 0), -1)])
def test_an_axis_without_elements_is_refused_where_the_result_would_be_empty_too(function, options, shape, axis):
    x = np.zeros(shape)
    with pytest.raises(ArgumentError, match="hold no element"):
        function(x, axis=axis, **options)
    answer = function(x, axis=axis, default=7, **options)
    for each in answer if isinstance(answer, tuple) else (answer,):
        assert np.asarray(each).size == 0


def test_the_default_of_both_ends_may_be_a_pair():
    assert ex.minmax(np.zeros((0,)), default=(5.0, -5.0)) == (5.0, -5.0)
    assert refusal(ArgumentError, ex.minmax, [1], default=(1, 2, 3)) == "minmax: default has 3 values"


@pytest.mark.parametrize("function", [ex.argmax, ex.max, ex.minmax, ex.hardmax], ids=lambda function: function.__name__)
def test_nan_is_an_error_under_raise(function):
    name = function.__name__
    x = np.array([[1.0, 2.0], [3.0, np.nan]])
    text = f"{name}: the slice at (1,{' 0' if name == 'hardmax' else ''}) of the result holds NaN"
    text = text.replace("(1, 0)", "(1, 0)")
    assert refusal(ArgumentError, function, x, axis=1, nan_policy="raise") == text
    mask = np.array([[True, True], [True, False]])
    answer = function(x, axis=1, nan_policy="raise", where=mask)
    assert np.isfinite(np.asarray(answer)).all()
    assert np.isfinite(np.asarray(function(x[:1], axis=1, nan_policy="raise"))).all()


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"nan_policy": "ignore"}, ArgumentError, "max: there is no NaN policy 'ignore'"),
        ({"nan_policy": 3}, ArgumentError, "max: there is no NaN policy 3"),
        ({"where": [1, 0]}, ElementTypeError, "max: where has element type int64, not bool"),
        (
            {"where": [[True, False, True]]},
            ArgumentError,
            "max: where has shape (1, 3), which does not broadcast to the shape (2,) of the array",
        ),
        ({"default": "x"}, ElementTypeError, "max: default is 'x', which is no element of int8"),
        ({"default": 1.5}, ElementTypeError, "max: default is 1.5, which is no element of int8"),
        ({"default": 300}, ArgumentError, "max: default=300 does not fit int8"),
        ({"axis": 1}, AxisError, "max: axis 1 is out of range for an array with 1 dimension"),
        (
            {"index_dtype": "float16", "return_index": True},
            ElementTypeError,
            "max: index type float16 is not an integer type in this machine's byte order",
        ),
        ({"out": np.zeros((), np.int16)}, ElementTypeError, "max: out has element type int16, the result has int8"),
        ({"out": np.zeros(2, np.int8)}, ArgumentError, "max: out has shape (2,), the result has shape ()"),
        ({"out": [0]}, TypeError, None),
    ],
)
def test_bad_options_are_refused(options, error, text):
    with pytest.raises(error) as caught:
        ex.max(np.array([1, 2], np.int8), **options)
    assert text is None or str(caught.value).splitlines()[0] == text


@pytest.mark.parametrize("function", [ex.argmax, ex.argmin, ex.max, ex.min])
def test_out_is_filled_or_left_alone(function):
    x = np.array([[1.0, np.nan], [np.nan, np.nan]])
    out = np.full(2, 9, np.int64 if "arg" in function.__name__ else np.float64)
    with pytest.raises(ArgumentError):
        function(x, axis=1, nan_policy="omit", out=out)
    assert out.tolist() == [9, 9]
    assert function(x, axis=1, nan_policy="omit", default=0, out=out) is out
    assert out.tolist() == ([0, 0] if "arg" in function.__name__ else [1, 0])


@pytest.mark.parametrize("function", [ex.argmax, ex.max, ex.min])
def test_an_out_whose_elements_share_memory_is_refused(function):
    memory = np.zeros(9, np.int64)
    out = np.lib.stride_tricks.as_strided(memory, (5,), (4,))
    x = np.ones((5, 2), np.int64)
    text = refusal(ArgumentError, function, x, axis=1, where=x > 0, out=out)
    assert text == f"{function.__name__}: out cannot be written to"
    assert not memory.any()


@pytest.mark.parametrize("function", [ex.argmax, ex.argmin, ex.max, ex.hardmax, ex.maximum])
def test_an_empty_word_is_no_policy(function):
    assert refusal(ArgumentError, function, np.ones(2), nan_policy="").endswith("there is no NaN policy ''")


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
    ones = ex.hardmax(x, axes, where=where)
    index = ex.argmax(x, axes, where=where, default=-1, keepdims=True)
    assert_identical((ones != 0).sum(axes, keepdims=True), (index >= 0).astype(np.int64))
    places = list(np.indices(index.shape, sparse=True))
    for axis, place in zip(sorted(axes), ex.unravel(index, x.shape, axes), strict=True):
        places[axis] = np.maximum(place, 0)
    assert_identical(ones[tuple(places)] != 0, index >= 0)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("policy", ["propagate", "omit", "raise"])
def test_a_signalling_nan_warns_of_nothing(dtype, policy):
    # Every exponent bit and the lowest bit of the mantissa, without the one that makes it quiet.
    exponent = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF0000000000000}
    x = np.array([exponent[dtype.name] + 1, 0], f"u{dtype.itemsize}").view(dtype)
    with np.errstate(all="raise"):
        for function in (ex.argmax, ex.argmin, ex.max, ex.min, ex.minmax, ex.hardmax, ex.maximum, ex.minimum):
            for where in (None, True):
                if policy == "raise":
                    assert "NaN" in refusal(ArgumentError, function, x, nan_policy=policy, where=where)
                else:
                    function(x, nan_policy=policy, where=where)
