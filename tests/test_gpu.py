"""The functions for arrays on a GPU, run by Triton's interpreter on the CPU: the same bits as for NumPy's arrays."""

import os
import warnings
import zlib

import numpy as np
import pytest

import extremum as ex
from layouts import broadcast, contiguous, fortran, permuted, strided, windowed
from strategies import ELEMENT_TYPES, FLOATS, landmarks, nans

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
pytestmark = pytest.mark.skipif(not INTERPRETED, reason="PyTorch is large: .ci/leg gpu installs it")
if INTERPRETED:
    import torch

    from extremum import gpu
    from extremum.gpu import engine, plans

# PyTorch has no negative strides.
LAYOUTS = (contiguous, fortran, permuted, strided, broadcast, windowed)
INDEX = ("argmax", "argmin")
VALUE = ("max", "min", "minmax")


def tensor_of(x):
    """A tensor with the elements and the strides of an array."""
    with warnings.catch_warnings():
        # NumPy's broadcast arrays are read-only, and PyTorch warns of them.
        warnings.simplefilter("ignore")
        bits = torch.from_numpy(x.view(f"i{x.dtype.itemsize}"))
    return bits.view(getattr(torch, x.dtype.name))


def bits_of(result):
    """The type, the shape and the bits of an array or a tensor."""
    if isinstance(result, torch.Tensor):
        name = str(result.dtype).removeprefix("torch.")
        return name, tuple(result.shape), engine.bits_of(result.contiguous()).numpy().tolist()
    array = np.asarray(result)
    return array.dtype.name, array.shape, array.copy().view(f"i{array.dtype.itemsize}").tolist()


def assert_same(function, x, *given, where=None, **options):
    """Call both functions: type, shape and every bit are equal, and the elements are as before."""
    before = x.tobytes()
    masks = ({}, {}) if where is None else ({"where": where}, {"where": tensor_of(where)})
    expected = getattr(ex, function)(x, *given, **options, **masks[0])
    actual = getattr(gpu, function)(tensor_of(x), *given, **options, **masks[1])
    if isinstance(expected, tuple):
        assert type(actual) is type(expected)
    else:
        actual, expected = (actual,), (expected,)
    for own, other in zip(actual, expected, strict=True):
        assert bits_of(own) == bits_of(other)
    assert x.tobytes() == before


def elements(rng, dtype, shape):
    """Few different elements, so that many are equal; NaN of several bits in some arrays."""
    pool = rng.choice(landmarks(dtype), 4)
    if dtype in FLOATS and rng.random() < 0.6:
        pool = np.concatenate([pool, rng.choice(nans(dtype), 2)])
    return rng.choice(pool, shape)


def laid_out(rng, x):
    return LAYOUTS[rng.integers(len(LAYOUTS))](x, rng)


def some_axes(rng, rank):
    """None, one axis, or several in any order."""
    if rng.random() < 0.2:
        return None
    axes = tuple(int(axis) - rank * int(rng.integers(2)) for axis in rng.permutation(rank)[: rng.integers(rank + 1)])
    return axes[0] if len(axes) == 1 else axes


def some_options(rng, function, x):
    """Options of a reduction, drawn so that each meets each other."""
    options = {}
    if rng.random() < 0.4:
        options["select_last_index"] = True
    if rng.random() < 0.4:
        options["keepdims"] = True
    if rng.random() < 0.4:
        options["nan_policy"] = "omit"
    if rng.random() < 0.4:
        options["where"] = laid_out(rng, np.asarray(rng.random(x.shape) < 0.4))
    keyword = "dtype"
    if function in VALUE:
        keyword = "index_dtype"
        options["return_index"] = bool(rng.integers(2))
    options[keyword] = rng.choice(["int64", "int32"])
    may_be_empty = "where" in options or "nan_policy" in options or not x.size
    if may_be_empty:
        options["default"] = -7 if function in INDEX else landmarks(x.dtype)[0]
    elif rng.random() < 0.3:
        options[keyword] = rng.choice(["uint64", "uint32", "int16"])
    return options


@pytest.fixture(params=["as released", "small"])
def limits(request, monkeypatch):
    """The limits of the plans; small ones cut short slices into tiles, parts and columns."""
    if request.param == "small":
        monkeypatch.setattr(plans, "TILE", {1: 16, 2: 16, 4: 8, 8: 4})
        monkeypatch.setattr(plans, "THREADS", 4)
        monkeypatch.setattr(plans, "MOST_PARTS", 8)


SHAPES = [(), (1,), (37,), (3, 5), (5, 33), (70, 3), (4, 5, 6), (2, 3, 2, 5), (1, 9, 1), (0, 3), (3, 0), (2, 257)]


@pytest.mark.parametrize("function", INDEX + VALUE)
@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_reductions_have_the_bits_of_the_cpu(dtype, function, limits):
    rng = np.random.default_rng(zlib.crc32(f"{dtype} {function}".encode()))
    for shape in SHAPES:
        x = laid_out(rng, elements(rng, dtype, shape))
        assert_same(function, x, some_axes(rng, x.ndim), **some_options(rng, function, x))
