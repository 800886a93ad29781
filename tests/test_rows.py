"""Arrays with specialised kernels, with every instruction set: long rows, short middle axes, gaps, masks."""

import numpy as np
import pytest

import agreement
import extremum as ex
import twins
from agreement import EVERY_SET, assert_extremes, assert_same_bits
from extremum import _native
from strategies import BFLOAT16, FLOATS, REPRESENTATIVES, ascending, landmarks, nans, sometimes

TYPES = sometimes([*REPRESENTATIVES, BFLOAT16], [*REPRESENTATIVES, BFLOAT16])


@pytest.fixture(params=_native.instruction_sets())
def instruction_set(request):
    with agreement.kernels(request.param, small_limit=0):
        yield


def numbers(rng, dtype, shape, nan=0.0):
    """A few different numbers, and NaN with probability `nan`. Any byte but zero is a true bool."""
    if dtype.kind == "b":
        return rng.integers(0, 3, shape, dtype=np.uint8).view(bool)
    if dtype not in FLOATS:
        limits = np.iinfo(dtype)
        return rng.choice(np.array([limits.min, limits.max, 0, 1, 2, 3], dtype), shape)
    x = rng.choice(np.array([-np.inf, -1.0, -0.0, 0.0, 1.0, 2.0], np.float32), shape)
    return np.where(rng.random(shape) < nan, np.float32(np.nan), x).astype(dtype)


def check(x, axis, where=None, policy="propagate"):
    """Every reduction must agree with the twin, which compares bools by value as NumPy does."""
    if x.dtype.kind == "b":
        x = x.view(np.uint8) != 0
    assert_extremes(x, (axis,), where, policy, twins.find, EVERY_SET)


@pytest.mark.parametrize("columns", sometimes([2, 3, 7, 8, 15, 16, 17, 33, 65, 127], [2, 15, 33]))
@pytest.mark.parametrize("dtype", TYPES)
def test_blocks_of_few_columns(dtype, columns):
    rng = np.random.default_rng(columns)
    for blocks, rows in ((70, 2), (3, 3), (40, 5), (7, 8), (9, 64), (3, 255), (3, 256), (2, 257)):
        x = numbers(rng, dtype, (blocks, rows, columns))
        check(x, 1)
        if dtype in FLOATS:
            # NaN in some blocks, a few or many.
            nan = numbers(rng, dtype, x.shape, nan=0.1)
            check(np.where(rng.random((blocks, 1, 1)) < 0.4, nan, x), 1)
            check(nan, 1, policy="omit")


@pytest.mark.parametrize("columns", [128, 513, 1024, 1025, 2048, 2049])
@pytest.mark.parametrize("dtype", TYPES)
def test_blocks_of_many_columns(dtype, columns):
    """Up to as many as the widest registers hold, and as the memory for their results, and more."""
    rng = np.random.default_rng(columns)
    for blocks, rows in ((5, 3), (2, 16)):
        check(numbers(rng, dtype, (blocks, rows, columns), nan=0.01), 1)


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_the_value_of_a_short_row_has_the_sign_of_its_first_zero(dtype):
    rng = np.random.default_rng(7)
    for columns in (2, 3, 4, 7, 8, 15, 16, 17, 32, 40, 64):
        x = rng.choice(np.array([-1.0, -0.0, 0.0], dtype), (150, columns))
        first = np.arange(len(x)), ex.argmax(x, axis=1)
        assert_same_bits(ex.max(x, axis=1), x[first])
        assert_same_bits(ex.min(-x, axis=1), -x[first])


@pytest.mark.parametrize("columns", [2, 8, 33])
@pytest.mark.parametrize("dtype", TYPES)
def test_blocks_that_lie_apart_or_run_backwards(dtype, columns):
    rng = np.random.default_rng(columns)
    x = numbers(rng, dtype, (6, 11, 40, columns + 3))
    for part in (x[:, :, ::2, :columns], x[::-1, ::3, ::-2, 1 : columns + 1], x[:, :, 5:9, 3:]):
        check(part, 2)
        check(part, 1)
        check(np.swapaxes(part, 0, 2), 1)
    check(x[..., :columns], 2, rng.random((6, 11, 40, columns)) < 0.7)


