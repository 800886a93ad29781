"""Random calls of `top_k` on containers: Dask in any chunks, xarray over any dimensions, beside a stable sort.

    python tests/support/random_top_k.py --calls 2000 --seed 7

A failure names the seed, which makes the same call again.
"""

import warnings

import dask.array as da
import numpy as np
import pytest
import xarray as xr

import extremum as ex
import extremum.dask as ed
import extremum.xarray as exx
import random_driver
from agreement import assert_identical
from extremum.dask.selection import top_k_over
from extremum.errors import ArgumentError
from strategies import BFLOAT16

DTYPES = tuple(map(np.dtype, ("f4", "f8", "f2", BFLOAT16, "i1", "i8", "u1", "u8", "?", ">f4", ">i2", "M8[s]", "m8[s]")))
DIMS = ("day", "lat", "lon", "level")


def elements(rng, dtype, shape):
    """Few values, so that many are equal, and NaN or NaT among them."""
    numbers = rng.integers(0 if dtype.kind in "ub" else -4, 5, shape)
    if dtype.kind == "b":
        return numbers > 2
    if dtype.kind in "mM":
        return np.where(rng.random(shape) < 0.2, np.iinfo(np.int64).min, numbers).astype(np.int64).view(dtype)
    x = numbers.astype(dtype)
    if dtype.kind not in "iu":
        x[rng.random(shape) < rng.choice([0, 0.2, 0.9])] = np.nan
        x[(x == 0) & (rng.random(shape) < 0.5)] *= -1
    return x


def is_nan(x):
    return np.isnat(x) if x.dtype.kind in "mM" else np.isnan(x.astype(np.float64))


def best_places(line, there, k, mode, nan_last):
    """The places of the k best of a line, by a stable sort; -1 where it has fewer."""
    missing = is_nan(line)
    numbers = line.view(np.int64) if line.dtype.kind in "mM" else line.astype(np.float64)
    sign = -1 if mode == "largest" else 1
    places = [at for at in range(line.size) if there[at]]
    places.sort(key=lambda at: (missing[at] if nan_last else not missing[at], 0 if missing[at] else sign * numbers[at]))
    return (places + [-1] * k)[:k]


def expected_of(x, axes, k, mode, policy, where, default):
    """Values and indices with the axes as one, the last; None if a slice has too few elements and no default."""
    native = x.astype(x.dtype.newbyteorder("="))
    there = np.ones(x.shape, bool) if where is None else np.broadcast_to(where, x.shape).copy()
    if policy == "omit" and default is not None:
        there &= ~is_nan(native)
    others = [axis for axis in range(x.ndim) if axis not in axes]
    shape = [x.shape[axis] for axis in others]
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=int))
    rows = int(np.prod(shape, dtype=int))
    lines, theirs = (each.transpose(*others, *axes).reshape(rows, count) for each in (native, there))
    indices = np.full((len(lines), k), -1, np.int64)
    values = np.zeros((len(lines), k), native.dtype)
    for at, (line, own) in enumerate(zip(lines, theirs, strict=True)):
        indices[at] = best_places(line, own, k, mode, policy == "omit")
        values[at] = line[indices[at]] if count else 0
    if (indices == -1).any():
        if default is None:
            return None
        values[indices == -1] = default
    return values.reshape(*shape, k), indices.reshape(*shape, k)


def chunks_of(rng, shape):
    sizes = []
    for length in shape:
        cuts = np.sort(rng.choice(length + 1, min(length, rng.integers(0, 4)), replace=True)) if length else []
        sizes.append(tuple(int(each) for each in np.diff([0, *cuts, length])))
    return tuple(sizes)


def mask_of(rng, shape):
    """A mask that broadcasts to a shape, NumPy's or Dask's; or None."""
    if rng.random() < 0.4:
        return None, None
    own = [length if rng.random() < 0.7 else 1 for length in shape[rng.integers(len(shape) + 1) :]]
    plain = rng.random(own) < rng.choice([0.05, 0.5, 0.9])
    return plain, da.from_array(plain, chunks=chunks_of(rng, own)) if own and rng.random() < 0.5 else plain


def default_of(rng, dtype):
    if rng.random() < 0.3:
        return None
    if dtype.kind in "mM":
        return dtype.type("NaT")
    return bool(rng.integers(2)) if dtype.kind == "b" else int(rng.integers(5))


