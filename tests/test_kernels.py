"""The native module against the oracle's fast twin, with every instruction set this machine has."""

from functools import partial

import numpy as np
import pytest

import agreement
import extremum as ex
import twins
from agreement import EVERY_SET, assert_same_bits, kernels
from cases import arg_reductions, column_cases, edge_cases, narrow_row_cases, reductions
from extremum.operations import Extremum, OneHot, Order
from strategies import BFLOAT16, ELEMENT_TYPES, bits_type, landmarks, nans, sometimes
from watched import run_watched

SOME_WIDTHS = sorted({*range(1, 10), *(edge + by for edge in (16, 32, 64) for by in (-1, 0, 1)), 24, 40, 70})
assert_agreement = partial(agreement.assert_agreement, run=agreement.native, oracle=twins.run)


@pytest.mark.parametrize("dtype", sometimes(ELEMENT_TYPES))
class TestBlockEdges:
    def test_lengths(self, dtype):
        assert_agreement(edge_cases(dtype))

    def test_narrow_rows(self, dtype):
        assert_agreement(narrow_row_cases(dtype, SOME_WIDTHS))

    @pytest.mark.parametrize("reduced", [17, 257])
    def test_columns(self, dtype, reduced):
        assert_agreement(column_cases(dtype, reduced, SOME_WIDTHS))


@pytest.mark.exhaustive
@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
class TestEverySize:
    def test_every_length_to_600(self, dtype):
        assert_agreement(edge_cases(dtype, range(1, 600), seed=1))

    def test_narrow_rows(self, dtype):
        assert_agreement(narrow_row_cases(dtype))

    @pytest.mark.parametrize("first", range(1, 300, 20))
    def test_columns_of_every_height(self, dtype, first):
        for reduced in range(first, min(first + 20, 300)):
            assert_agreement(column_cases(dtype, reduced, seed=reduced))


@pytest.mark.parametrize("dtype", ["uint16", "float16"])
def test_columns_beyond_16_bit_indices(dtype):
    assert_agreement(column_cases(np.dtype(dtype), 65537, (1, 5, 33)))


def test_narrow_columns_of_many_rows_are_read_as_the_widest_rows():
    assert_agreement(column_cases(np.dtype("uint8"), 17001, (2, 32, 127)))


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((8, 1 << 22), 0),
        ((300, 112_000), 0),
        ((1 << 13, 4100), 0),
        ((1 << 13, 16, 256), 1),
        ((1 << 20, 32), 0),
        ((1 << 14, 2048), 1),
        ((1 << 21, 16), 1),
        ((1 << 20, 35), 1),
    ],
)
def test_arrays_that_are_prefetched(shape, axis):
    x = np.random.default_rng(58).integers(0, 256, shape, np.uint8)
    places = np.argmax(x, axis)
    values = np.max(x, axis)
    for way in EVERY_SET:
        with kernels(**way):
            np.testing.assert_array_equal(ex.argmax(x, axis), places, str(way))
            np.testing.assert_array_equal(ex.max(x, axis), values, str(way))


