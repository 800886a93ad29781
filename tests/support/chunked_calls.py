"""Every function on chunked arrays of some element types, compared with the whole array, to test each scheduler."""

import dask.array as da
import numpy as np

import extremum as ex
import extremum.dask as ed
from agreement import assert_identical
from strategies import REPRESENTATIVES, sample

# The chunks of small arrays, and of some with more slices than NumPy's functions on indices take at a time.
SMALL = ((5, 0, 4), (3, 2), (4,))
LARGE = ((8197, 3), (2, 1), (2,))


def calls(x, d, axes):
    """Pairs of a lazy result and the expected result."""
    options = {"nan_policy": "omit", "keepdims": True, "select_last_index": True, "return_index": True}
    options["default"] = x.dtype.type(0)
    yield from zip(ed.max(d, axes, **options, split_every=2), ex.max(x, axes, **options), strict=True)
    yield from zip(ed.minmax(d, axes, **options), ex.minmax(x, axes, **options), strict=True)
    yield ed.argmin(d, axes, where=d > 0, default=-1), ex.argmin(x, axes, where=x > 0, default=-1)
    yield ed.hardmax(d, axes), ex.hardmax(x, axes)
    yield from zip(ed.top_k(d, 2, axes[0]), ex.top_k(x, 2, axes[0]), strict=True)
    yield ed.minimum(d, d[::-1], x[:1]), ex.minimum(x, x[::-1], x[:1])


def assert_every_function_agrees(compute, dtypes=REPRESENTATIVES[-2:]):
    """Compute all results at once, and fail where a bit differs from the whole array's result."""
    rng = np.random.default_rng(1)
    pairs = []
    for at, dtype in enumerate(dtypes):
        for chunks, axes in ((SMALL, ((0,), (1, 0), (0, 1, 2), (2,))[at % 4]), (LARGE, (2 - at % 2,))):
            x = sample(rng, dtype, tuple(map(sum, chunks)))
            with np.errstate(invalid="ignore"):
                pairs += calls(x, da.from_array(x, chunks=chunks), axes)
    for actual, (lazy, expected) in zip(compute([lazy for lazy, _ in pairs]), pairs, strict=True):
        assert_identical(actual, expected, lazy.name, "of", expected.dtype)