@pytest.mark.parametrize("length", [2, 4, 5, 7, 8, 9, 12, 16, 17, 32, 40, 64, 70, 128, 300, 2000])
@pytest.mark.parametrize("dtype", TYPES)
def test_many_rows(dtype, length):
    rng = np.random.default_rng(length)
    x = numbers(rng, dtype, (100, length), nan=0.01 if length < 100 else 0.001)
    for each in (x, x[:, ::-1], np.asfortranarray(x)):
        check(each, 1)
    if dtype in FLOATS:
        # Integers have the order of floats above zero only, and no row has NaN.
        x = numbers(rng, dtype, x.shape)
        x[::3] = -np.abs(x[::3])
        check(x, 1)


@pytest.mark.parametrize("dtype", [np.dtype("uint8"), np.dtype("float32")], ids=str)
def test_more_short_rows_than_a_tile_has(dtype):
    """Their results go directly to the output, or through memory where places are no indices."""
    x = numbers(np.random.default_rng(3), dtype, (67_000, 3), nan=0.001)
    check(x, 1)
    check(x[:, ::-1], 1)


@pytest.mark.parametrize("dtype", [np.dtype("uint8"), np.dtype("float32")], ids=str)
@pytest.mark.usefixtures("instruction_set")
def test_short_rows_of_several_blocks(dtype):
    """Blocks that are combined, of as many short rows."""
    blocks = numbers(np.random.default_rng(4), dtype, (2, 67_000, 4))
    rows = blocks.transpose(1, 0, 2).reshape(67_000, 8)
    for function in (ex.argmax, ex.argmin, ex.max, ex.min):
        np.testing.assert_array_equal(function(blocks, axis=(0, 2)), function(rows, axis=1))


