"""maximum and minimum as functions: operands, broadcasting, mixed element types, masks, refusals."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import extremum
from agreement import assert_same_bits, kernels
from cases import broadcastable
from extremum import _native, reference
from extremum.errors import ArgumentError, ElementTypeError
from extremum.operations import Extremum, Order
from layouts import LAYOUTS
from refusal import error_of, refusal
from strategies import BFLOAT16, ELEMENT_TYPES, FLOATS, landmarks, nans, sample, sometimes

FUNCTIONS = {Order.MAX: extremum.maximum, Order.MIN: extremum.minimum}


@pytest.fixture(params=Order, ids=lambda order: f"{order.value}imum")
def order(request):
    return request.param


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_every_pair_of_landmarks_either_way_round(order, dtype):
    elements = np.concatenate([landmarks(dtype), nans(dtype) if dtype in FLOATS else landmarks(dtype)])
    column = elements[:, None]
    row = elements[None, :]
    expected = reference.run(Extremum(order), column, row)
    assert_same_bits(FUNCTIONS[order](column, row), expected)
    assert_same_bits(FUNCTIONS[order](row, column), expected)


def test_every_way_passes_on_the_same_nan(order):
    row = np.array([0x7FC00001, 0x7FC00002, 0x40400000], np.uint32).view(np.float32)
    one = np.array(0x7FC00004, np.uint32).view(np.float32)
    results = set()
    for name, limit in itertools.product(_native.instruction_sets(), (0, None)):
        with kernels(name, limit):
            results |= {FUNCTIONS[order](*operands).tobytes() for operands in ((row, one), (one, row))}
    assert len(results) == 1


@pytest.mark.parametrize("count", [33, 1000])
def test_any_number_of_operands(order, count):
    operands = np.random.default_rng(count).integers(-(2**31), 2**31, (count, 1, 19), np.int32)
    assert_same_bits(FUNCTIONS[order](*operands), operands.max(0) if order is Order.MAX else operands.min(0))


@pytest.mark.parametrize("shape", [(2, 500), (500, 3), (20, 3, 40), (2, 3, 4)])
def test_the_result_lies_in_the_order_of_the_longest_lines(order, shape):
    rng = np.random.default_rng(len(shape))
    one, other = rng.integers(0, 99, (2, *shape))
    fortran = np.asfortranarray(other)
    longest = "C" if shape[-1] > shape[0] else "F"
    for operands in ((one, fortran), (fortran, one), (fortran, one, 5), (one[::-1, ::-1], fortran)):
        result = FUNCTIONS[order](*operands)
        assert_same_bits(result, FUNCTIONS[order](*map(np.ascontiguousarray, operands)).reshape(shape))
        assert result.strides == np.empty(shape, order=longest).strides
    assert FUNCTIONS[order](fortran, fortran).flags.f_contiguous


@pytest.mark.parametrize("columns", [1, 2, 3, 30, 1023, 1025])
@pytest.mark.parametrize(
    "dtype", sometimes([*ELEMENT_TYPES], [np.dtype("uint8"), np.dtype("float16"), np.dtype("int64")])
)
def test_a_row_that_meets_many_lines(order, dtype, columns):
    """A short row is repeated, so that several lines are compared as one; the lines that are left are fewer."""
    rng = np.random.default_rng(columns)
    elements = np.concatenate([landmarks(dtype), nans(dtype)[:1] if dtype in FLOATS else landmarks(dtype)])
    whole = rng.choice(elements, (2500, columns + 1))
    lines = whole[:, :columns].copy()
    row = rng.choice(elements, columns)
    one = rng.choice(elements)
    foreign = row.astype(dtype.newbyteorder("S"))
    function = FUNCTIONS[order]

    def by_line(*operands):
        """The same of operands of one shape."""
        return function(*[np.broadcast_to(each, lines.shape).copy() for each in operands])

    for operands in (
        (lines, row),
        (row, lines),
        (lines, row, one, row[::-1]),
        (lines, one, foreign),
        (whole[:, 1:], row),
    ):
        assert_same_bits(function(*operands), by_line(*operands))
    expected = by_line(lines, row)
    for count in (1, 2, 31, 32, 33, 2499):
        assert_same_bits(function(lines[:count], row), expected[:count])
    assert function(lines, row, out=lines) is lines
    assert_same_bits(lines, expected)


# Kernels read a long line in parts. They read a part with NaN again, and treat the next part as if it had NaN too.
LINE = 100_003


@pytest.mark.parametrize(("order", "nan_policy"), [(Order.MAX, "propagate"), (Order.MIN, "omit")])
@pytest.mark.parametrize("dtype", sometimes(FLOATS))
@pytest.mark.parametrize("where", ["nowhere", "the beginning", "the end", "some parts", "half of all"])
def test_nan_in_parts_of_long_lines(order, where, dtype, nan_policy):
    rng = np.random.default_rng(5)
    first = np.zeros((9, LINE), bool)
    first[3, {"the beginning": slice(1), "the end": slice(LINE - 1, None)}.get(where, slice(0))] = True
    if where in ("some parts", "half of all"):
        first[:, 20_000:40_000] = rng.random((9, 20_000)) < (0.5 if where == "half of all" else 0.0002)
    operands = (rng.integers(-50, 50, (9, LINE)) / 2).astype(dtype)
    operands[first] = np.nan

    # In float64, which holds all of these elements: bfloat16 warns about NaN.
    def fold(elements):
        return (np.maximum if order is Order.MAX else np.fmin).reduce(elements.astype(np.float64))

    one = operands[3, 0] if where == "the beginning" else dtype.type(7)
    for count in (1, 2, 3, 9):
        chosen = operands[:count, 1:]
        for together in (chosen, [one, *chosen]):
            expected = fold(np.stack([np.broadcast_to(each, LINE - 1) for each in together]))
            for name in _native.instruction_sets():
                out = np.empty(LINE, dtype)[1:]
                with kernels(name):
                    FUNCTIONS[order](*together, out=out, nan_policy=nan_policy)
                assert np.array_equal(out.astype(np.float64), expected, equal_nan=True)


@pytest.mark.parametrize(
    ("dtype", "threads", "order"),
    [(np.float64, 1, Order.MAX), (np.float64, 2, Order.MIN), (np.uint64, 2, Order.MIN), (np.int32, 2, Order.MAX)],
)
def test_large_arrays_in_different_orders(order, dtype, threads):
    # A large result between columns that do not belong to it, which must stay as they are.
    rng = np.random.default_rng(3)
    shape = (2053, 4093 if np.dtype(dtype).itemsize == 4 else 2049)
    c, f = (rng.integers(0, 1000, shape).astype(dtype) for _ in range(2))
    f = np.asfortranarray(f)
    f[5, 7] = c[9, 11] = np.nan if dtype is np.float64 else 0
    base = np.full((shape[0], shape[1] + 5), 77, dtype)
    with kernels(threads=threads):
        FUNCTIONS[order](c, f, out=base[:, 3:-2])
    expected = (np.maximum if order is Order.MAX else np.minimum)(c, f)
    np.testing.assert_array_equal(base[:, 3:-2], expected)
    assert (base[:, [0, 1, 2, -2, -1]] == 77).all()


@pytest.mark.parametrize("dtype", sometimes(["int8", "float16", "float32", "int64"], ["int8", "float32"]))
@pytest.mark.parametrize("step", sometimes([-1, 2, -2, 3, 40], [-1, 3]))
def test_large_arrays_with_gaps(order, dtype, step):
    # Kernels pack operands with gaps first, and byte-swapped operands as well.
    rng = np.random.default_rng(4)
    n = (5 << 20) // np.dtype(dtype).itemsize + 13
    a = rng.integers(0, 100, n).astype(dtype)
    b = rng.integers(0, 100, n * abs(step)).astype(dtype)[::step]
    np_function = np.maximum if order is Order.MAX else np.minimum
    np.testing.assert_array_equal(FUNCTIONS[order](a, b), np_function(a, b))
    swapped = b.astype(b.dtype.newbyteorder())
    np.testing.assert_array_equal(FUNCTIONS[order](a, swapped, b[::-1]), np_function(np_function(a, b), b[::-1]))


MASKS = {"all": True, "none": False, "some": np.arange(15).reshape(3, 5) % 3 > 0, "row": np.arange(5) % 2 > 0}


@pytest.mark.parametrize("where", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("policy", ["propagate", "omit"])
@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_elements_that_do_not_take_part_are_those_of_the_first_operand_or_of_out(order, dtype, policy, where):
    rng = np.random.default_rng(7)
    x, y, z = (sample(rng, dtype, shape) for shape in ((3, 5), (5,), (3, 1)))
    whole = FUNCTIONS[order](x, y, z, nan_policy=policy)
    assert_same_bits(FUNCTIONS[order](x, y, z, nan_policy=policy, where=where), np.where(where, whole, x))
    first = np.broadcast_to(y, x.shape)
    assert_same_bits(FUNCTIONS[order](y, x, z, nan_policy=policy, where=where), np.where(where, whole, first))
    before = sample(rng, dtype, (3, 5))
    for out in (before.copy(), np.asfortranarray(before), before.repeat(2, 1)[:, ::2]):
        assert FUNCTIONS[order](x, y, z, nan_policy=policy, where=where, out=out) is out
        assert_same_bits(np.ascontiguousarray(out), np.where(where, whole, before))


def test_a_mask_of_operands_of_other_types(order):
    x = np.array([1, 9, 4], np.int16)
    y = [2.5, 0.5, 8.0]
    where = [True, False, False]
    largest = order is Order.MAX
    assert_same_bits(FUNCTIONS[order](x, y, where=where), np.array([2.5 if largest else 1.0, 9.0, 4.0]))
    times = np.array(["NaT", "2020-01-01"], "M8[s]")
    assert_same_bits(FUNCTIONS[order](times, times[1], where=[False, True]), times)
    assert FUNCTIONS[order](1, 2, where=[True, False]).tolist() == [2 if largest else 1, 1]
    assert type(FUNCTIONS[order](np.float32(1), np.float32(2), where=False)) is np.float32


def test_an_operand_may_be_the_output_under_a_mask(order):
    x, y = np.random.default_rng(9).standard_normal((2, 40))
    where = x > 0
    expected = np.where(where, FUNCTIONS[order](x, y), x)
    FUNCTIONS[order](y, x, out=x, where=where)
    assert_same_bits(x, expected)


def test_nan_that_does_not_take_part_is_not_refused(order):
    x = np.array([np.nan, 1.0])
    y = np.array([0.0, 2.0])
    out = np.zeros(2)
    assert_same_bits(FUNCTIONS[order](y, x, where=~np.isnan(x), nan_policy="raise")[:1], y[:1])
    FUNCTIONS[order](y, x, where=~np.isnan(x), nan_policy="raise", out=out)
    assert out[0] == 0
    text = refusal(ArgumentError, FUNCTIONS[order], y, x, where=True, nan_policy="raise", out=out)
    assert text.startswith("NaN at (0,) of the result")


NO_MASKS = [
    ([1, 0], ElementTypeError, "where has element type int64, not bool"),
    (np.ones((2, 3), bool), ArgumentError, "where has shape (2, 3), which does not broadcast with the shape (2,)"),
    (np.ma.array([True, False], mask=[True, False]), ArgumentError, "where has 1 missing element, neither True nor"),
]


@pytest.mark.parametrize(("where", "error", "text"), NO_MASKS, ids=str)
def test_what_is_no_mask_is_refused_and_out_stays_as_it_was(order, where, error, text):
    out = np.full(2, 7)
    x = np.ones(2, int)
    name = FUNCTIONS[order].__name__
    assert refusal(error, FUNCTIONS[order], x, x, where=where, out=out).startswith(f"{name}: {text}")
    assert out.tolist() == [7, 7]
    masked = np.ma.array(out, mask=[True, False])
    error_of(ArgumentError, FUNCTIONS[order], x, 2, where=True, out=masked)


@pytest.mark.parametrize(
    "pair", list(itertools.combinations(ELEMENT_TYPES, 2)), ids=lambda pair: f"{pair[0]}-{pair[1]}"
)
def test_every_pair_of_types(pair):
    rng = np.random.default_rng(7)
    operands = [sample(rng, dtype, shape) for dtype, shape in zip(pair, [(5, 1, 7), (3, 1)], strict=True)]
    try:
        common = np.result_type(*pair)
    except TypeError:
        assert "have no common type" in refusal(ElementTypeError, extremum.maximum, *operands)
        return
    for order, function in FUNCTIONS.items():
        with np.errstate(invalid="ignore"):
            expected = reference.extremum(order, *(x.astype(common) for x in operands))
        assert_same_bits(function(*operands), expected)


@given(st.data())
def test_any_number_of_operands_of_any_types_in_any_layout(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = data.draw(st.sampled_from([(), (0,), (2, 3), (5, 1, 4), (300,), (3000,)]))
    operands = []
    types = data.draw(st.sampled_from([[t for t in ELEMENT_TYPES if t.kind in "iuf"], *([each] for each in FLOATS)]))
    for _ in range(data.draw(st.integers(1, 5))):
        x = sample(rng, data.draw(st.sampled_from(types)), broadcastable(rng, shape) if operands else shape)
        operands.append(data.draw(st.sampled_from(LAYOUTS))(x, rng))
    common = np.result_type(*(x.dtype.newbyteorder("=") for x in operands))
    omit = data.draw(st.booleans())
    for order, function in FUNCTIONS.items():
        with np.errstate(invalid="ignore"):
            expected = reference.extremum(order, *(x.astype(common) for x in operands), omit=omit)
        assert_same_bits(function(*operands, nan_policy="omit" if omit else "propagate"), expected)


@pytest.mark.parametrize(
    ("operands", "dtype", "value"),
    [
        ((3.5, 3), "float64", 3.5),
        ((np.nan, 1), "float64", np.nan),
        ((2, 3), "int64", 3),
        ((True, False), "bool", True),
        ((np.array([1, 2], np.int8), 1.5), "float64", [1.5, 2.0]),
        ((np.array([1, 2], np.float32), 3), "float32", [3, 3]),
        ((np.array([1, 2], np.float16), 2.5), "float16", [2.5, 2.5]),
        ((np.array([True, False]), 3), "int64", [3, 3]),
        ((np.array([1, 2], BFLOAT16), 1.5), "bfloat16", [1.5, 2]),
        (([1, 9], np.array([2.5, 2.5], np.float32)), "float64", [2.5, 9]),
        ((np.float32(1), np.int64(2)), "float64", 2.0),
    ],
)
def test_numbers_and_lists(operands, dtype, value):
    result = np.asarray(extremum.maximum(*operands))
    assert result.dtype.name == dtype
    np.testing.assert_array_equal(result.astype(float), value)


def test_no_operand_is_converted_whole():
    x = np.zeros(4_000_000, np.int32)
    y = np.zeros(4_000_000, np.float32)
    out = np.empty(4_000_000)
    extremum.maximum(x[:10], y[:10])
    tracemalloc.start()
    extremum.maximum(x, y, out=out)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000


def test_raise_names_the_first_nan_and_leaves_out_alone():
    x = np.array([[1.0, 2.0], [np.nan, 3.0]])
    out = np.zeros((2, 2))
    text = refusal(ArgumentError, extremum.maximum, x, 0.0, nan_policy="raise", out=out)
    assert text == "NaN at (1, 0) of the result"
    assert not out.any()
    assert extremum.maximum(x[0], 1.5, nan_policy="raise").tolist() == [1.5, 2.0]


@pytest.mark.parametrize("other", [1, 0.5, np.ones(1), np.ones(1, np.int8), [2]], ids=str)
@pytest.mark.parametrize("dtype", ["O", [("a", "O")], "U1", "S1", "V2", complex], ids=str)
def test_elements_without_an_order_are_refused_beside_anything(dtype, other):
    x = np.zeros(1, dtype)
    for operands in ((x, other), (other, x), (x, other, x)):
        assert "type" in refusal(ElementTypeError, extremum.maximum, *operands)
        assert "type" in refusal(ElementTypeError, extremum.minimum, *operands, nan_policy="raise")
