"""Arrays whose last (or first) byte lies at a page that nobody may touch: one byte too many ends the process.

``python tests/guard_pages.py short end`` goes through short rows of every stride, which kernels read in whole vectors;
``python tests/guard_pages.py random begin`` makes the calls of :mod:`random_calls`. Each call is named before it is
made, so that the last line tells which one the process died of.
"""

import argparse
import ctypes
import faulthandler
import mmap

import numpy as np

import extremum
import random_calls
import random_memory
import twins
from agreement import assert_same_bits, kernels
from extremum import _native
from extremum import directml as dml
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Tie
from strategies import ELEMENT_TYPES

PAGE = mmap.PAGESIZE
LENGTHS = (*range(1, 19), 31, 33, 40, 66)
ROWS = (2, 3, 8, 15, 16, 17, 18, 33)
# What DirectML's ARGMAX takes.
ACCEPTED = {dtype.name for dtype in ELEMENT_TYPES} - {"float64", "bfloat16", "bool"}
_protect = ctypes.CDLL(None, use_errno=True).mprotect
_protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def fenced(length, at_end):
    """Bytes that end (or begin) where a page does, beside one that nobody may touch."""
    room = -(-length // PAGE) * PAGE
    pages = mmap.mmap(-1, room + 2 * PAGE)
    first = ctypes.addressof(ctypes.c_uint8.from_buffer(pages))
    for fence in (first, first + PAGE + room):
        if _protect(fence, PAGE, 0):
            raise OSError(ctypes.get_errno(), "mprotect")
    start = PAGE + (room - length if at_end else 0)
    # An array of these bytes alone, so that a view of it does not lead to the pages.
    return np.frombuffer((ctypes.c_uint8 * length).from_buffer(pages, start), np.uint8)


def short_rows(at_end):
    """Rows of a few elements that lie apart, one after the other, over one another or all at one place."""
    rng = np.random.default_rng(1)
    for dtype in ELEMENT_TYPES:
        size = dtype.itemsize
        for length in LENGTHS:
            for stride in sorted({0, 1, size, (length - 1) * size, length * size, (length + 1) * size}):
                rows = int(rng.choice(ROWS))
                memory = fenced((rows - 1) * stride + length * size, at_end)
                memory[:] = np.resize(rng.integers(0, 3, 300).astype(dtype).view(np.uint8), memory.size)
                x = np.ndarray((rows, length), dtype, memory, 0, (stride, size))
                for view in (x, x.T, x[::-1]):
                    check(view)
                if dtype.name in ACCEPTED and stride % size == 0:
                    dispatch(x, memory)


def check(x):
    """Every public function, with every instruction set."""
    calls = [
        (lambda: extremum.hardmax(x, 1), OneHot((1,)), [x]),
        (lambda: extremum.maximum(x, x[::-1]), Extremum(Order.MAX), [x, x[::-1]]),
        (lambda: extremum.minimum(x, x[:1]), Extremum(Order.MIN), [x, x[:1]]),
    ]
    for axes in ((0,), (1,), (0, 1)):
        first = ArgReduce(Order.MAX, axes, False, Tie.FIRST, np.dtype("int64"))
        last = ArgReduce(Order.MIN, axes, False, Tie.LAST, np.dtype("int64"))
        calls.append((lambda axes=axes: extremum.argmax(x, axes), first, [x]))
        calls.append((lambda axes=axes: extremum.argmin(x, axes, select_last_index=True), last, [x]))
    for call, operation, inputs in calls:
        expected = twins.run(operation, *inputs)
        for instruction_set in _native.instruction_sets():
            print(f"{operation} {instruction_set} {x.dtype}{list(x.shape)} strides {x.strides}", flush=True)
            with kernels(instruction_set, small_limit=0):
                assert_same_bits(call(), expected)


def dispatch(x, memory):
    """DirectML's dispatch, where its buffer ends with the last element (it is a multiple of four bytes)."""
    kind, strides = dml.TensorDataType[x.dtype.name.upper()], [stride // x.itemsize for stride in x.strides]
    source = dml.TensorDesc(kind, x.shape, strides)
    if memory.size != source.total_tensor_size_in_bytes:
        return
    print(f"DirectML {x.dtype}{list(x.shape)} strides {x.strides}", flush=True)
    target = dml.TensorDesc(dml.TensorDataType.INT64, (len(x), 1))
    found = np.empty((len(x), 1), np.int64)
    operator = dml.create_operator(dml.ArgMaxOperatorDesc(source, target, (1,), dml.AxisDirection.INCREASING))
    operator.dispatch([memoryview(memory)], [found])
    assert_same_bits(found, twins.run(ArgReduce(Order.MAX, (1,), True, Tie.FIRST, np.dtype("int64")), x))


def random(at_end, calls):
    """Calls of every function on any layout."""
    random_memory.allocate = lambda length: fenced(length, at_end)
    made = random_calls.Calls(seed=2 + at_end)
    for number in range(calls):
        print(f"call {number} of seed {made.seed}", flush=True)
        made.make(number)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("batch", choices=("short", "random"))
    parser.add_argument("side", choices=("begin", "end"))
    parser.add_argument("--calls", type=int, default=700)
    given = parser.parse_args()
    faulthandler.enable()
    at_end = given.side == "end"
    short_rows(at_end) if given.batch == "short" else random(at_end, given.calls)


if __name__ == "__main__":
    main()
