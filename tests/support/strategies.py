"""Which elements and shapes are worth testing, from seeded generators; :mod:`layouts` places them in memory."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import strategies as st

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
INTEGERS = tuple(np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64))
FLOATS = (np.dtype("float16"), BFLOAT16, np.dtype("float32"), np.dtype("float64"))
ELEMENT_TYPES = (*INTEGERS, *FLOATS, np.dtype("bool"))
# These types hold the index of any element here. Other integer types serve where they hold the last index of a slice.
INDEX_TYPES = tuple(np.dtype(name) for name in ("int64", "int32", "uint64", "uint32"))
# One type for each width and class: the others differ by a sign flip, or in how NaN is recognised.
REPRESENTATIVES = tuple(
    np.dtype(name) for name in ("bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64")
)


def sometimes(values, always=REPRESENTATIVES):
    """The values as parameters of a test; only the exhaustive leg runs those that are not in `always`."""
    return [pytest.param(each, id=str(each), marks=[] if each in always else pytest.mark.exhaustive) for each in values]


def index_types(length):
    """The types that hold every index of a slice of this length."""
    return tuple(dtype for dtype in INTEGERS if length - 1 <= np.iinfo(dtype).max)


# Longer than the buffers of 8,192 elements in which NumPy's functions on indices read an array: where one of them goes
# wrong between two buffers, a result of such a shape shows it.
BEYOND_BUFFERS = ((8200, 2), (8200, 1), (8200, 2, 1), (2, 8200, 1), (1, 8200, 1, 1), (2, 8200), (2, 1, 8200), (8200,))

# Exponent mask and quiet bit of each floating format: NaN is every exponent bit and any mantissa bit.
_EXPONENT = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF0000000000000}
_QUIET = {"float16": 0x0200, "bfloat16": 0x0040, "float32": 0x00400000, "float64": 0x0008000000000000}


def bits_type(dtype):
    """The unsigned integer type as wide as `dtype`."""
    return np.dtype(f"u{dtype.itemsize}")


def nans(dtype):
    """Quiet and signalling NaNs of both signs with several payloads."""
    exponent = _EXPONENT[dtype.name]
    quiet = _QUIET[dtype.name]
    sign = 1 << (8 * dtype.itemsize - 1)
    patterns = [exponent | quiet, exponent | quiet | 5, exponent | 1, exponent | (2 * quiet - 1)]
    return np.array([p | s for p in patterns for s in (0, sign)], bits_type(dtype)).view(dtype)


def landmarks(dtype):
    """The elements where kernels go wrong, except NaN: limits and their neighbours, zeros, infinities, subnormals."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.array([limits.min, limits.min + 1, limits.max - 1, limits.max, 0, 1, limits.max // 2], dtype)
    exponent = _EXPONENT[dtype.name]
    positive = np.array([0, 1, exponent, exponent - 1, exponent >> 1, 2 * _QUIET[dtype.name]], bits_type(dtype))
    sign = 1 << (8 * dtype.itemsize - 1)
    return np.concatenate([positive, positive | bits_type(dtype).type(sign)]).view(dtype)


def ascending(dtype, n):
    """`n` elements, none smaller than the one before, from near the smallest of the type to near the largest."""
    if dtype.kind == "b":
        return np.arange(n) >= n // 2
    low, high = (-120, 120) if dtype.kind != "u" else (0, 250)
    return np.sort(np.linspace(low, high, n).astype(dtype))


def spread(rng, dtype, shape):
    """Any bit pattern of the type except NaN, which would decide every long row of random float16."""
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    x = np.frombuffer(rng.bytes(int(np.prod(shape)) * dtype.itemsize), dtype).reshape(shape).copy()
    if dtype in FLOATS:
        x[is_nan(x)] = 0
    return x


def ties(rng, dtype, shape):
    """Few distinct elements, so that every extremum occurs many times."""
    return rng.integers(0, 2 if dtype.kind == "b" else 4, shape).astype(dtype)


def specials(rng, dtype, shape):
    """Landmarks only."""
    return rng.choice(landmarks(dtype), shape)


def with_nans(rng, dtype, shape):
    """Numbers with a NaN here and there, or nothing but NaN."""
    x = specials(rng, dtype, shape)
    share = rng.choice([0.02, 0.3, 1.0])
    if dtype in FLOATS:
        x = np.where(rng.random(shape) < share, rng.choice(nans(dtype), shape), x)
    return x


def sorted_rows(rng, dtype, shape):
    """Elements in ascending or descending order: the extremum lies at an edge."""
    x = ascending(dtype, int(np.prod(shape))).reshape(shape)
    return x[..., ::-1].copy() if x.ndim and rng.random() < 0.5 else x


def zeros(rng, dtype, shape):
    """Zeros of both signs, where the type has them."""
    return rng.choice([-0.0, 0.0], shape).astype(dtype)


TEXTURES = (spread, ties, specials, with_nans, sorted_rows, zeros)


def sample(rng, dtype, shape):
    """An array of one of the textures above."""
    return np.asarray(TEXTURES[rng.integers(len(TEXTURES))](rng, dtype, shape), dtype)


def is_nan(x):
    """Where `x` is NaN, read from its bits, so that no type and no signalling NaN raises a warning."""
    x = np.ascontiguousarray(x, x.dtype.newbyteorder("=")).reshape(x.shape)
    if x.dtype not in FLOATS:
        return np.zeros(x.shape, bool)
    magnitude = bits_type(x.dtype).type((1 << (8 * x.dtype.itemsize - 1)) - 1)
    return (x.view(bits_type(x.dtype)) & magnitude) > bits_type(x.dtype).type(_EXPONENT[x.dtype.name])


def element_types():
    """One of the 13 element types."""
    return st.sampled_from(ELEMENT_TYPES)


def axes_sets(rank):
    """Any set of axes, in any order, none negative."""
    return st.permutations(range(rank)).flatmap(lambda axes: st.integers(0, rank).map(lambda n: tuple(axes[:n])))