@pytest.mark.parametrize("spare", [-1, 0, 1])
@pytest.mark.parametrize("size", [1 << 15, 7 << 15])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_few_long_rows(dtype, size, spare):
    """Around the longest that the kernels for short rows read, also where nothing is above zero."""
    rng = np.random.default_rng(size)
    x = numbers(rng, dtype, (6, size // dtype.itemsize + spare))
    x[2, 100:] = -1.0
    x[2, :100] = -2.0
    check(x[:, 3:], 1)
    x[4, -7] = np.nan
    check(x, 1)


def open_layouts(x):
    """Views of (200, 12, 5) whose axes do not join in memory, with the axes that a call reduces."""
    yield x.reshape(-1, 5).T, (0, 1)
    yield x.transpose(2, 0, 1), (0, 1, 2)
    yield x.transpose(1, 2, 0), (1, 2)
    yield x[1:-1, 1:-1, 1:-1], (0, 1, 2)
    yield x[:, ::-1, :4], (0, 2)
    yield x[::-1, :, ::-1], (0, 1, 2)
    # Kept axes that join in memory, but not in the output.
    yield x.reshape(100, 2, 12, 5).transpose(3, 1, 2, 0), (3,)
    yield np.broadcast_to(x[:, None, :4, :2], (200, 3, 4, 2)), (0, 3)


@pytest.mark.parametrize("layout", range(8))
@pytest.mark.parametrize("dtype", TYPES)
def test_axes_that_do_not_join_in_memory(dtype, layout):
    rng = np.random.default_rng(layout)
    whole = numbers(rng, dtype, (200, 12, 5))
    for each in (whole, numbers(rng, dtype, whole.shape, nan=0.01), whole.astype(dtype.newbyteorder("S"))):
        x, axes = list(open_layouts(each))[layout]
        if x.dtype.kind == "b":
            x = x.view(np.uint8) != 0
        assert_extremes(x, axes, None, "propagate", twins.find, EVERY_SET)
        mask = rng.random(x.shape) < 0.02
        assert_extremes(x, axes, mask, "omit", twins.find, EVERY_SET)
        # A mask that leaves out whole slices.
        kept = [1 if axis in axes else n for axis, n in enumerate(x.shape)]
        assert_extremes(x, axes, np.broadcast_to(rng.random(kept) < 0.7, x.shape), "propagate", twins.find, EVERY_SET)


@pytest.mark.parametrize("axes", [(0, 1, 2), (0, 2), (1, 2)])
@pytest.mark.parametrize("dtype", TYPES)
def test_values_in_the_order_of_memory(dtype, axes):
    """Reduced axes join, whatever the order of their indices. Of equal zeros and NaN the index still decides."""
    rng = np.random.default_rng(len(axes))
    ordinary = numbers(rng, dtype, (30, 9, 12))
    ordinary[ordinary == ordinary.max()] = ordinary.min()
    extremes = landmarks(dtype) if dtype not in FLOATS else np.concatenate([landmarks(dtype), nans(dtype)])
    for extreme in extremes:
        whole = ordinary.copy()
        if dtype in FLOATS and float(extreme) == 0:
            # The best of all is a zero, and the array has some of either sign.
            whole = -np.abs(whole)
            whole[rng.random(whole.shape) < 0.5] = -extreme
        whole[rng.random(whole.shape) < 0.1] = extreme
        for order in ((2, 1, 0), (0, 2, 1), (1, 2, 0)):
            assert_extremes(whole.transpose(order), axes, None, "propagate", twins.find, EVERY_SET)


@pytest.mark.parametrize("shape", [(3, 1, 2), (40, 1, 7), (210, 1, 2, 39)])
@pytest.mark.parametrize("dtype", TYPES)
def test_axes_of_length_1(dtype, shape):
    """Nothing is compared: values are copied, also from an array with gaps, and in the other byte order."""
    rng = np.random.default_rng(len(shape))
    whole = numbers(rng, dtype, [n + 3 for n in shape], nan=0.1)
    cut = whole[tuple(slice(n) for n in shape)]
    for x in (cut, cut[::-1], np.asfortranarray(cut), cut.astype(dtype.newbyteorder("S")), cut[:, :, ::-1]):
        x = x if dtype.kind != "b" else x.view(np.uint8) != 0
        for policy in ("propagate", "omit"):
            assert_extremes(x, (1,), None, policy, twins.find, EVERY_SET)
        assert_extremes(x, (1,), rng.random(x.shape) < 0.5, "omit", twins.find)


@pytest.mark.parametrize("axes", [(0, 1), (0,), (1,), (2,), (0, 2)])
def test_one_and_several_threads_find_the_same_where_axes_do_not_join(axes):
    x = np.random.default_rng(6).integers(0, 9, (300, 400, 10), np.uint8).transpose(2, 1, 0)[:, 1:]
    before = ex.get_num_threads()
    results = []
    for threads in (1, 2):
        ex.set_num_threads(threads)
        results.append([ex.argmax(x, axes), ex.min(x, axes), ex.argmin(x, axes, select_last_index=True)])
    ex.set_num_threads(before)
    for one, other in zip(*results, strict=True):
        assert_same_bits(one, other)
    assert_same_bits(results[0][1], x.min(axes))


@pytest.mark.parametrize("step", sometimes([2, 3, 4, 5], [2, 5]))
@pytest.mark.parametrize("dtype", TYPES)
def test_rows_with_gaps(dtype, step):
    """Elements in the gaps would often win, and the array ends with its last element."""
    rng = np.random.default_rng(step)
    for rows, length in ((40, 9), (40, 33), (17, 65), (5, 200), (33, 255), (3, 1025), (2, 5600), (1, 40_000)):
        whole = numbers(rng, dtype, (rows, length * step + 7), nan=0.0 if length % 2 else 0.002)
        for start in (0, 3):
            part = whole[:, start:][:, : (length - 1) * step + 1][:, ::step]
            check(part, 1)
        check(part[:, ::-1], 1)
        part[...] = part[0, 0]
        check(part, 1)


SHAPES = [((70, 130), 0), ((70, 130), 1), ((300, 4), 1), ((300, 10), 1), ((5, 12, 70), 1), ((3, 3000), 1)]


def masks(shape, rng):
    """Masks of a shape; some are broadcast, some leave many slices empty."""
    drawn = rng.random(shape)
    yield drawn < 0.5
    yield drawn < 0.01
    yield np.asfortranarray(drawn < 0.5)
    yield np.repeat(drawn < 0.5, 2, axis=-1)[..., ::2]
    for axis in range(len(shape)):
        yield np.broadcast_to(rng.random([n if each == axis else 1 for each, n in enumerate(shape)]) < 0.5, shape)


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("dtype", TYPES)
def test_masks_of_any_layout(shape, axis, dtype):
    rng = np.random.default_rng(3)
    x = numbers(rng, dtype, shape, nan=0.01)
    for mask in masks(shape, rng):
        check(x, axis, mask)


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_a_slice_of_nan_alone_is_left_out_whatever_lies_beside_it(shape, axis, dtype):
    rng = np.random.default_rng(4)
    x = rng.standard_normal(shape).astype(dtype)
    x[rng.random(shape) < 0.1] = np.nan
    along = np.moveaxis(x, axis, 0)
    along[:, ..., ::3] = np.nan
    # Slices whose only number loses to all others.
    along[:, ..., 1:3] = np.nan
    along[len(along) // 2, ..., 1] = -np.inf
    along[len(along) // 2, ..., 2] = np.inf
    x = np.copysign(x, rng.standard_normal(shape).astype(dtype), where=np.isnan(x), out=x)
    for each in (x, np.asfortranarray(x), x.astype(x.dtype.newbyteorder("S"))):
        check(each, axis, policy="omit")


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "float16", "float32", "int64"])
def test_elements_that_lose_to_all_others_are_told_from_none(dtype):
    rng = np.random.default_rng(5)
    limits = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
    ends = (limits.min, limits.max) if limits else (-np.inf, np.inf)
    for worst in ends:
        # Among others the number of rows that one-byte row numbers can distinguish, one fewer and one more.
        for rows in (1, 2, 7, 8, 9, 254, 255, 256, 257, 600):
            x = np.full((rows, 140), worst, dtype)
            x[:, 100:] = rng.integers(0, 3, (rows, 40))
            mask = rng.random(x.shape) < 1.5 / rows
            # Columns in which only the first or the last row takes part, with the worst elements and with others.
            mask[:, [0, 1, 138, 139]] = False
            mask[0, [0, 138]] = mask[-1, [1, 139]] = True
            check(x, 0, mask)


LENGTH = 70_000
# The end of what is read before the first block, and the ends of blocks that start with 2 KiB or 16 KiB and grow.
BORDERS = [start + 2**power for start in (0, 16_384) for power in range(10, 16)]
NEAR = [place for border in BORDERS for place in range(border - 66, border + 67)]
PLACES = sorted({*range(600), *(place for place in NEAR if place < LENGTH - 1)})


@pytest.mark.parametrize("dtype", sometimes([np.dtype(each) for each in ("bool", "int8", "uint16", "int32", "uint64")]))
@pytest.mark.parametrize(("start", "last"), [(0, False), (5, True)])
@pytest.mark.usefixtures("instruction_set")
def test_a_row_ends_at_the_extreme_of_its_type(dtype, start, last):
    """No later element beats the extreme, so the search ends there: at each place, around the borders of blocks."""
    low, high = (False, True) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for find, value_of, background, best in ((ex.argmax, ex.max, low, high), (ex.argmin, ex.min, high, low)):
        row = np.full(LENGTH + start, background, dtype)[start:]
        for place in PLACES:
            # Equal elements that come later, seen from the end whose ties win, must lose.
            hits = [place, min(place + 1, LENGTH - 1), LENGTH - 1]
            hits = [LENGTH - 1 - hit for hit in hits] if last else hits
            row[hits] = best
            assert find(row, select_last_index=last) == hits[0]
            if place % 16 == 0:
                assert value_of(row, return_index=True, select_last_index=last) == (best, hits[0])
            row[hits] = background
        assert find(row, select_last_index=last) == (LENGTH - 1 if last else 0)
        agreement.compared += len(PLACES)


@pytest.mark.parametrize("length", [2, 7, 40, 65, 257, 1000, 16_385, 40_000])
@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.usefixtures("instruction_set")
def test_any_byte_of_a_bool_but_zero_is_true(length, start):
    rng = np.random.default_rng(length)
    stored = rng.choice([0, 1, 2, 128, 255], (60, length + start), p=[0.9, *[0.025] * 4]).astype(np.uint8)[:, start:]
    stored[::7] = 0
    stored[1::7] |= 1
    for rows in (stored, stored[::-1, ::-1]):
        truth = rows != 0
        x = rows.view(bool)
        low, high = ex.minmax(x, 1)
        for extreme, function, places in ((low, ex.min, truth.argmin(1)), (high, ex.max, truth.argmax(1))):
            # A result has the byte 1, as NumPy's has.
            chosen = np.take_along_axis(truth, places[:, None], 1)[:, 0].astype(np.uint8)
            values, indices = function(x, 1, return_index=True)
            assert (indices == places).all()
            for each in (extreme, function(x, 1), values):
                assert (each.view(np.uint8) == chosen).all()
            # Along the other axis, and where there is nothing to reduce.
            columns = function(x, 0, return_index=True)
            assert (columns.values.view(np.uint8) == (truth.max(0) if function is ex.max else truth.min(0))).all()
            assert (function(x, 0).view(np.uint8) == columns.values.view(np.uint8)).all()
            assert (function(x, axis=()).view(np.uint8) == truth).all()
        where = rng.random(rows.shape) < 0.9
        expected = twins.find(truth, ex.operations.Order.MAX, (1,), ex.operations.Tie.LAST, where=where)[1][:, 0]
        assert (ex.argmax(x, 1, where=where, select_last_index=True, default=-1) == expected).all()


def rows_at(dtype, length, alignment):
    """A square of rows, each starting at the alignment, in memory full of elements that would win."""
    pitch = -(-(length * dtype.itemsize + 64) // 64) * 64
    winners = nans(dtype) if dtype in FLOATS else landmarks(dtype)
    memory = np.resize(winners.view(np.uint8), length * pitch + 128)
    start = -memory.ctypes.data % 64 + alignment
    first = memory[start : start + length * dtype.itemsize].view(dtype)
    return np.lib.stride_tricks.as_strided(first, (length, length), (pitch, dtype.itemsize))


EVERY = [(length, at) for length in range(1, 301) for at in range(64)]
SOME = [(n, at) for n in (1, 2, 3, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 300) for at in (0, 1, 8, 63)]


@pytest.mark.parametrize("cases", [SOME, pytest.param(EVERY, marks=pytest.mark.exhaustive)], ids=["some", "every"])
@pytest.mark.parametrize("dtype", [np.dtype("int8"), BFLOAT16, np.dtype("float32"), np.dtype("uint64")], ids=str)
@pytest.mark.usefixtures("instruction_set")
def test_the_extremum_at_every_place_of_rows_at_every_alignment(dtype, cases):
    low, high = ascending(dtype, 2)
    for (length, alignment), limit in zip(cases, [0, 32] * len(cases), strict=False):
        _native.set_small_limit(limit)
        rows = rows_at(dtype, length, alignment)
        places = np.arange(length)
        for find, background, best in ((ex.argmax, low, high), (ex.argmin, high, low)):
            rows[...] = background
            np.fill_diagonal(rows, best)
            for last in (False, True):
                assert (find(rows, 1, select_last_index=last) == places).all()
                assert [find(row, select_last_index=last) for row in rows] == list(range(length))
            if find is ex.argmax:
                assert (ex.hardmax(rows, 1) == np.eye(length, dtype=dtype)).all()
        agreement.compared += 9 * length
