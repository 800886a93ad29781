"""Descriptions of DirectML operators, and the memory that they describe, for :mod:`random_calls` and the tests."""

import mmap

import numpy as np

from agreement import same_bits
from extremum import directml as dml
from extremum import reference
from extremum.directml import AxisDirection, ReduceFunction, TensorDataType, TensorDesc
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Reduce, Tie, TopK, results
from strategies import BEYOND_BUFFERS, FLOATS, landmarks, nans, sample

ELEMENTS = [each for each in TensorDataType if each.name != "FLOAT64"]
_INDICES = [TensorDataType[name] for name in ("INT64", "INT32", "UINT64", "UINT32")]


def _dtype(data_type):
    return np.dtype(data_type.name.lower())


def _sizes(rng, most):
    """One to eight dimensions."""
    if most > 17_000 and rng.random() < 0.3:
        return BEYOND_BUFFERS[rng.integers(len(BEYOND_BUFFERS))]
    rank = int(rng.integers(1, 9))
    sizes = rng.integers(1, 2 + int(1.7 * most ** (1 / rank)), rank)
    while np.prod(sizes) > most:
        sizes[rng.integers(rank)] = 1
    return tuple(int(size) for size in sizes)


def _strides(rng, sizes, repeats):
    """Strides for any order of the dimensions, with padding in between; with `repeats`, some strides are 0."""
    most = 3000 if np.prod(sizes) <= 300 else 100_000
    strides = [0] * len(sizes)
    step = 1
    for axis in rng.permutation(len(sizes)):
        if repeats and rng.random() < 0.2:
            continue
        strides[axis] = step + int(rng.integers(0, 3) * (rng.random() < 0.5))
        step = strides[axis] * sizes[axis]
        if step > most:
            return None
    return tuple(strides)


def _desc(rng, data_type, sizes, repeats=False):
    strides = _strides(rng, sizes, repeats) if rng.random() < 0.75 else None
    desc = TensorDesc(data_type, sizes, strides)
    if rng.random() < 0.3:
        return TensorDesc(data_type, sizes, strides, desc.total_tensor_size_in_bytes + int(rng.integers(0, 40)))
    return desc


def tensor_in(elements, desc):
    """A view of an array of elements as the tensor of a description."""
    strides = np.empty(desc.sizes, np.int8).strides if desc.strides is None else desc.strides
    in_bytes = [stride * elements.itemsize for stride in strides]
    return np.lib.stride_tricks.as_strided(elements, desc.sizes, in_bytes)


class Memory:
    """A buffer of one kind for a description, filled at random, and its content before a dispatch."""

    def __init__(self, rng, desc, kind):
        self.desc = desc
        dtype = _dtype(desc.data_type)
        count = -(-desc.total_tensor_size_in_bytes // dtype.itemsize) + int(rng.integers(0, 5))
        self.before = rng.choice(nans(dtype) if dtype in FLOATS else landmarks(dtype), count)
        tensor_in(self.before, desc)[...] = sample(rng, dtype, desc.sizes)
        self.buffer = kind(self.before.copy())

    @property
    def elements(self):
        return np.frombuffer(bytearray(memoryview(self.buffer).cast("B")), self.before.dtype)

    @property
    def tensor(self):
        return tensor_in(self.elements, self.desc)

    @property
    def unchanged(self):
        return self.elements.tobytes() == self.before.tobytes()

    @property
    def padding_unchanged(self):
        elements = self.elements
        tensor_in(elements, self.desc)[...] = tensor_in(self.before, self.desc)
        return elements.tobytes() == self.before.tobytes()


def _mapped(elements):
    memory = mmap.mmap(-1, elements.nbytes)
    memory.write(elements.tobytes())
    return memory


def _window(elements):
    """Bytes inside a larger buffer, at an address that is not a multiple of the element size."""
    memory = bytearray(b"\xff" * (elements.nbytes + 2))
    memory[1:-1] = elements.tobytes()
    return memoryview(memory)[1:-1]


KINDS = {
    "array": lambda elements: elements,
    "bytearray": lambda elements: bytearray(elements.tobytes()),
    "memoryview": _window,
    "mmap": _mapped,
}


def operators(rng, data_type, most=300):
    """A description of each operator that takes the type, over the same random axes, and its core operation."""
    sizes = _sizes(rng, most)
    axes = tuple(int(axis) for axis in rng.permutation(len(sizes))[: rng.integers(1, len(sizes) + 1)])
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(sizes))
    index = _INDICES[rng.integers(len(_INDICES))]
    x, other = (_desc(rng, data_type, sizes, repeats=True) for _ in range(2))

    def output(data_type=data_type, sizes=sizes):
        return _desc(rng, data_type, sizes)

    for order in Order:
        name = order.value.title()
        arg, element_wise = (getattr(dml, f"{kind}{name}OperatorDesc") for kind in ("Arg", "ElementWise"))
        yield element_wise(x, other, output()), Extremum(order)
        for direction, tie in zip(AxisDirection, Tie, strict=True):
            operation = ArgReduce(order, axes, True, tie, _dtype(index))
            yield arg(x, output(index, kept), axes, direction), operation
        if data_type.name not in ("INT64", "UINT64"):
            to_index = ReduceFunction[f"ARG{order.name}"]
            to_element = ReduceFunction[order.name]
            operation = ArgReduce(order, axes, True, Tie.FIRST, _dtype(index))
            yield dml.ReduceOperatorDesc(to_index, x, output(index, kept), axes), operation
            desc = dml.ReduceOperatorDesc(to_element, x, output(sizes=kept), axes)
            yield desc, Reduce(order, axes, True, Tie.FIRST)
    k = int(rng.integers(1, sizes[axes[0]] + 1))
    best = tuple(k if axis == axes[0] else size for axis, size in enumerate(sizes))
    for direction, order in zip(AxisDirection, (Order.MIN, Order.MAX), strict=True):
        index = TensorDataType[rng.choice(["UINT64", "UINT32"])]
        desc = dml.TopK1OperatorDesc(x, output(sizes=best), output(index, best), axes[0], k, direction)
        yield desc, TopK(order, axes[0], k, True)
    if data_type.name.startswith("FLOAT"):
        yield dml.ActivationHardmax1OperatorDesc(x, output(), axes), OneHot(axes)
        rows = (1,) * max(0, len(sizes) - 2) + sizes[-2:]
        desc = dml.ActivationHardmaxOperatorDesc(_desc(rng, data_type, rows, repeats=True), output(sizes=rows))
        yield desc, OneHot((len(rows) - 1,))


def dispatch_and_compare(rng, desc, operation, kind, oracle=reference.run):
    """Dispatch on random memory: the elements must be the oracle's, and no other byte may change."""
    sources = [Memory(rng, tensor, kind) for tensor in desc.inputs.values()]
    targets = [Memory(rng, tensor, kind) for tensor in desc.outputs.values()]
    tensors = [source.tensor for source in sources]
    dml.create_operator(desc).dispatch([each.buffer for each in sources], [each.buffer for each in targets])
    assert all(source.unchanged for source in sources)
    for target, expected in zip(targets, results(oracle(operation, *tensors)), strict=True):
        expected = expected.astype(target.tensor.dtype)
        assert same_bits(target.tensor, expected), f"{desc}\n{tensors}\n{target.tensor!r}\n{expected!r}"
        assert target.padding_unchanged
