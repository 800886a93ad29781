"""Test cases, each an operation and its inputs, on which implementations must agree."""

import itertools

import numpy as np

from extremum.operations import ArgReduce, Extremum, OneHot, Order, Reduce, Tie
from strategies import FLOATS, ascending, nans, sample, spread, ties

INT64 = np.dtype("int64")

# Lengths around powers of two: where vectors, unrolled blocks and index widths end.
LENGTHS = (1, 2, 3, *sorted({2**k + d for k in (3, 4, 5, 6, 8, 9) for d in (-1, 0, 1)}), 4097)
WIDTHS = tuple(range(1, 71))


def arg_reductions(axes, *, keepdims=False, index=INT64):
    """The four ArgReduce operations over `axes`: largest first and last, smallest first and last."""
    return [ArgReduce(order, axes, keepdims, tie, index) for order in Order for tie in Tie]


def itself(operation, *, identity=False):
    """The reduction that gives the element where `operation` gives its index."""
    return Reduce(operation.order, operation.axes, operation.keepdims, operation.tie, identity)


def reductions(axes, *, keepdims=False, index=INT64):
    """Every operation over a set of axes: four that give the index, Hardmax, and four that give the elements."""
    indices = arg_reductions(axes, keepdims=keepdims, index=index)
    return [*indices, OneHot(axes), *map(itself, indices)]


def broadcastable(rng, shape):
    """A shape that broadcasts to `shape`: some lengths 1, some leading axes missing."""
    lengths = [1 if rng.random() < 0.3 else n for n in shape]
    return tuple(lengths[rng.integers(0, len(shape) + 1) if rng.random() < 0.3 else 0 :])


def edge_table(rng, dtype, n):
    """Rows of `n` elements whose extremum lies at each edge a kernel may trip over: once, twice, or as NaN."""
    return np.stack(list(_edge_rows(rng, dtype, n)))


def _edge_rows(rng, dtype, n):
    low, high = ascending(dtype, 2)
    edges = sorted({0, 1, 7, 8, 15, 16, 31, 32, 63, 64, 255, 256, n // 2, n - 2, n - 1} & set(range(n)))
    yield np.full(n, low, dtype)
    for (background, peak), k in itertools.product(((low, high), (high, low)), edges):
        row = np.full(n, background, dtype)
        row[k] = peak
        yield row
    for pair in itertools.pairwise(edges):
        row = np.full(n, low, dtype)
        row[list(pair)] = high
        yield row
    if dtype in FLOATS:
        for k in edges:
            row = spread(rng, dtype, n)
            row[[k, edges[-1]]] = rng.choice(nans(dtype), 2)
            yield row
    yield spread(rng, dtype, n)
    yield ties(rng, dtype, n)


def edge_cases(dtype, lengths=LENGTHS, seed=0):
    """Each length as a contiguous row, as a column, and as an elementwise operation on whole and single rows."""
    rng = np.random.default_rng(seed)
    for n in lengths:
        rows = edge_table(rng, dtype, n)
        columns = rows.T.copy()
        yield from ((operation, [rows]) for operation in reductions((1,)))
        yield from ((operation, [columns]) for operation in reductions((0,)))
        yield from ((operation, [columns]) for operation in reductions((0, 1)))
        for order in Order:
            yield Extremum(order), [rows, rows[::-1].copy()]
            yield Extremum(order), [columns, rows[0, :, None], columns[:1], columns[::-1].copy()]


def narrow_row_cases(dtype, widths=WIDTHS, seed=0):
    """Many short rows of each width."""
    rng = np.random.default_rng(seed)
    for width in widths:
        rows = np.concatenate([edge_table(rng, dtype, width), sample(rng, dtype, (37, width))])
        yield from ((operation, [rows]) for operation in reductions((1,)))


def column_cases(dtype, reduced, extents=WIDTHS, seed=0):
    """Arrays of `reduced` rows with each inner extent, reduced over the rows, alone and with an outer axis."""
    rng = np.random.default_rng(seed)
    columns = edge_table(rng, dtype, reduced).T
    for extent in extents:
        x = columns[:, np.resize(rng.permutation(columns.shape[1]), extent)].copy()
        yield from ((operation, [x]) for operation in reductions((0,)))
        pair = np.stack([x, x[::-1]])
        yield arg_reductions((1,), keepdims=True)[rng.integers(4)], [pair]
        yield OneHot((1,)), [pair]
        if extent in (8, 16, 32, 64):
            # One block more than kernels read side by side.
            many = np.stack([np.roll(x, turn, axis=0) for turn in range(9)])
            yield from ((operation, [many]) for operation in reductions((1,)))
