"""No call keeps memory or references, whether it succeeds or is refused, at whatever point."""

import contextlib
import ctypes
import gc
import re
import sys
import tracemalloc
from functools import partial

import ml_dtypes
import numpy as np

import extremum
import watched
from extremum.operations import Order, TopK
from test_array_errors import NAMES, TEXTS

X = np.arange(12, dtype=np.float32).reshape(3, 4)
Y = X[::-1]
DEEP = X.reshape((1,) * 7 + X.shape)
INDICES = np.zeros(3, np.int64)
SWAPPED = INDICES.astype(INDICES.dtype.newbyteorder("S"))
OUT = np.zeros_like(X)
HALF = np.ones(3, ml_dtypes.bfloat16)
MASKED = np.ma.array(INDICES, mask=[True, False, False])
READ_ONLY = np.zeros(3)
READ_ONLY.flags.writeable = False
INT32 = np.dtype("int32")
AXES = (0, 1)


class Axis:
    def __index__(self):
        return 1


class Failing:
    def __index__(self):
        raise RuntimeError

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError

    def __bool__(self):
        raise RuntimeError

    @property
    def dtype(self):
        raise RuntimeError


AXIS = Axis()
FAILING = Failing()
CALLS = {
    "argmax": lambda: extremum.argmax(X),
    "argmax, axis": lambda: extremum.argmax(X, 1),
    "argmax, axes": lambda: extremum.argmax(X, AXES, keepdims=True),
    "argmax, list of axes": lambda: extremum.argmax(X, [AXIS, 0]),
    "argmax, dtype": lambda: extremum.argmin(X, 1, dtype=INT32),
    "argmax, dtype by name": lambda: extremum.argmin(X, dtype="uint32"),
    "argmax, out": lambda: extremum.argmax(X, 1, out=INDICES),
    "argmax, out of the other byte order": lambda: extremum.argmax(X, 1, out=SWAPPED),
    "argmax, out over the operand": lambda: extremum.argmax(SWAPPED[None], 0, out=SWAPPED),
    "argmax, many axes": lambda: extremum.argmax(DEEP, -1),
    "argmax, list": lambda: extremum.argmax([[1, 2], [3, 4]]),
    "argmax, bfloat16": lambda: extremum.argmax(HALF),
    "maximum": lambda: extremum.maximum(X, Y),
    "maximum, one": lambda: extremum.maximum(X),
    "maximum, many": lambda: extremum.maximum(X, Y, X, Y, X, Y, X),
    "maximum, numbers": lambda: extremum.minimum(1, X, 2.0, True),
    "maximum, numbers only": lambda: extremum.minimum(1, 2),
    "maximum, out": lambda: extremum.maximum(X, Y, out=OUT),
    "maximum, bfloat16": lambda: extremum.maximum(HALF, HALF),
    "maximum, types": lambda: extremum.maximum(X, INDICES),
    "maximum, a number too large": lambda: extremum.maximum(INDICES, 1 << 70),
    "maximum, late failure": lambda: extremum.maximum(X, Y, FAILING),
    "max, with its index": lambda: extremum.max(X, 0, return_index=True),
    "max, omit": lambda: extremum.max(X, nan_policy="omit"),
    "minmax": lambda: extremum.minmax(X, 1),
    "argmax, where": lambda: extremum.argmax(X, 1, where=X > 0, default=-1),
    "argmax, nothing left": lambda: extremum.argmax(X, where=False),
    "hardmax": lambda: extremum.hardmax(X),
    "hardmax, where": lambda: extremum.hardmax(X, where=X > 0),
    "hardmax, out": lambda: extremum.hardmax(X, 0, out=OUT),
    "hardmax, Fortran order": lambda: extremum.hardmax(X.T),
    "top_k": lambda: extremum.top_k(X, 1),
    "top_k, smallest along an axis": lambda: extremum.top_k(X, 2, 0, mode="smallest", nan_policy="omit"),
    "TopK": lambda: TopK(Order.MAX, 0, 1, True)(X),
    "axis that fails": lambda: extremum.argmax(X, (0, FAILING)),
    "flag that fails": lambda: extremum.argmax(X, keepdims=FAILING),
    "dtype that is none": lambda: extremum.argmax(X, dtype="no type"),
    "dtype that fails": lambda: extremum.argmax(X, dtype=FAILING),
    "operand that fails": lambda: extremum.argmax(FAILING),
    "operand of objects": lambda: extremum.argmax(["a"]),
    "operand with a mask": lambda: extremum.argmax(MASKED),
    "out of another type": lambda: extremum.hardmax(X, out=INDICES),
    "out that is read-only": lambda: extremum.maximum(READ_ONLY, out=READ_ONLY),
    "out with a mask": lambda: extremum.argmax(X, 1, out=MASKED),
    **{
        code: partial(eval, compile(code, code, "eval"), NAMES) for code in re.findall("^>>> (.*)", TEXTS, re.MULTILINE)
    },
}
WATCHED = (X, Y, DEEP, INDICES, SWAPPED, OUT, HALF, MASKED, READ_ONLY, INT32, AXES, AXIS, FAILING, None, True, False)
WATCHED += tuple(np.dtype(name) for name in ("float32", "int64", "uint32", ml_dtypes.bfloat16))


def native_memory():
    """The bytes that C's allocator has given out, where it reports them."""

    class Info(ctypes.Structure):
        _fields_ = [
            (name, ctypes.c_size_t)
            for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "used", "free", "keep")
        ]

    try:
        ask = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError, TypeError):
        return 0
    ask.restype = Info
    info = ask()
    return info.used + info.hblkhd


def repeat(call, times):
    for _ in range(times):
        with contextlib.suppress(RuntimeError, TypeError, ValueError):
            call()
    gc.collect()


def kept(call):
    """What 1,000 calls leave behind: Python's memory, C's memory, and the references to each watched object."""
    references = [sys.getrefcount(each) for each in WATCHED]
    native = native_memory()
    tracemalloc.start()
    try:
        repeat(call, 50)
        traced, _ = tracemalloc.get_traced_memory()
        repeat(call, 1000)
        traced = tracemalloc.get_traced_memory()[0] - traced
    finally:
        tracemalloc.stop()
    native = native_memory() - native
    counts = [sys.getrefcount(each) - before for each, before in zip(WATCHED, references, strict=True)]
    return traced, native, max(map(abs, counts))


def leaks(call):
    """What each of five rounds kept, or nothing where one of them kept nothing."""
    # A leak shows in every round. Other things in the process, such as a growing table of Python's, do not.
    repeat(call, 100)
    # One block of the smallest size, 16 bytes, or one reference per call would exceed these limits. Python 3.10 keeps
    # a frame of half a kilobyte for each function that it has called, and makes some frames anew at any time.
    rounds = []
    for _ in range(5):
        traced, native, references = kept(call)
        if traced < 12_000 and native < 15_000 and references < 50:
            return []
        rounds.append({"traced": traced, "native": native, "references": references})
    return rounds


def say_what_is_kept():
    # The collector need not look at objects that existed before.
    gc.freeze()
    for name, call in CALLS.items():
        if leak := leaks(call):
            watched.say(f"{name}: {leak}")


def test_nothing_is_kept():
    """In a process of its own, in which nothing else happens."""
    assert watched.call(say_what_is_kept) == ""
