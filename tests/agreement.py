"""What it means that two implementations of the core operations agree, and the cases they are asked to agree on.

An implementation is a function ``run(operation, *inputs)``: :func:`native` here, ``extremum.reference.run`` (the
oracle) and ``twins.run`` (the oracle's fast twin). `test_mutants.py` shows that wrong ones are found out.
"""

import itertools

import numpy as np

from extremum import reference
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Tie
from layouts import LAYOUTS
from strategies import ELEMENT_TYPES, FLOATS, INDEX_TYPES, ascending, bits_type, is_nan, nans, sample, spread, ties

INT64 = np.dtype("int64")


def native(operation, *inputs):
    """Apply one core operation through the native module."""
    return operation(*inputs)


def same_bits(actual, expected):
    """Whether type, shape and every bit are equal; any NaN equals any other."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return False
    x, y = (np.ascontiguousarray(a).reshape(a.shape) for a in (actual, expected))
    return bool(np.all((x.view(bits_type(x.dtype)) == y.view(bits_type(y.dtype))) | (is_nan(x) & is_nan(y))))


def assert_same_bits(actual, expected, context=""):
    assert same_bits(actual, expected), f"{context}\nactual   {actual!r}\nexpected {expected!r}"


def assert_agrees(operation, *inputs, run=native, oracle=reference.run):
    """Fail unless `run` gives the oracle's answer and leaves its inputs as they were."""
    before = [(x.tobytes(), x.strides) for x in inputs]
    actual = run(operation, *inputs)
    assert before == [(x.tobytes(), x.strides) for x in inputs], f"{operation} changed an input"
    memory = "; ".join(f"{x.dtype}{list(x.shape)} strides {x.strides}" for x in inputs)
    assert_same_bits(actual, oracle(operation, *inputs), f"{operation} of {memory}")


def arg_reductions(axes, *, keepdims=False, index=INT64):
    """The four ArgReduce operations over `axes`."""
    return [ArgReduce(order, axes, keepdims, tie, index) for order in Order for tie in Tie]


def random_shape(rng, max_elements=400):
    """Rank 0 to 8; one in ten has an empty axis."""
    rank = rng.integers(0, 9)
    shape = rng.integers(1, max(2, int(max_elements ** (1 / max(rank, 1)) * 1.7)), rank)
    while np.prod(shape) > max_elements:
        shape[rng.integers(rank)] = 1
    if rank and rng.random() < 0.1:
        shape[rng.integers(rank)] = 0
    return tuple(int(n) for n in shape)


def random_case(rng, dtype):
    """One operation and its inputs: any shape, texture, layout, set of axes."""
    shape = random_shape(rng)
    x = LAYOUTS[rng.integers(len(LAYOUTS))](sample(rng, dtype, shape), rng)
    axes = tuple(int(a) for a in rng.permutation(len(shape))[: rng.integers(0, len(shape) + 1)])
    order, tie = list(Order)[rng.integers(2)], list(Tie)[rng.integers(2)]
    kind = rng.integers(4)
    if kind < 2 and all(shape[axis] for axis in axes):
        return ArgReduce(order, axes, bool(rng.integers(2)), tie, INDEX_TYPES[rng.integers(4)]), [x]
    if kind == 2:
        return OneHot(axes), [x]
    operands = [sample(rng, dtype, broadcastable(rng, shape)) for _ in range(rng.integers(0, 6))]
    return Extremum(order), [x, *(LAYOUTS[rng.integers(len(LAYOUTS))](y, rng) for y in operands)]


def broadcastable(rng, shape):
    """A shape that broadcasts to `shape`: some lengths 1, some leading axes missing."""
    lengths = [1 if rng.random() < 0.3 else n for n in shape]
    return tuple(lengths[rng.integers(0, len(shape) + 1) if rng.random() < 0.3 else 0 :])


def random_cases(seed, count, dtypes=ELEMENT_TYPES):
    """`count` cases of each element type, the same for the same seed."""
    rng = np.random.default_rng(seed)
    for dtype in dtypes:
        for _ in range(count):
            yield random_case(rng, dtype)


def edge_rows(rng, dtype, n):
    """Rows of `n` elements whose extremum lies at each edge a kernel may trip over, once, twice, or as NaN."""
    low, high = ascending(dtype, 2)
    edges = sorted({0, 1, 7, 8, 15, 16, 31, 32, 63, 64, 255, 256, n // 2, n - 2, n - 1} & set(range(n)))
    yield np.full(n, low, dtype)
    for background, peak in ((low, high), (high, low)):
        for k in edges:
            row = np.full(n, background, dtype)
            row[k] = peak
            yield row
    for k, m in itertools.pairwise(edges):
        row = np.full(n, low, dtype)
        row[[k, m]] = high
        yield row
    if dtype in FLOATS:
        for k in edges:
            row = spread(rng, dtype, n)
            row[[k, edges[-1]]] = rng.choice(nans(dtype), 2)
            yield row
    yield spread(rng, dtype, n)
    yield ties(rng, dtype, n)


def edge_table(rng, dtype, n):
    """The edge rows of length `n` as one array, one row each."""
    return np.stack(list(edge_rows(rng, dtype, n)))
