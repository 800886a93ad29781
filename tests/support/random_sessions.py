"""Nodes inside ONNX Runtime, for :mod:`random_calls`: a session is made once and takes any shape of its rank."""

import functools

import numpy as np
import onnxruntime

import random_memory
from extremum.onnxruntime import InferenceSession
from extremum.spec import ONNX, find
from onnx_cases import operation
from sessions import node_model

DTYPES = tuple(np.dtype(name) for name in ("float16", "float32", "float64", "int8", "uint16", "int32", "uint64"))


def run(random):
    """A random node on random arrays: its core operation, the arrays, and the answer."""
    row = find(ONNX, random.choice(("ArgMax", "ArgMin", "Max", "Min", "Hardmax", "ReduceMax", "ReduceMin", "TopK")), 13)
    dtype = random.choice([dtype for dtype in DTYPES if dtype.name in row.types])
    shape = ()
    while not 1 <= len(shape) <= 4 or 0 in shape:
        shape = random_memory.shape(random, random.choice((8, 300, 3000, 20_000)))
    axis = random.randrange(len(shape))
    flag = random.randrange(2)
    count = random.randrange(1, 4) if row.name in ("Max", "Min") else 1
    inputs = [np.ascontiguousarray(random_memory.given(random, shape, dtype)) for _ in range(count)]
    fed = [*inputs, np.array([random.randrange(shape[axis] + 1)])] if row.name == "TopK" else inputs
    values = {"axis": axis, "axes": (axis,), "select_last_index": flag, "largest": flag}
    given = {each.name: values[each.name] for each in row.attributes if each.input is None and each.name in values}
    session = _session(row, tuple(given.items()), dtype, len(shape), count)
    feeds = {f"x{number}": x for number, x in enumerate(fed)}
    return operation(row, given, fed), inputs, session.run(None, feeds)


@functools.cache
def _session(row, given, dtype, rank, count):
    x = np.empty((1,) * rank, dtype)
    index = np.empty((1,) * rank, np.int64)
    inputs = [x, np.empty(1, np.int64)] if row.name == "TopK" else [x] * count
    results = [x, index] if row.name == "TopK" else [index if row.name.startswith("Arg") else x]
    model = node_model(row, dict(given), inputs, results)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 2
    # Each tensor gets its own allocation, so that a memory checker can watch its end.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    return InferenceSession(model.SerializeToString(), options)
