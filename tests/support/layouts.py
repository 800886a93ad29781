"""Every way an array can lie in memory: each function takes an array and a random generator and lays it out so."""

import numpy as np

from strategies import FLOATS, landmarks, nans


def _buffer(x, rng, shape):
    """Memory of `shape` full of elements that win a comparison: NaN, or the largest and the smallest."""
    winners = nans(x.dtype) if x.dtype in FLOATS else landmarks(x.dtype)
    return rng.choice(winners, shape)


def contiguous(x, rng):
    return x.copy(order="C")


def fortran(x, rng):
    return x.copy(order="F")


def permuted(x, rng):
    axes = rng.permutation(x.ndim)
    return x.transpose(axes).copy().transpose(np.argsort(axes))


def reversed_axes(x, rng):
    """Negative strides along some axes."""
    flip = tuple(slice(None, None, -1) if rng.random() < 0.6 else slice(None) for _ in range(x.ndim))
    return x[(*flip, ...)].copy()[(*flip, ...)]


def strided(x, rng):
    """Gaps along up to three axes, also at both ends; with gaps along all its axes, rank 8 would fill memory."""
    chosen = rng.permutation(x.ndim)[:3]
    gaps = [axis in chosen for axis in range(x.ndim)]
    steps = [int(rng.integers(1, 4)) if gap else 1 for gap in gaps]
    starts = [int(rng.integers(0, 3)) if gap else 0 for gap in gaps]
    ends = [start + n * step for start, n, step in zip(starts, x.shape, steps, strict=True)]
    buffer = _buffer(x, rng, tuple(end + gap for end, gap in zip(ends, gaps, strict=True)))
    view = buffer[(*map(slice, starts, ends, steps), ...)]
    view[...] = x
    return view


def mixed(x, rng):
    """Permuted, reversed and strided at once."""
    axes = rng.permutation(x.ndim)
    flip = tuple(slice(None, None, -1) if rng.random() < 0.5 else slice(None) for _ in range(x.ndim))
    return strided(x.transpose(axes)[(*flip, ...)], rng)[(*flip, ...)].transpose(np.argsort(axes))


def broadcast(x, rng):
    """Zero strides along some axes, also those of an empty array."""
    keep = tuple(slice(0, 1) if n and rng.random() < 0.6 else slice(None) for n in x.shape)
    return np.broadcast_to(x[(*keep, ...)], x.shape)


def windowed(x, rng):
    """Every axis is a window that slides over one row by 0 to 3 elements, so rows overlap."""
    steps = rng.integers(0, 4, x.ndim)
    length = 1 + sum((n - 1) * step for n, step in zip(x.shape, steps, strict=True)) if x.size else 0
    row = np.resize(x, length)
    return np.lib.stride_tricks.as_strided(row, x.shape, tuple(int(step) * x.itemsize for step in steps))


def unaligned(x, rng):
    memory = np.empty(x.nbytes + 1, np.uint8)
    view = memory[1:].view(x.dtype).reshape(x.shape)
    view[...] = x
    return view


def read_only(x, rng):
    view = x.copy()
    view.flags.writeable = False
    return view


def byte_swapped(x, rng):
    return x.astype(x.dtype.newbyteorder("S"))


REPEATING = (broadcast, windowed)
LAYOUTS = (contiguous, fortran, permuted, reversed_axes, strided, mixed, *REPEATING, unaligned, read_only, byte_swapped)
