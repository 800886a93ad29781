"""argmax and argmin as functions: axes, shapes, index types, refusals. test_kernels.py tests the indices."""

from itertools import permutations

import numpy as np
import pytest

import extremum
from agreement import assert_same_bits
from extremum import reference
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError
from extremum.operations import ArgReduce, Order, Tie
from refusal import error_of, refusal
from strategies import BFLOAT16, INTEGERS

FUNCTIONS = {Order.MAX: extremum.argmax, Order.MIN: extremum.argmin}
X = np.random.default_rng(0).integers(0, 5, (3, 4, 5))


@pytest.fixture(params=Order, ids=lambda order: f"arg{order.value}")
def order(request):
    return request.param


def expected(x, order, axes, keepdims=False, tie=Tie.FIRST, index=np.int64):
    return reference.run(ArgReduce(order, axes, keepdims, tie, np.dtype(index)), x)


AXES = [(None, (0, 1, 2)), (0, (0,)), (-1, (2,)), (-3, (0,)), (np.int32(1), (1,)), ((), ()), ((1,), (1,))]
AXES += [((2, 0), (0, 2)), ((-1, 0), (0, 2)), ((2, 1, 0), (0, 1, 2))]


@pytest.mark.parametrize(("axis", "axes"), [pytest.param(*row, id=f"axis {row[0]!r}") for row in AXES])
@pytest.mark.parametrize("flag", [False, True, 1, np.True_, np.int8(1)], ids=repr)
def test_axis(order, axis, axes, flag):
    result = FUNCTIONS[order](X, axis, keepdims=flag, select_last_index=flag)
    assert_same_bits(result, expected(X, order, axes, bool(flag), Tie.LAST if flag else Tie.FIRST))


