"""Every function on chunks of every element type, and what the reference finds: what each scheduler is asked."""

import numpy as np

import extremum.dask as ed
from agreement import assert_identical, assert_same_bits
from extremum import reference
from extremum.operations import Order, Tie
from strategies import ELEMENT_TYPES, sample

CHUNKS = ((5, 0, 4), (3, 2), (4,))
AXES = ((0,), (1, 0), (0, 1, 2), (2,), ())


def asked(dtypes, sets):
    """Results yet to be computed, each with what it has to be and how that is compared; so many sets of axes a type."""
    import dask.array as da

    rng = np.random.default_rng(1)
    for at, dtype in enumerate(dtypes):
        x = sample(rng, dtype, (9, 5, 4))
        d = da.from_array(x, chunks=CHUNKS)
        for turn in range(at, at + sets):
            axes = AXES[turn % len(AXES)]
            tie = (Tie.FIRST, Tie.LAST)[turn % 2]
            omit = turn % 4 < 2
            options = {"select_last_index": tie is Tie.LAST, "nan_policy": "omit" if omit else "propagate"}
            options |= {"keepdims": True, "split_every": int(rng.integers(2, 9))}
            (low, argmin), (high, argmax) = (
                reference.find(x, order, axes, tie, omit=omit and np.dtype(dtype).kind not in "biu")
                for order in (Order.MIN, Order.MAX)
            )
            zero = dtype.type(0)
            low, high = (np.where(index == -1, zero, found) for found, index in ((low, argmin), (high, argmax)))
            best = ed.max(d, axes, **options, default=zero, return_index=True)
            pair = ed.minmax(d, axes, **options, default=zero, return_index=True)
            yield from ((lazy, found, assert_identical) for lazy, found in zip(best, (high, argmax), strict=True))
            yield from (
                (lazy, found, assert_identical) for lazy, found in zip(pair, (low, high, argmin, argmax), strict=True)
            )
            yield ed.argmax(d, axes, **options, default=-1), argmax, assert_identical
            yield ed.argmin(d, axes, **options, default=-1), argmin, assert_identical
            if dtype != np.bool_:
                yield ed.hardmax(d, axes), reference.one_hot(x, axes), assert_identical
        other, row = x[::-1], x[:1]
        for order, function in ((Order.MAX, ed.maximum), (Order.MIN, ed.minimum)):
            yield function(d, d[::-1], row), reference.extremum(order, x, other, row), assert_same_bits


def hold(compute, dtypes=ELEMENT_TYPES, sets=5):
    """Have all of it computed at once, and fail where a bit is not the reference's."""
    cases = list(asked(dtypes, sets))
    for found, (lazy, expected, equal) in zip(compute([lazy for lazy, _, _ in cases]), cases, strict=True):
        equal(found, expected, f"{lazy.name} of {expected.dtype}")
