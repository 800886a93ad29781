"""Nodes inside ONNX Runtime, for :mod:`random_calls`: a session is made once and takes any shape of its rank."""

import functools

import numpy as np
import onnxruntime

import random_memory
from extremum.onnxruntime import InferenceSession
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Reduce, Tie, TopK
from extremum.spec import ONNX, find
from sessions import node_model

DTYPES = tuple(np.dtype(name) for name in ("float16", "float32", "float64", "int8", "uint16", "int32", "uint64"))


def run(random):
    """A random node on random arrays: what it means, the arrays, and the answer."""
    name = random.choice(("ArgMax", "ArgMin", "Max", "Min", "Hardmax", "ReduceMax", "ReduceMin", "TopK"))
    dtype = random.choice([dtype for dtype in DTYPES if dtype.name in find(ONNX, name, 13).types])
    shape = ()
    while not 1 <= len(shape) <= 4 or 0 in shape:
        shape = random_memory.shape(random, random.choice((8, 300, 3000)))
    axis, tie = random.randrange(len(shape)), random.choice(list(Tie))
    count = random.randrange(1, 4) if name in ("Max", "Min") else 1
    inputs = [np.ascontiguousarray(random_memory.given(random, shape, dtype)) for _ in range(count)]
    session = _session(name, dtype, len(shape), axis, tie, count)
    feeds = {f"x{number}": x for number, x in enumerate(inputs)}
    if name == "TopK":
        k = random.randrange(shape[axis] + 1)
        order = Order.MAX if tie is Tie.FIRST else Order.MIN
        return TopK(order, axis, k, True), inputs, session.run(None, {**feeds, "x1": np.array([k])})
    return _meaning(name, axis, tie), inputs, session.run(None, feeds)


def _meaning(name, axis, tie):
    order = Order.MIN if name.endswith("Min") else Order.MAX
    if name.startswith("Arg"):
        return ArgReduce(order, (axis,), True, tie, np.dtype("int64"))
    if name.startswith("Reduce"):
        return Reduce(order, (axis,), True, Tie.FIRST, identity=True)
    return OneHot((axis,)) if name == "Hardmax" else Extremum(order)


@functools.cache
def _session(name, dtype, rank, axis, tie, count):
    attributes = {"Max": {}, "Min": {}, "Hardmax": {"axis": axis}, "ReduceMax": {"axes": [axis]}}
    attributes["ReduceMin"] = attributes["ReduceMax"]
    attributes["TopK"] = {"axis": axis, "largest": int(tie is Tie.FIRST)}
    attributes = attributes.get(name, {"axis": axis, "select_last_index": int(tie is Tie.LAST)})
    x = np.empty((1,) * rank, dtype)
    results = [np.empty(x.shape, "int64" if name.startswith("Arg") else dtype)]
    inputs = [x] * count
    if name == "TopK":
        inputs, results = [x, np.empty(1, np.int64)], [*results, np.empty(x.shape, np.int64)]
    model = node_model(find(ONNX, name, 13), attributes, inputs, results)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 2
    # Each tensor has an allocation of its own, whose end can be watched.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    return InferenceSession(model.SerializeToString(), options)
