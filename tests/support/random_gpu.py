"""Random calls of the functions for arrays on a GPU beside those of the CPU, on a card or by Triton's interpreter.

    python tests/support/random_gpu.py --calls 2000 --seed 7
    TRITON_INTERPRET=1 python tests/support/random_gpu.py --calls 2000 --seed 7

Every option meets every other, also values that are mistakes: then both raise the same error. A failure names the seed,
which makes the same call again.
"""

import contextlib
import warnings

import numpy as np
import torch

import extremum as ex
import random_driver
from agreement import same_bits
from extremum import gpu
from extremum.gpu import calls, launcher, memory, operands, plans
from extremum.gpu.elementwise import extremum
from extremum.gpu.reductions import ones, reduce
from extremum.gpu.selection import keys, select
from layouts import broadcast, contiguous, fortran, permuted, strided, windowed
from refusal import explained
from strategies import ELEMENT_TYPES, FLOATS, landmarks, nans, sample

DEVICE = "cpu" if launcher.INTERPRETED else "cuda"
# PyTorch has no negative strides.
LAYOUTS = (contiguous, fortran, permuted, strided, broadcast, windowed)
FUNCTIONS = ("argmax", "argmin", "max", "min", "minmax", "hardmax", "maximum", "minimum", "top_k")
SMALL = {
    "WARP": 32,
    "WARPS": 2,
    "LONG_ROW": 48,
    "ROUNDS_OF_PARTS": 4,
    "MOST_PARTS": 8,
    "MOST_ROUNDS": 3,
    "MOST_OPERANDS": 3,
    "WRITTEN": {1: 8, 2: 8, 4: 4, 8: 2},
    "MOST_SORTED": 32,
    "SORTED": 16,
    "SORTED_BY_PYTORCH": 16,
    "SORTED_BY_WARP": 16,
    "SMALLEST_GROUP": 2,
    "FEW": 4,
}
"""Limits of the plans that cut short slices into tiles, parts and columns."""


def forget():
    """Forget what was planned, as with other limits."""
    for operator in (reduce, ones, select, keys, extremum):
        operator.prepared.cache_clear()
    calls._KNOWN.clear()


def _give(limits):
    for name, limit in limits.items():
        setattr(plans, name, limit)
    forget()


@contextlib.contextmanager
def limits(changes):
    """Give the plans other limits in a ``with`` block."""
    before = {name: getattr(plans, name) for name in changes}
    _give(changes)
    try:
        yield
    finally:
        _give(before)


def tensor_of(x):
    """A tensor with the elements and the strides of an array."""
    with warnings.catch_warnings():
        # NumPy's broadcast arrays are read-only, and PyTorch warns of them.
        warnings.simplefilter("ignore")
        bits = torch.from_numpy(x.view(f"i{x.dtype.itemsize}"))
    if x.size:
        # A copy to a device would lie there without gaps.
        last = sum((size - 1) * stride for size, stride in zip(bits.shape, bits.stride(), strict=True))
        memory = bits.as_strided((last + 1,), (1,)).to(DEVICE)
        bits = memory.as_strided(bits.shape, bits.stride())
    return bits.to(DEVICE).view(getattr(torch, x.dtype.name))


def zeros_like(x):
    """A tensor of zeros with the strides of another; other values stay."""
    if not isinstance(x, torch.Tensor):
        return x
    return torch.zeros(x.untyped_storage().nbytes() // x.itemsize, dtype=x.dtype, device=DEVICE).as_strided(
        x.shape, x.stride()
    )


def array_of(result):
    """A tensor as an array of the same type, shape and bits; other results are arrays."""
    if not isinstance(result, torch.Tensor):
        return np.asarray(result)
    return memory.bits_of(result.contiguous()).cpu().numpy().view(operands.TYPES[result.dtype])


def exactly(actual, expected):
    """Whether every bit is equal; :func:`agreement.same_bits` lets any NaN equal any other."""
    return same_bits(actual, expected) and actual.tobytes() == expected.tobytes()


