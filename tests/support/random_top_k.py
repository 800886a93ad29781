"""Random calls of `top_k` beside a stable sort: Dask in any chunks, xarray over any dimensions, arrays in any layout.

    python tests/support/random_top_k.py --calls 2000 --seed 7
    python tests/support/random_top_k.py --arrays avx2 --calls 200000

`--arrays` names the instruction set for calls on arrays. A failure names the seed, which makes the same call again.
"""

import warnings
from functools import partial

import dask.array as da
import numpy as np
import pytest
import xarray as xr

import extremum as ex
import extremum.dask as ed
import extremum.xarray as exx
import random_driver
import strategies
from agreement import assert_identical, kernels
from extremum import _native
from extremum.dask.selection import top_k_over
from extremum.errors import ArgumentError
from layouts import LAYOUTS
from strategies import BFLOAT16, ELEMENT_TYPES, sample

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
    return np.isnat(x) if x.dtype.kind in "mM" else strategies.is_nan(x)


def best_places(lines, there, k, mode, nan_last):
    """The places of the k best of each line, by a stable sort; -1 where it has fewer."""
    missing = is_nan(lines)
    numbers = lines
    if lines.dtype.kind in "mM":
        numbers = lines.view(np.int64)
    elif lines.dtype.kind not in "biu":
        numbers = np.where(missing, 0, lines.astype(np.float64))
    if mode == "largest":
        # The complement of an integer reverses the order without an overflow.
        numbers = ~numbers if numbers.dtype.kind in "biu" else -numbers
    numbers = np.where(missing, 0, numbers)
    order = np.lexsort((numbers, missing if nan_last else ~missing, ~there))[:, :k]
    return np.where(np.take_along_axis(there, order, 1), order, -1)


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
    indices = best_places(lines, theirs, k, mode, policy == "omit")
    values = np.take_along_axis(lines, indices, 1) if count else np.zeros((rows, k), native.dtype)
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


def compare(results, expected, options, context):
    """Fail unless values and indices are the expected ones."""
    values, indices = results
    if not options["sorted"]:
        # The same elements in any order, the filled places last.
        orders = [np.lexsort((each, each == -1)) for each in (indices, expected[1])]
        values, indices = (np.take_along_axis(each, orders[0], -1) for each in (values, indices))
        expected = [np.take_along_axis(each, orders[1], -1) for each in expected]
    assert_identical(values, expected[0], context)
    assert_identical(indices, expected[1].astype(options.get("index_dtype", np.int64)), context)


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
    mode = rng.choice(["largest", "smallest"])
    policy = rng.choice(["propagate", "omit"])
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
    compare(da.compute(*answer(kind, x, lazy, axes, k, options), scheduler="synchronous"), expected, options, context)
    return 1


# Lengths of long lines, some beyond the buffers of NumPy's index functions.
LONG = (129, 1000, 1024, 5000, 8191, 8200, 33000, 70000)


def array_of(rng):
    """An array of any type and layout: few values, or any bits of its type, with NaN in places or everywhere."""
    rank = int(rng.integers(1, 5))
    shape = [int(each) for each in rng.integers(1, (300, 40, 12, 6)[rank - 1] + 1, rank)]
    if rng.random() < 0.1:
        shape = [1, 2, 3][: rng.integers(3)]
        shape.insert(rng.integers(len(shape) + 1), int(rng.choice(LONG)))
    if rng.random() < 0.03:
        shape[rng.integers(len(shape))] = 0
    dtype = [*ELEMENT_TYPES, np.dtype("M8[us]"), np.dtype("m8[D]")][rng.integers(len(ELEMENT_TYPES) + 2)]
    own = sample(rng, dtype, shape) if dtype in ELEMENT_TYPES and rng.random() < 0.5 else elements(rng, dtype, shape)
    # What lies between elements has no meaning for a date, so its integers are laid out.
    bare = own.view(np.int64) if dtype.kind in "mM" else own
    laid = LAYOUTS[rng.integers(len(LAYOUTS))](bare, rng)
    return laid.view(dtype.newbyteorder(laid.dtype.byteorder)) if dtype.kind in "mM" else laid


def array_call(seed, instruction_set):
    """Make one call on an array from a seed, with an instruction set, and compare it with a stable sort."""
    rng = np.random.default_rng(seed)
    x = array_of(rng)
    axis = None if rng.random() < 0.15 else int(rng.integers(-x.ndim, x.ndim))
    axes = tuple(range(x.ndim)) if axis is None else (axis % x.ndim,)
    count = int(np.prod([x.shape[each] for each in axes], dtype=int))
    k = int(rng.choice(sorted({min(count, each) for each in (0, 1, 2, 3, 5, 17, 65, 500, count // 2, count)})))
    mode = rng.choice(["largest", "smallest"])
    policy = rng.choice(["propagate", "omit", "raise"], p=[0.45, 0.45, 0.1])
    mask, _ = mask_of(rng, x.shape)
    if mask is not None and mask.ndim and rng.random() < 0.5:
        mask = LAYOUTS[rng.integers(len(LAYOUTS))](mask, rng)
    default = default_of(rng, x.dtype)
    options = {"mode": mode, "nan_policy": policy, "where": mask, "default": default, "sorted": bool(rng.integers(3))}
    if count < 30000 and rng.random() < 0.3:
        options["index_dtype"] = np.dtype(rng.choice(["i4", "i2", "u4"] if default is None else ["i4", "i2"]))
    way = {"instruction_set": instruction_set, "threads": int(rng.choice([1, 2, 4]))}
    way["small_limit"] = None if rng.random() < 0.5 else 0
    context = f"seed {seed}: {x.dtype}{list(x.shape)}, strides {x.strides}, axis {axis}, k {k}, {options}, {way}"
    there = np.ones(x.shape, bool) if mask is None else mask
    refused = policy == "raise" and bool((is_nan(x.astype(x.dtype.newbyteorder("="))) & there).any())
    expected = None if refused else expected_of(x, axes, k, mode, policy, mask, default)
    before = x.tobytes()
    with kernels(**way):
        if expected is None:
            with pytest.raises(ArgumentError, match="holds NaN|holds NaT" if refused else "fewer than"):
                ex.top_k(x, k, axis, **options)
            return 0
        best = ex.top_k(x, k, (axis,) if axis is not None and rng.random() < 0.1 else axis, **options)
    results = [each if axis is None else np.moveaxis(each, axis, -1) for each in best]
    compare(results, expected, options, context)
    assert x.tobytes() == before, f"{context}: the input has changed"
    return 1


def run(calls, seed, arrays=None):
    """Make calls from a seed on, on containers, or on arrays with an instruction set; return how many were compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        each = one_call if arrays is None else partial(array_call, instruction_set=arrays)
        return sum(each(seed + number) for number in range(calls))


if __name__ == "__main__":
    random_driver.main(__doc__, run, "results are those of a stable sort", arrays=_native.instruction_sets())