def test_defaults_are_numpys(order):
    numpys = np.argmax if order is Order.MAX else np.argmin
    assert_same_bits(FUNCTIONS[order](X), numpys(X))
    assert_same_bits(FUNCTIONS[order](X, axis=1, keepdims=True), numpys(X, axis=1, keepdims=True))
    assert type(FUNCTIONS[order](X)) is type(FUNCTIONS[order](X[0, 0], 0)) is np.int64
    assert type(FUNCTIONS[order](X, 0)) is np.ndarray


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("function", [extremum.argmax, extremum.argmin, extremum.max, extremum.min])
def test_axes_of_a_result_lie_in_memory_as_those_of_the_array(function, keepdims):
    assert function(X, 0, keepdims=keepdims).flags.c_contiguous
    for axes in permutations(range(3)):
        array = np.ascontiguousarray(X.transpose(axes)).transpose(np.argsort(axes))
        for axis in range(3):
            result = function(array, axis, keepdims=keepdims)
            assert_same_bits(result, function(X, axis, keepdims=keepdims))
            # NumPy's own max does the same, but not its argmax.
            long = [at for at in range(result.ndim) if result.shape[at] > 1]
            numpys = np.max(array, axis, keepdims=keepdims).strides
            assert [result.strides[at] for at in long] == [numpys[at] * result.itemsize // X.itemsize for at in long]


NAMES = ("byte", "ubyte", "short", "ushort", "intc", "uintc", "int_", "uint", "longlong", "ulonglong")


@pytest.mark.parametrize("index", [*INTEGERS, *map(str, INTEGERS), *(getattr(np, name) for name in NAMES)], ids=str)
def test_index_types(order, index):
    dtype = np.dtype(index)
    assert type(FUNCTIONS[order](X, dtype=index)) is dtype.type
    for axis, axes in ((0, (0,)), ((1, 2), (1, 2))):
        plain = expected(X, order, axes, index=dtype)
        assert_same_bits(FUNCTIONS[order](X, axis, dtype=index), plain)
        for options in ({}, {"nan_policy": "raise"}, {"where": np.ones(X.shape, bool)}):
            assert_same_bits(FUNCTIONS[order](X, axis, dtype=index, **options), plain)
            # Without `dtype`, the index type is that of `out`.
            out = np.full(plain.shape, 9, index)
            assert FUNCTIONS[order](X, axis, out=out, **options) is out
            assert out.tolist() == plain.tolist()


@pytest.mark.parametrize(("shape", "axis"), [((0, 3), 1), ((0, 0), ()), ((3, 0), 0)])
def test_empty_results(order, shape, axis):
    axes = (axis,) if isinstance(axis, int) else axis
    x = np.empty(shape, np.float32)
    assert_same_bits(FUNCTIONS[order](x, axis), expected(x, order, axes))
    assert_same_bits(FUNCTIONS[order](x, axis, keepdims=True), expected(x, order, axes, keepdims=True))


@pytest.mark.parametrize("axis", [1.0, "0", (0, None), [[0]], True, (0, False), [True], np.True_], ids=repr)
def test_an_axis_that_is_no_integer_is_a_type_error(order, axis):
    # Older NumPy warns about its own bool.
    error_of((TypeError, DeprecationWarning) if axis is np.True_ else TypeError, FUNCTIONS[order], X, axis)


@pytest.mark.parametrize("dtype", ["float32", "bool", BFLOAT16, "no type", 3, [1], object, ">i8", ValueError], ids=str)
def test_what_is_no_index_type_is_refused_by_every_function(order, dtype):
    arg = FUNCTIONS[order]
    both = getattr(extremum, order.value)
    for x in (X, X.tolist()):
        text = refusal(ElementTypeError, arg, x, dtype=dtype)
        assert text.endswith(" is not an integer type in this machine's byte order")
        options = {"return_index": True, "index_dtype": dtype}
        assert refusal(ElementTypeError, both, x, **options) == text.removeprefix("arg")
        assert refusal(ElementTypeError, extremum.minmax, x, **options).startswith("minmax: index type ")


@pytest.mark.parametrize("index", ["int8", "uint16"])
@pytest.mark.parametrize("options", [{}, {"nan_policy": "omit"}, {"nan_policy": "raise"}, {"where": True}], ids=str)
def test_the_last_index_of_a_slice_has_to_fit(order, index, options):
    last = np.iinfo(index).max
    x = np.zeros(last + 1, np.float32)
    x[last] = 1 if order.value == "max" else -1
    longer = np.append(x, np.float32(0))
    arg = FUNCTIONS[order]
    both = getattr(extremum, order.value)
    assert_same_bits(arg(x, dtype=index, **options), np.dtype(index).type(last))
    assert_same_bits(both(x, return_index=True, index_dtype=index, **options).indices, np.dtype(index).type(last))
    text = f"arg{order.value}: an index up to {last + 1} does not fit {index}"
    assert refusal(ArgumentError, arg, longer, dtype=index, **options) == text
    assert refusal(ArgumentError, arg, longer, out=np.zeros((), index), **options) == text
    for function in (both, extremum.minmax):
        error = error_of(ArgumentError, function, longer, return_index=True, index_dtype=index, **options)
        assert error.reason == f"{function.__name__}: an index up to {last + 1} does not fit {index}"
        assert error.remedy == "use index_dtype=int64"


@pytest.mark.parametrize("name", ["keepdims", "select_last_index"])
@pytest.mark.parametrize("value", ["no", None, 1.5, [True]], ids=str)
def test_what_is_no_flag_is_a_type_error(order, name, value):
    for function in (FUNCTIONS[order], getattr(extremum, order.value), extremum.minmax):
        for x in (X, X.tolist()):
            text = f"{function.__name__}: {name} is {value!r}, not a bool"
            assert refusal(ArgumentTypeError, function, x, 0, **{name: value}) == text


@pytest.mark.parametrize(("dtype", "length"), [(np.int32, 2**31), (np.uint32, 2**32), (np.int64, 2**60)])
def test_the_largest_index_that_fits(order, dtype, length):
    """Slices beyond 32-bit indices, made from one element by zero strides."""
    x = np.broadcast_to(np.int8(7), (length,))
    assert_same_bits(FUNCTIONS[order](x, dtype=dtype), dtype(0))
    assert_same_bits(FUNCTIONS[order](x, dtype=dtype, select_last_index=True), dtype(length - 1))
    if dtype is not np.int64:
        text = f"arg{order.value}: an index up to {length} does not fit {np.dtype(dtype)}"
        assert refusal(ArgumentError, FUNCTIONS[order], np.broadcast_to(np.int8(7), length + 1), dtype=dtype) == text


def test_every_reduced_axis_and_every_repeated_element_counts(order):
    x = np.broadcast_to(np.int8(7), (2**20, 2**11, 2))
    assert_same_bits(FUNCTIONS[order](x[..., 0], dtype=np.int32, select_last_index=True), np.int32(2**31 - 1))
    assert_same_bits(FUNCTIONS[order](x, 0, dtype=np.int32), np.zeros((2**11, 2), np.int32))
    assert "does not fit" in refusal(ArgumentError, FUNCTIONS[order], x, dtype=np.int32)
    x = np.broadcast_to(np.array([5, 9, 1, 9, 1], np.int8), (2**32, 5))
    first, last = (1, 3) if order is Order.MAX else (2, 4)
    assert FUNCTIONS[order](x) == first
    assert FUNCTIONS[order](x, select_last_index=True) == (2**32 - 1) * 5 + last
    assert FUNCTIONS[order](x, 0, select_last_index=True).tolist() == [2**32 - 1] * 5
    assert FUNCTIONS[order](x.T, 1).tolist() == [0] * 5
    assert FUNCTIONS[order](x.T, select_last_index=True) == last * 2**32 + 2**32 - 1