def elements(rng, dtype, shape):
    """Few different elements, so that many are equal, or any bits; NaN of several bits in some arrays."""
    if rng.random() < 0.2:
        return sample(rng, dtype, shape)
    pool = rng.choice(landmarks(dtype), 4)
    if dtype in FLOATS and rng.random() < 0.6:
        pool = np.concatenate([pool, rng.choice(nans(dtype), 2)])
    return rng.choice(pool, shape)


def laid_out(rng, x):
    return LAYOUTS[rng.integers(len(LAYOUTS))](x, rng)


def one_of(rng, *values):
    return values[rng.integers(len(values))]


def shape_of(rng):
    rank = int(rng.choice(6, p=[0.05, 0.2, 0.3, 0.25, 0.15, 0.05]))
    shape = [int(size) for size in rng.integers(1, (2, 90, 24, 8, 5, 4)[rank] + 1, rank)]
    if rank and rng.random() < 0.08:
        shape[rng.integers(rank)] = 0
    return tuple(shape)


def axis_of(rng, rank):
    """None, one axis or several, in every form; sometimes a mistake."""
    several = [int(axis) - rank * int(rng.integers(2)) for axis in rng.permutation(rank)[: rng.integers(rank + 1)]]
    if rng.random() < 0.03:
        return one_of(rng, True, 1.0, "0", rank, -rank - 1, (0, 0), (0, None))
    if rng.random() < 0.2:
        return None
    if len(several) == 1:
        return one_of(rng, several[0], several, tuple(several), np.int32(several[0]))
    return one_of(rng, several, tuple(several))


def mask_of(rng, shape):
    """A mask that broadcasts to the shape, of NumPy, PyTorch or lists; sometimes a mistake."""
    own = [size if rng.random() < 0.7 else 1 for size in shape[rng.integers(len(shape) + 1) :]]
    mask = rng.random(own) < rng.choice([0.05, 0.5, 0.95])
    if rng.random() < 0.03:
        return one_of(rng, np.ones((*shape, 2), bool), np.ones(shape, np.int8), 1, [True, False, True])
    if rng.random() < 0.1:
        return mask.tolist()
    return laid_out(rng, np.asarray(mask))


def default_of(rng, dtype):
    """An element, or a number that may be beyond the range of the type, or no number."""
    own = landmarks(dtype)
    if rng.random() < 0.7:
        return own[rng.integers(len(own))]
    numbers = (True, 0, 1, -1, 300, 70000, 1 << 40, -(1 << 63), 1 << 64, 0.5, 1e6, 1e300, -0.0)
    return one_of(rng, *numbers, float("inf"), float("nan"), "x", (1, 0), (1, 2, 3), np.ones(2), None)


def shared_options(rng, shape):
    options = {}
    if rng.random() < 0.6:
        options["nan_policy"] = rng.choice([None, "propagate", "omit", "raise", "skip"], p=[0.1, 0.2, 0.5, 0.19, 0.01])
    if rng.random() < 0.4:
        options["where"] = mask_of(rng, shape)
    return options


def index_type_of(rng):
    names = ("int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64")
    name = one_of(rng, *names[:2], *names)
    return one_of(rng, name, np.dtype(name), getattr(np, name), *([">i4", "float32", "x", None] * (rng.random() < 0.1)))


def reduction(rng, function, x):
    """The arguments and the options of a reduction."""
    options = shared_options(rng, x.shape)
    for name in ("select_last_index", "keepdims"):
        if rng.random() < 0.5:
            options[name] = one_of(rng, True, True, False, 1, np.True_, *(["yes", 1.0] * (rng.random() < 0.03)))
    is_index = function.startswith("arg")
    if not is_index:
        options["return_index"] = one_of(rng, True, False)
    if rng.random() < 0.6:
        options["dtype" if is_index else "index_dtype"] = index_type_of(rng)
    if rng.random() < 0.6:
        options["default"] = default_of(rng, np.dtype(np.int64) if is_index else x.dtype)
    return (x, axis_of(rng, x.ndim)), options


