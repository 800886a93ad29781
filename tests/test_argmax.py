"""argmax and argmin as functions: axes, shapes, index types, refusals. Right indices are test_kernels.py's."""

import numpy as np
import pytest

import extremum
from agreement import assert_same_bits
from extremum import reference
from extremum.errors import ArgumentError, ArgumentTypeError, AxisError, ElementTypeError
from extremum.operations import ArgReduce, Order, Tie
from refusal import refusal
from strategies import BFLOAT16, ELEMENT_TYPES, INTEGERS

FUNCTIONS = {Order.MAX: extremum.argmax, Order.MIN: extremum.argmin}
X = np.random.default_rng(0).integers(0, 5, (3, 4, 5))


@pytest.fixture(params=Order, ids=lambda order: f"arg{order.value}")
def order(request):
    return request.param


def expected(x, order, axes, keepdims=False, tie=Tie.FIRST, index=np.int64):
    return reference.run(ArgReduce(order, axes, keepdims, tie, np.dtype(index)), x)


@pytest.mark.parametrize(
    ("axis", "axes"),
    [
        (None, (0, 1, 2)),
        (0, (0,)),
        (2, (2,)),
        (-1, (2,)),
        (-3, (0,)),
        (np.int32(1), (1,)),
        ((), ()),
        ((1,), (1,)),
        ((0, 2), (0, 2)),
        ((2, 0), (0, 2)),
        ((-1, 0), (0, 2)),
        ((2, 1, 0), (0, 1, 2)),
    ],
)
@pytest.mark.parametrize("tie", Tie)
@pytest.mark.parametrize("keepdims", [False, True])
def test_axis(order, axis, axes, keepdims, tie):
    result = FUNCTIONS[order](X, axis, keepdims=keepdims, select_last_index=tie is Tie.LAST)
    assert_same_bits(result, expected(X, order, axes, keepdims, tie))


def test_defaults_are_numpys(order):
    numpys = np.argmax if order is Order.MAX else np.argmin
    assert_same_bits(FUNCTIONS[order](X), numpys(X))
    assert_same_bits(FUNCTIONS[order](X, 1), numpys(X, 1))
    assert_same_bits(FUNCTIONS[order](X, axis=1, keepdims=True), numpys(X, axis=1, keepdims=True))


def test_a_result_without_dimensions_is_a_scalar(order):
    assert type(FUNCTIONS[order](X)) is np.int64
    assert type(FUNCTIONS[order](X, dtype=np.uint32)) is np.uint32
    assert type(FUNCTIONS[order](X[0, 0], 0)) is np.int64
    assert type(FUNCTIONS[order](X, 0)) is np.ndarray


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_rank_zero_has_index_zero(order, dtype):
    x = np.array(1, dtype)
    assert_same_bits(FUNCTIONS[order](x), np.int64(0))
    assert_same_bits(FUNCTIONS[order](x, ()), np.int64(0))
    assert_same_bits(FUNCTIONS[order](x, keepdims=True, select_last_index=True), np.int64(0))


@pytest.mark.parametrize("index", INTEGERS, ids=str)
@pytest.mark.parametrize("spelling", [np.dtype, str, lambda dtype: dtype.type], ids=["dtype", "name", "type"])
def test_index_types(order, index, spelling):
    for axis in (None, 0, (1, 2)):
        axes = (0, 1, 2) if axis is None else np.atleast_1d(axis)
        assert_same_bits(FUNCTIONS[order](X, axis, dtype=spelling(index)), expected(X, order, axes, index=index))


@pytest.mark.parametrize(
    "name", ["byte", "ubyte", "short", "ushort", "intc", "uintc", "int_", "uint", "longlong", "ulonglong"]
)
def test_indices_of_every_class_of_their_width(order, name):
    kind = getattr(np, name)
    assert type(FUNCTIONS[order](X, dtype=kind)) is np.dtype(kind).type
    assert_same_bits(FUNCTIONS[order](X, 0, dtype=kind), expected(X, order, (0,), index=kind))


def test_results_are_new_contiguous_and_writeable(order):
    result = FUNCTIONS[order](np.asfortranarray(X), 0)
    assert result.flags.c_contiguous
    assert result.flags.writeable
    assert result.flags.owndata


