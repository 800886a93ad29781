"""Parts of pieces, merged in any sequence and any grouping: what comes out is what the whole gives, bit for bit."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import extremum as ex
from agreement import assert_identical
from extremum import reference
from extremum.interop import as_operand
from extremum.operations import Order, Tie
from extremum.partials import Pieces, TopK
from extremum.reductions import Reduction
from extremum.selection import Selection
from law_cases import arrays_and_axes, chunkings
from strategies import FLOATS

INT64 = np.dtype(np.int64)


def plan(x, axes, order=Order.MAX, tie=Tie.FIRST, policy="propagate", default=None, **options):
    call = Reduction("max", (order is Order.MAX,), axes, options.pop("keepdims", True), tie is Tie.LAST, policy)
    return Pieces.plan(
        call, x.shape, x.dtype, values=True, index=options.pop("index", INT64), defaults=default and (default,)
    )


def parts_of(pieces, x, chunks, where=None):
    """The part of each piece that slices of these lengths cut an array into."""
    cuts = [[(stop - size, stop) for stop, size in zip(np.cumsum(sizes), sizes, strict=True)] for sizes in chunks]
    for place in itertools.product(*cuts):
        piece = tuple(slice(start, stop) for start, stop in place)
        mask = None if where is None else where[piece]
        yield pieces.part(as_operand(x[piece]), tuple(int(start) for start, _ in place), mask)


def merged_at_random(rng, pieces, parts):
    """Merge parts in a random sequence, as many at a time as it happens, until few are left."""
    while len(parts) > rng.integers(1, 5):
        parts = [parts[at] for at in rng.permutation(len(parts))]
        taken = int(rng.integers(1, len(parts) + 1))
        parts = [pieces.merge(parts[:taken]), *parts[taken:]]
    return parts


@given(
    st.data(), arrays_and_axes(), st.sampled_from(Order), st.sampled_from(Tie), st.sampled_from(["propagate", "omit"])
)
def test_neither_sequence_nor_tree_changes_a_bit(data, case, order, tie, policy):
    x, axes = case
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    where = data.draw(st.sampled_from([None, 0.3, 0.9]))
    where = None if where is None else rng.random(x.shape) < where
    # Every kept axis whole: each part is of all slices.
    chunks = [data.draw(chunkings(n)) if axis in axes else (n,) for axis, n in enumerate(x.shape)]
    omit = policy == "omit" and x.dtype.newbyteorder("=") in FLOATS
    values, indices = reference.find(x.astype(x.dtype.newbyteorder("=")), order, axes, tie, omit=omit, where=where)
    default = x.dtype.newbyteorder("=").type(1)
    pieces = plan(x, axes, order, tie, policy, default)
    parts = list(parts_of(pieces, x, chunks, where))
    for _ in range(3):
        left = merged_at_random(rng, pieces, parts)
        found = pieces.finish(left, (0,) * x.ndim)
        assert_identical(found[0], np.where(indices == -1, default, values).astype(values.dtype), f"{x!r} {chunks}")
        assert_identical(found[1], indices, f"{x!r} {chunks}")


def test_neither_sequence_nor_tree_changes_the_k_best():
    rng = np.random.default_rng(3)
    for axis, k, mode in itertools.product((None, 0, 1), (1, 3, 7), ("largest", "smallest")):
        x = np.where(rng.random((9, 8)) < 0.1, np.nan, rng.integers(0, 4, (9, 8)))
        pieces = TopK.of(Selection.of(x, k, axis, mode, True, "propagate"), x.shape, x.dtype)
        chunks = [sizes if axis in (None, at) else (sum(sizes),) for at, sizes in enumerate([(2, 5, 0, 2), (1, 3, 4)])]
        left = merged_at_random(rng, pieces, list(parts_of(pieces, x, chunks)))
        for found, expected in zip(
            pieces.finish(left, (0,) * (axis is None or 2)), ex.top_k(x, k, axis, mode=mode), strict=True
        ):
            assert_identical(found, expected, f"{x!r} {axis} {k}")


def test_what_is_settled_is_the_callers_own():
    x = np.array([[3, 1], [2, 5]])
    pieces = plan(x, (1,))
    (part,) = parts_of(pieces, x, [(2,), (2,)])
    before = [array.copy() for array in part[0]]
    for result in pieces.finish([part], (0, 0)):
        result[:] = -7
    assert_identical(part[0][0], before[0])
    assert_identical(part[0][1], before[1])


def test_indices_beyond_32_bits():
    whole = np.broadcast_to(np.float32(0), (3, 1 << 31))
    pieces = plan(whole, None, tie=Tie.LAST, keepdims=False)
    parts = [
        pieces.part(as_operand(np.array([[1.0, 4.0]], np.float32)), (row, column), None)
        for row, column in [(0, 5), (2, (1 << 31) - 2), (2, 1), (1, 0)]
    ]
    values, indices = pieces.finish(parts, ())
    assert (values, indices) == (4.0, 3 * (1 << 31) - 1)