@pytest.mark.parametrize("name", ["float16", "float32", "int64"])
def test_long_rows_of_columns_of_memory_with_a_nan(name):
    x = np.random.default_rng(59).integers(-9, 9, (300, 120_000 // np.dtype(name).itemsize)).astype(name)
    if name.startswith("float"):
        x[200, 20_000] = np.nan
    places = np.argmax(x, 0)
    values = np.max(x, 0)
    for way in EVERY_SET:
        with kernels(**way):
            np.testing.assert_array_equal(ex.argmax(x, 0), places, str(way))
            np.testing.assert_array_equal(ex.max(x, 0), values, str(way))


@pytest.mark.exhaustive
@pytest.mark.parametrize("reduced", [65535, 65536, 65537, 131072])
@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_tall_columns_of_every_type(dtype, reduced):
    assert_agreement(column_cases(dtype, reduced, (1, 2, 8, 31, 33, 64, 70)))


FLOATS = (*map(np.dtype, ("float16", "float32", "float64")), BFLOAT16)


@pytest.mark.parametrize("below", [2, None], ids=["first rows", "any row"])
@pytest.mark.parametrize("columns", [1, None], ids=["one column", "all columns"])
@pytest.mark.parametrize("shape", [(3000, 3), (2000, 32), (1100, 100)], ids=str)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_extrema_of_narrow_columns_that_rows_alone_tell_apart(dtype, shape, columns, below):
    rng = np.random.default_rng(61)
    negative = -1 - rng.random(shape)
    at = rng.integers(0, below or shape[0], (8, columns or shape[1])), np.arange(columns or shape[1])
    for equals in ([0.0, -0.0], [0.0, *nans(dtype)]):
        x = negative.astype(dtype)
        x[at] = rng.choice(np.array(equals, dtype), at[0].shape)
        assert_agreement((operation, [x]) for operation in reductions((0,)))


# Kernels compare 16-bit floats as integers, which have their order above zero alone.


HALVES = (np.dtype("float16"), BFLOAT16)
SIGN = 0x8000


def with_fates(rng, dtype, shape, axis, sign):
    """Floats of one sign in most lines along an axis, but every tenth line has another fate."""
    infinity = int(np.array(np.inf, dtype).view(np.uint16))
    bits = rng.integers(1, infinity + 1, shape, np.uint16) | sign
    lines = np.moveaxis(bits, axis, -1)
    fates = rng.integers(0, 70, lines.shape[:-1])
    lines[fates == 0] ^= SIGN
    lines[fates == 1] = SIGN * rng.integers(0, 2, lines[fates == 1].shape, np.uint16)
    # Where only one element may stand out, it is a zero or a NaN of either sign, or an element of the other sign.
    for fate, element in enumerate((0, SIGN, infinity + 1, SIGN + infinity + 1, sign ^ SIGN ^ 1), 2):
        chosen = lines[fates == fate]
        chosen[np.arange(len(chosen)), rng.integers(0, lines.shape[-1], len(chosen))] = element
        lines[fates == fate] = chosen
    return bits.view(dtype)


@pytest.mark.parametrize("sign", [0, SIGN], ids=["mostly above zero", "mostly below zero"])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((40, 2100), 0),
        ((700, 24), 0),
        ((60, 20, 256), 1),
        ((500, 6, 24), 1),
        ((900, 9), 1),
        ((900, 16), 1),
        ((300, 90), 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_halves_as_integers(dtype, shape, axis, sign):
    x = with_fates(np.random.default_rng(60), dtype, shape, axis, sign)
    assert_agreement((operation, [x]) for operation in reductions((axis,)))


# Every pair of elements of the narrow types. `make test` pairs some first elements with all second ones.


BYTES = tuple(map(np.dtype, ("int8", "uint8", "bool")))
# First elements that one call pairs with all second ones: 2^20 pairs.
SLAB = 16


def every(dtype):
    """Every element of a type."""
    if dtype.kind == "b":
        return np.array([False, True])
    return np.arange(256**dtype.itemsize, dtype=bits_type(dtype)).view(dtype)


def check(dtype, firsts):
    """Compare the extremum of two elements, and their index and Hardmax in rows and in columns, with the twin."""
    seconds = every(dtype)
    for start in range(0, firsts.size, SLAB):
        pair = np.broadcast_arrays(firsts[start : start + SLAB, None], seconds)
        calls = [(Extremum(order), pair) for order in Order]
        for axis in (0, 2):
            pairs = [np.stack(pair, axis)]
            calls += ((operation, pairs) for operation in (*arg_reductions((axis,), index=np.int32), OneHot((axis,))))
        for operation, inputs in calls:
            expected = twins.run(operation, *inputs)
            for way in EVERY_SET:
                with kernels(**way):
                    assert_same_bits(operation(*inputs), expected, operation, way)


@pytest.mark.parametrize("dtype", [*HALVES, *BYTES], ids=str)
def test_some_first_elements_with_every_second_one(dtype):
    """All pairs, where the type has 8 bits."""
    firsts = every(dtype)
    if dtype in HALVES:
        firsts = np.concatenate([landmarks(dtype), nans(dtype)[:4]])
    check(dtype, firsts)


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(16))
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_every_pair(dtype, part):
    check(dtype, every(dtype)[part::16].copy())


def test_random_calls_agree_with_the_reference():
    """A sample of the random calls that sanitizers watch; in a process of its own, which a crash may end."""
    lines = run_watched("random_calls", "--sessions", "--compared", 0.5, "--calls", 600)
    assert "600 calls in" in lines[-1]