@pytest.mark.parametrize("shape", [(0, 3), (0, 0), (3, 0)])
def test_empty_results(order, shape):
    axis = 1 - shape.index(0) if 3 in shape else ()
    axes = (axis,) if isinstance(axis, int) else axis
    x = np.empty(shape, np.float32)
    assert_same_bits(FUNCTIONS[order](x, axis), expected(x, order, axes))
    assert_same_bits(FUNCTIONS[order](x, axis, keepdims=True), expected(x, order, axes, keepdims=True))


@pytest.mark.parametrize(
    ("shape", "axis", "listed"),
    [
        ((0,), None, "(0,)"),
        ((0,), 0, "(0,)"),
        ((3, 0), 1, "(1,)"),
        ((3, 0), -1, "(1,)"),
        ((3, 0), None, "(0, 1)"),
        ((0, 0), 0, "(0,)"),
        ((2, 0, 3), (2, 1), "(1, 2)"),
    ],
)
def test_an_empty_reduction_is_refused(order, shape, axis, listed):
    text = refusal(ArgumentError, FUNCTIONS[order], np.empty(shape), axis)
    assert text == f"arg{order.value}: the reduced axes {listed} of shape {shape} hold no element"


@pytest.mark.parametrize(("rank", "axis"), [(2, 3), (2, 2), (2, -3), (1, 2**40), (2, -(2**63))])
def test_an_axis_out_of_range_is_refused(order, rank, axis):
    plural = "dimension" if rank == 1 else "dimensions"
    wanted = f"arg{order.value}: axis {axis} is out of range for an array with {rank} {plural}"
    assert refusal(AxisError, FUNCTIONS[order], np.zeros((2,) * rank), axis) == wanted
    assert refusal(AxisError, FUNCTIONS[order], np.zeros((2,) * rank), (0, axis)) == wanted


def test_rank_zero_has_no_axis(order):
    wanted = f"arg{order.value}: axis 0 is out of range for an array with 0 dimensions"
    assert refusal(AxisError, FUNCTIONS[order], np.array(1.0), 0) == wanted


@pytest.mark.parametrize("axis", [(0, 0), (0, -2), (-2, 0)])
def test_an_axis_given_twice_is_refused(order, axis):
    assert refusal(AxisError, FUNCTIONS[order], np.zeros((2, 2)), axis) == (
        f"arg{order.value}: axis 0 is given more than once"
    )


def test_axis_errors_are_what_numpy_code_catches(order):
    for error in (np.exceptions.AxisError, ValueError, IndexError):
        with pytest.raises(error):
            FUNCTIONS[order](X, 3)


@pytest.mark.parametrize("axis", [1.0, "0", (0, None), [[0]], True, (0, False), [True], np.True_])
def test_an_axis_that_is_no_integer_is_a_type_error(order, axis):
    with pytest.raises(TypeError):
        FUNCTIONS[order](X, axis)


@pytest.mark.parametrize("dtype", ["float32", "bool", BFLOAT16], ids=str)
def test_another_index_type_is_refused(order, dtype):
    text = refusal(ElementTypeError, FUNCTIONS[order], X, dtype=dtype)
    assert text == f"arg{order.value}: index type {np.dtype(dtype)} is not an integer type in this machine's byte order"


@pytest.mark.parametrize("dtype", ["no type", 3, [1], object, ">i8", ArgumentError], ids=str)
def test_what_is_no_index_type_is_refused_by_every_function(order, dtype):
    arg, both = FUNCTIONS[order], getattr(extremum, order.value)
    for x in (X, X.tolist()):
        text = refusal(ElementTypeError, arg, x, dtype=dtype)
        assert text.endswith(" is not an integer type in this machine's byte order")
        options = {"return_index": True, "index_dtype": dtype}
        assert refusal(ElementTypeError, both, x, **options) == text.removeprefix("arg")
        assert refusal(ElementTypeError, extremum.minmax, x, **options).startswith("minmax: index type ")


@pytest.mark.parametrize("index", INTEGERS, ids=str)
def test_indices_have_the_type_of_out_where_none_is_named(order, index):
    for axis in (0, (1, 2)):
        plain = FUNCTIONS[order](X, axis)
        for options in ({}, {"nan_policy": "raise"}, {"where": np.ones(X.shape, bool)}):
            out = np.full(plain.shape, 9, index)
            assert FUNCTIONS[order](X, axis, out=out, **options) is out
            assert out.tolist() == plain.tolist()