def answer(kind, x, lazy, axes, k, options):
    """The result of one way of calling, with the axes as one, the last."""
    if kind == "dask over several axes":
        return top_k_over(lazy, k, axes, **options)
    if kind in ("xarray", "xarray over dask"):
        array = xr.DataArray(x if kind == "xarray" else lazy, dims=DIMS[: x.ndim])
        best = exx.top_k(array, k, [DIMS[axis] for axis in axes], **options)
        others = [name for axis, name in enumerate(array.dims) if axis not in axes]
        last = DIMS[axes[0]] if len(axes) == 1 else "k"
        return [each.transpose(*others, last).data for each in best]
    axis = None if len(axes) == x.ndim and kind == "dask, all axes" else axes[0]
    function = ed.top_k if kind != "plain" else ex.top_k
    best = function(x if kind == "plain" else lazy, k, axis, **options)
    return [each if axis is None else np.moveaxis(each, axis, -1) for each in best]


def one_call(seed):
    """Make one call from a seed in one way, and compare it with a stable sort."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 5))
    shape = tuple(int(each) for each in rng.integers(1, (40, 9, 6, 4)[rank - 1] + 1, rank))
    if rng.random() < 0.05:
        shape = (0, *shape[1:])
    x = elements(rng, DTYPES[rng.integers(len(DTYPES))], shape)
    axes = tuple(sorted(rng.choice(rank, rng.integers(1, rank + 1), replace=False).tolist()))
    ways = ["xarray", "xarray over dask", "dask over several axes"]
    ways += ["dask"] * 2 + ["plain"] if len(axes) == 1 else []
    ways += ["dask, all axes"] if len(axes) == rank else []
    kind = ways[rng.integers(len(ways))]
    lazy = da.from_array(x, chunks=chunks_of(rng, shape))
    count = int(np.prod([shape[axis] for axis in axes], dtype=int))
    k = int(rng.choice(sorted({min(count, each) for each in (0, 1, 2, 5, 17, count)})))
    mode, policy = rng.choice(["largest", "smallest"]), rng.choice(["propagate", "omit"])
    plain_mask, mask = mask_of(rng, shape)
    if kind in ("plain", "xarray"):
        mask = plain_mask
    if kind.startswith("xarray") and mask is not None and rng.random() < 0.5:
        # A mask with names has its dimensions in any order.
        names = DIMS[rank - mask.ndim : rank]
        named = xr.DataArray(np.broadcast_to(plain_mask, shape[rank - mask.ndim :]), dims=names)
        mask = named.transpose(*rng.permutation(names)) if names else named
    default = default_of(rng, x.dtype)
    options = {"mode": mode, "nan_policy": policy, "where": mask, "default": default}
    # Dask's result is in order whatever `sorted` says.
    options["sorted"] = bool(rng.integers(3))
    if rng.random() < 0.3:
        options["index_dtype"] = np.dtype(rng.choice(["i4", "i2", "u4"] if default is None else ["i4", "i2"]))
    context = f"seed {seed}: {kind} {x.dtype}{list(shape)} over {axes}, chunks {lazy.chunks}, k {k}, {options}"
    there = plain_mask
    if not kind.startswith("xarray") and rng.random() < 0.2:
        # A masked array of NumPy, also as chunks; its own mask counts as `where` does.
        hidden = rng.random(shape) < rng.choice([0.1, 0.8])
        there = ~hidden if plain_mask is None else np.broadcast_to(plain_mask, shape) & ~hidden
        x = np.ma.array(x, mask=hidden)
        lazy = da.from_array(x, chunks=lazy.chunks)
    expected = expected_of(np.asarray(x), axes, k, mode, policy, there, default)
    if expected is None:
        with pytest.raises(ArgumentError, match="fewer than"):
            da.compute(*answer(kind, x, lazy, axes, k, options), scheduler="synchronous")
        return 0
    values, indices = da.compute(*answer(kind, x, lazy, axes, k, options), scheduler="synchronous")
    if not options["sorted"]:
        # The same elements in any order, the filled places last.
        orders = [np.lexsort((each, each == -1)) for each in (indices, expected[1])]
        values, indices = (np.take_along_axis(each, orders[0], -1) for each in (values, indices))
        expected = [np.take_along_axis(each, orders[1], -1) for each in expected]
    assert_identical(values, expected[0], context)
    assert_identical(indices, expected[1].astype(options.get("index_dtype", np.int64)), context)
    return 1


def run(calls, seed):
    """Make calls from a seed on; return how many results were compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sum(one_call(seed + number) for number in range(calls))


if __name__ == "__main__":
    random_driver.main(__doc__, run, "results are those of a stable sort")