def selection(rng, x):
    """The arguments and the options of ``top_k``."""
    axis = one_of(rng, None, int(rng.integers(-x.ndim, x.ndim))) if x.ndim else one_of(rng, None, 0)
    if rng.random() < 0.05:
        axis = axis_of(rng, x.ndim)
    n = x.shape[axis] if type(axis) is int and -x.ndim <= axis < x.ndim else x.size
    k = int(rng.choice([0, 1, n // 2, n, min(n, 7), rng.integers(n + 1)]))
    if rng.random() < 0.05:
        k = one_of(rng, n + 1, -1, 2.0, True, np.int8(1), None)
    options = shared_options(rng, x.shape)
    if rng.random() < 0.5:
        options["mode"] = rng.choice(["largest", "smallest", "most"], p=[0.19, 0.8, 0.01])
    if rng.random() < 0.3:
        options["index_dtype"] = index_type_of(rng)
    if rng.random() < 0.5:
        options["default"] = default_of(rng, x.dtype)
    if rng.random() < 0.1:
        options["sorted"] = one_of(rng, True, 1, "no")
    return (x, k, axis), options


def elementwise(rng, x):
    """The arguments and the options of ``maximum``: operands that broadcast, of several types, and numbers."""
    shape = x.shape
    several = [x]
    for _ in range(rng.integers(5)):
        own = tuple(1 if rng.random() < 0.3 else size for size in shape)[rng.integers(len(shape) + 1) :]
        dtype = x.dtype if rng.random() < 0.8 else ELEMENT_TYPES[rng.integers(len(ELEMENT_TYPES))]
        several.append(laid_out(rng, elements(rng, dtype, own)))
    if rng.random() < 0.3:
        number = one_of(rng, True, 1, -1, 300, 1 << 40, 1 << 63, 0.5, -0.0, float("nan"), 1e300)
        several.insert(rng.integers(len(several) + 1), number)
    return tuple(several), shared_options(rng, shape)


def outcome(function, given, options):
    """The results, or the text of the error."""
    results = []

    def call():
        results.append(function(*given, **options))

    try:
        call()
    except ex.errors.ExtremumError:
        return explained(function, *given, **options)
    return results[0]


def one_call(seed):
    """Make one call from a seed on both sides, and compare the results or the errors."""
    rng = np.random.default_rng(seed)
    function = FUNCTIONS[rng.integers(len(FUNCTIONS))]
    x = laid_out(rng, elements(rng, ELEMENT_TYPES[rng.integers(len(ELEMENT_TYPES))], shape_of(rng)))
    if function == "top_k":
        given, options = selection(rng, x)
    elif function == "hardmax":
        given, options = (x, axis_of(rng, x.ndim)), shared_options(rng, x.shape)
    elif function in ("maximum", "minimum"):
        given, options = elementwise(rng, x)
    else:
        given, options = reduction(rng, function, x)
    context = f"seed {seed}: {function}, strides {x.strides}, {given} {options}"
    before = x.tobytes()
    tensors = [tensor_of(each) if isinstance(each, np.ndarray) else each for each in given]
    own = dict(options)
    if isinstance(own.get("where"), np.ndarray) and rng.random() < 0.7:
        own["where"] = tensor_of(own["where"])
    with limits(SMALL if rng.random() < 0.6 else {}):
        if rng.random() < 0.5:
            # Then a call like the one that follows has been decided, on other elements.
            outcome(getattr(gpu, function), [*map(zeros_like, tensors)], {n: zeros_like(x) for n, x in own.items()})
        actual = outcome(getattr(gpu, function), tensors, own)
    expected = outcome(getattr(ex, function), given, options)
    assert x.tobytes() == before, f"{context}: the elements have changed"
    if isinstance(expected, str) or isinstance(actual, str):
        assert actual == expected, f"{context}\n{actual}\n{expected}"
        return 0
    if isinstance(expected, tuple):
        assert type(actual) is type(expected), context
    else:
        actual, expected = (actual,), (expected,)
    # Where several operands are NaN, which of them is the answer is not promised.
    same = same_bits if function in ("maximum", "minimum") else exactly
    for one, other in zip(actual, expected, strict=True):
        assert same(array_of(one), np.asarray(other)), f"{context}\n{one}\n{other}"
    return len(expected)


def run(calls, seed):
    """Make calls from a seed on, and return how many results were compared."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sum(one_call(seed + number) for number in range(calls))


if __name__ == "__main__":
    random_driver.main(__doc__, run, "results have the bits of the CPU")