@pytest.mark.parametrize("index", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("options", [{}, {"nan_policy": "omit"}, {"nan_policy": "raise"}, {"where": True}], ids=str)
def test_the_last_index_of_a_slice_has_to_fit(order, index, options):
    last = np.iinfo(index).max
    x = np.zeros(last + 1, np.float32)
    x[last] = 1 if order.value == "max" else -1
    longer = np.append(x, np.float32(0))
    arg, both = FUNCTIONS[order], getattr(extremum, order.value)
    assert_same_bits(arg(x, dtype=index, **options), np.dtype(index).type(last))
    assert_same_bits(both(x, return_index=True, index_dtype=index, **options).indices, np.dtype(index).type(last))
    text = f"arg{order.value}: an index up to {last + 1} does not fit {index}"
    assert refusal(ArgumentError, arg, longer, dtype=index, **options) == text
    assert refusal(ArgumentError, arg, longer, out=np.zeros((), index), **options) == text
    for function in (both, extremum.minmax):
        with pytest.raises(ArgumentError) as caught:
            function(longer, return_index=True, index_dtype=index, **options)
        assert caught.value.reason == f"{function.__name__}: an index up to {last + 1} does not fit {index}"
        assert caught.value.remedy == "use index_dtype=int64"


@pytest.mark.parametrize("name", ["keepdims", "select_last_index"])
@pytest.mark.parametrize("value", ["no", None, 1.5, [True]], ids=str)
def test_what_is_no_flag_is_a_type_error(order, name, value):
    text = f"{name} is {value!r}, not a bool"
    for function in (FUNCTIONS[order], getattr(extremum, order.value), extremum.minmax):
        assert refusal(ArgumentTypeError, function, X, 0, **{name: value}) == f"{function.__name__}: {text}"
        assert refusal(ArgumentTypeError, function, X.tolist(), 0, **{name: value}) == f"{function.__name__}: {text}"


def test_a_flag_may_be_an_integer(order):
    for flag in (1, np.True_, np.int8(1)):
        assert FUNCTIONS[order](X, 0, keepdims=flag).shape == (1, *X.shape[1:])


class TestIndexTooLarge:
    """Blocks beyond 32-bit indices, made of one element or a few through zero strides."""

    def test_the_largest_index_that_fits(self, order):
        for dtype, length in ((np.int32, 2**31), (np.uint32, 2**32), (np.int64, 2**60)):
            x = np.broadcast_to(np.int8(7), (length,))
            assert_same_bits(FUNCTIONS[order](x, dtype=dtype), dtype(0))
            assert_same_bits(FUNCTIONS[order](x, dtype=dtype, select_last_index=True), dtype(length - 1))

    @pytest.mark.parametrize(("dtype", "length"), [(np.int32, 2**31 + 1), (np.uint32, 2**32 + 1)])
    def test_one_more_is_refused(self, order, dtype, length):
        x = np.broadcast_to(np.int8(7), (length,))
        wanted = f"arg{order.value}: an index up to {length - 1} does not fit {np.dtype(dtype)}"
        assert refusal(ArgumentError, FUNCTIONS[order], x, dtype=dtype) == wanted
        assert refusal(ArgumentError, FUNCTIONS[order], x, 0, dtype=dtype) == wanted

    def test_every_reduced_axis_counts(self, order):
        x = np.broadcast_to(np.int8(7), (2**20, 2**11))
        assert_same_bits(FUNCTIONS[order](x, dtype=np.int32, select_last_index=True), np.int32(2**31 - 1))
        x = np.broadcast_to(np.int8(7), (2**20, 2**11, 2))
        assert_same_bits(FUNCTIONS[order](x, 0, dtype=np.int32), np.zeros((2**11, 2), np.int32))
        assert "does not fit" in refusal(ArgumentError, FUNCTIONS[order], x, dtype=np.int32)

    def test_the_index_counts_repeated_elements(self, order):
        x = np.broadcast_to(np.array([5, 9, 1, 9, 1], np.int8), (2**32, 5))
        first, last = (1, 3) if order is Order.MAX else (2, 4)
        assert FUNCTIONS[order](x) == first
        assert FUNCTIONS[order](x, select_last_index=True) == (2**32 - 1) * 5 + last
        assert FUNCTIONS[order](x, 0, select_last_index=True).tolist() == [2**32 - 1] * 5
        assert FUNCTIONS[order](x.T, 1).tolist() == [0] * 5
        assert FUNCTIONS[order](x.T, select_last_index=True) == last * 2**32 + 2**32 - 1
