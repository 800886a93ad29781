"""Dispatch: any described memory gives what the reference gives, and nothing outside the output's elements changes."""

import mmap

import numpy as np
import pytest

from agreement import same_bits
from extremum import directml as dml
from extremum import reference
from extremum.directml import AxisDirection, ReduceFunction, TensorDataType, TensorDesc
from extremum.errors import ElementTypeError, InputError
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Reduce, Tie
from strategies import FLOATS, landmarks, nans, sample

ELEMENTS = [each for each in TensorDataType if each.name != "FLOAT64"]
INDICES = [TensorDataType[name] for name in ("INT64", "INT32", "UINT64", "UINT32")]


def dtype_of(data_type):
    return np.dtype(data_type.name.lower())


def random_sizes(rng, most=300):
    """One to eight dimensions."""
    rank = int(rng.integers(1, 9))
    sizes = rng.integers(1, 2 + int(1.7 * most ** (1 / rank)), rank)
    while np.prod(sizes) > most:
        sizes[rng.integers(rank)] = 1
    return tuple(int(size) for size in sizes)


def random_strides(rng, sizes, repeats):
    """Strides of any order of the dimensions with padding between them; with repeats, some of them 0."""
    strides, step = [0] * len(sizes), 1
    for axis in rng.permutation(len(sizes)):
        if repeats and rng.random() < 0.2:
            continue
        strides[axis] = step + int(rng.integers(0, 3) * (rng.random() < 0.5))
        step = strides[axis] * sizes[axis]
        if step > 3000:
            return None
    return tuple(strides)


def random_desc(rng, data_type, sizes, repeats=False):
    strides = random_strides(rng, sizes, repeats) if rng.random() < 0.75 else None
    desc = TensorDesc(data_type, sizes, strides)
    if rng.random() < 0.3:
        return TensorDesc(data_type, sizes, strides, desc.total_tensor_size_in_bytes + int(rng.integers(0, 40)))
    return desc


def offsets(desc):
    """Where each element lies, in elements, from the document's formula."""
    strides = desc.strides
    if strides is None:
        strides = [int(np.prod(desc.sizes[axis + 1 :])) for axis in range(len(desc.sizes))]
    return sum(
        (index * stride for index, stride in zip(np.indices(desc.sizes), strides, strict=True)),
        np.zeros(desc.sizes, int),
    )


class Memory:
    """A buffer of one kind for a description, filled at random, and what lies in it before a dispatch."""

    def __init__(self, rng, desc, kind):
        self.desc = desc
        dtype = dtype_of(desc.data_type)
        count = -(-desc.total_tensor_size_in_bytes // dtype.itemsize) + int(rng.integers(0, 5))
        winners = nans(dtype) if dtype in FLOATS else landmarks(dtype)
        elements = rng.choice(winners, count)
        lies = np.unique(offsets(desc))
        elements[lies] = sample(rng, dtype, lies.shape)
        self.before = elements.tobytes()
        self.buffer = kind(elements)

    @property
    def elements(self):
        return np.frombuffer(bytes(memoryview(self.buffer).cast("B")), dtype_of(self.desc.data_type))

    @property
    def tensor(self):
        return self.elements[offsets(self.desc)]

    @property
    def unchanged(self):
        return self.elements.tobytes() == self.before

    @property
    def padding_unchanged(self):
        mask = np.ones(self.elements.shape, bool)
        mask[offsets(self.desc)] = False
        before = np.frombuffer(self.before, self.elements.dtype)
        return before[mask].tobytes() == self.elements[mask].tobytes()


def mapped(elements):
    memory = mmap.mmap(-1, elements.nbytes)
    memory.write(elements.tobytes())
    return memory


def window(elements):
    """Bytes in the middle of others, at an address that is no multiple of the element size."""
    memory = bytearray(b"\xff" * (elements.nbytes + 2))
    memory[1:-1] = elements.tobytes()
    return memoryview(memory)[1:-1]


KINDS = {
    "array": lambda elements: elements,
    "bytearray": lambda elements: bytearray(elements.tobytes()),
    "memoryview": window,
    "mmap": mapped,
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def assert_agrees(rng, kind, desc, operation):
    """Dispatch in random memory: the elements are those of the reference, every other byte is what it was."""
    sources = [Memory(rng, tensor, kind) for tensor in desc.inputs.values()]
    target = Memory(rng, desc.output, kind)
    tensors = [source.tensor for source in sources]
    dml.create_operator(desc).dispatch([source.buffer for source in sources], [target.buffer])
    expected = reference.run(operation, *tensors)
    assert same_bits(target.tensor, expected), f"{desc}\n{tensors}\n{target.tensor!r}\n{expected!r}"
    assert all(source.unchanged for source in sources)
    assert target.padding_unchanged


def random_axes(rng, rank):
    return tuple(int(axis) for axis in rng.permutation(rank)[: rng.integers(1, rank + 1)])


def random_reductions(rng, data_type, index=None):
    """A description of each reduction that takes the type, over the same random axes, and what it means."""
    index = INDICES[rng.integers(len(INDICES))] if index is None else index
    sizes = random_sizes(rng)
    axes = random_axes(rng, len(sizes))
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(sizes))
    x = random_desc(rng, data_type, sizes, repeats=True)
    for order, structure in ((Order.MAX, dml.ArgMaxOperatorDesc), (Order.MIN, dml.ArgMinOperatorDesc)):
        for direction, tie in zip(AxisDirection, Tie, strict=True):
            desc = structure(x, random_desc(rng, index, kept), axes, direction)
            yield desc, ArgReduce(order, axes, True, tie, dtype_of(index))
        if data_type.name not in ("INT64", "UINT64"):
            arg, itself = ReduceFunction[f"ARG{order.name}"], ReduceFunction[order.name]
            desc = dml.ReduceOperatorDesc(arg, x, random_desc(rng, index, kept), axes)
            yield desc, ArgReduce(order, axes, True, Tie.FIRST, dtype_of(index))
            desc = dml.ReduceOperatorDesc(itself, x, random_desc(rng, data_type, kept), axes)
            yield desc, Reduce(order, axes, True, Tie.FIRST)


@pytest.mark.parametrize("data_type", ELEMENTS, ids=lambda each: each.name)
def test_reductions(data_type, kind):
    rng = np.random.default_rng(int(data_type))
    for index in INDICES * 6:
        for desc, operation in random_reductions(rng, data_type, index):
            assert_agrees(rng, kind, desc, operation)


def random_element_wise(rng, data_type):
    """The largest and the smallest of two operands of the same random sizes."""
    sizes = random_sizes(rng)
    a, b = (random_desc(rng, data_type, sizes, repeats=True) for _ in range(2))
    output = random_desc(rng, data_type, sizes)
    yield dml.ElementWiseMaxOperatorDesc(a, b, output), Extremum(Order.MAX)
    yield dml.ElementWiseMinOperatorDesc(a, b, output), Extremum(Order.MIN)


@pytest.mark.parametrize("data_type", ELEMENTS, ids=lambda each: each.name)
def test_element_wise(data_type, kind):
    rng = np.random.default_rng(100 + data_type)
    for _ in range(20):
        for desc, operation in random_element_wise(rng, data_type):
            assert_agrees(rng, kind, desc, operation)


def random_hardmax(rng, data_type):
    """Hardmax over random axes and over the last one."""
    sizes = random_sizes(rng)
    axes = random_axes(rng, len(sizes))
    x, y = random_desc(rng, data_type, sizes, repeats=True), random_desc(rng, data_type, sizes)
    yield dml.ActivationHardmax1OperatorDesc(x, y, axes), OneHot(axes)
    rows = (1,) * max(0, len(sizes) - 2) + sizes[-2:]
    x, y = random_desc(rng, data_type, rows, repeats=True), random_desc(rng, data_type, rows)
    yield dml.ActivationHardmaxOperatorDesc(x, y), OneHot((len(rows) - 1,))


@pytest.mark.parametrize("name", ["FLOAT32", "FLOAT16"])
def test_hardmax(name, kind):
    rng = np.random.default_rng(200)
    data_type = TensorDataType[name]
    for _ in range(30):
        for desc, operation in random_hardmax(rng, data_type):
            assert_agrees(rng, kind, desc, operation)


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("strides", [None, (1, 4), (8, 2)], ids=str)
def test_in_place(strides, second, kind):
    """The output may be either operand, if both are described alike."""
    rng = np.random.default_rng(300)
    desc = TensorDesc(TensorDataType.FLOAT32, (3, 4), strides)
    a, b = Memory(rng, desc, kind), Memory(rng, desc, kind)
    target = b if second else a
    expected = reference.extremum(Order.MIN, a.tensor, b.tensor)
    operator = dml.create_operator(dml.ElementWiseMinOperatorDesc(desc, desc, desc))
    operator.dispatch([a.buffer, b.buffer], [target.buffer])
    assert same_bits(target.tensor, expected)
    assert target.padding_unchanged
    assert (a if second else b).unchanged


def test_an_array_with_the_described_strides_needs_no_other_description():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1)[::2]
    strides = tuple(stride // 4 for stride in x.strides)
    y = np.zeros((2, 2, 1), np.int64)
    desc = dml.ArgMaxOperatorDesc(
        TensorDesc(TensorDataType.FLOAT32, x.shape, strides), TensorDesc(TensorDataType.INT64, y.shape), (2,)
    )
    dml.create_operator(desc).dispatch([x], [y])
    assert (y == 2).all()


def test_the_shape_of_an_array_does_not_count():
    """A dispatch binds memory: an output without the reduced dimension serves as well as one with it."""
    x, y = np.array([[1, 9], [8, 2]], np.uint8), np.zeros(2, np.uint32)
    desc = dml.ArgMaxOperatorDesc(
        TensorDesc(TensorDataType.UINT8, (2, 2)), TensorDesc(TensorDataType.UINT32, (2, 1)), (1,)
    )
    dml.create_operator(desc).dispatch([x], [y])
    assert y.tolist() == [1, 0]


def test_an_array_needs_its_elements_only_raw_bytes_the_whole_size():
    desc = TensorDesc(TensorDataType.UINT8, (3,))
    operator = dml.create_operator(dml.ElementWiseMaxOperatorDesc(desc, desc, desc))
    y = np.zeros(3, np.uint8)
    operator.dispatch([np.array([1, 5, 2], np.uint8), bytes([3, 4, 0, 255])], [y])
    assert y.tolist() == [3, 5, 2]
    with pytest.raises(InputError, match="a_tensor needs 4 bytes, but its buffer has 3"):
        operator.dispatch([b"abc", b"abcd"], [y])


def test_a_buffer_is_free_again_after_a_dispatch():
    desc = TensorDesc(TensorDataType.UINT8, (4,))
    a, y = bytearray(b"abcd"), bytearray(4)
    dml.create_operator(dml.ElementWiseMaxOperatorDesc(desc, desc, desc)).dispatch([a, a], [y])
    a.append(0)
    y.append(0)
    assert y == b"abcd\0"


X = np.zeros((2, 3), np.float32)
Y = np.zeros((2, 1), np.int64)


MEMORY = np.zeros(12, np.float32)


REFUSED = {
    "a wrong dtype": (
        lambda argmax, _: argmax.dispatch([X.astype(np.float64)], [Y]),
        ElementTypeError,
        "input_tensor is described as FLOAT32, but its array holds float64\n  at    dispatch of DML_ARGMAX\n"
        "  given float64[2, 3]\n  help  pass an array of float32, or memoryview(array) for its bytes",
    ),
    "another byte order": (
        lambda argmax, _: argmax.dispatch([X.astype(">f4")], [Y]),
        ElementTypeError,
        "input_tensor is described as FLOAT32, but its array holds >f4\n  at    dispatch of DML_ARGMAX\n"
        "  given >f4[2, 3]\n  help  pass an array of float32, or memoryview(array) for its bytes",
    ),
    "an array too short": (
        lambda argmax, _: argmax.dispatch([X], [Y[:1]]),
        InputError,
        "output_tensor needs 2 elements, but its array has 1\n  at    dispatch of DML_ARGMAX\n  given int64[1, 1]\n"
        "  help  pass an array that holds INT64[2, 1]",
    ),
    "a buffer too short": (
        lambda argmax, _: argmax.dispatch([bytes(23)], [Y]),
        InputError,
        "input_tensor needs 24 bytes, but its buffer has 23\n  at    dispatch of DML_ARGMAX\n  given bytes\n"
        "  help  a buffer holds at least the total_tensor_size_in_bytes of its description",
    ),
    "an array with gaps": (
        lambda argmax, _: argmax.dispatch([np.zeros((2, 6), np.float32)[:, ::2]], [Y]),
        InputError,
        "the array of input_tensor has gaps in memory, which its description does not say\n"
        "  at    dispatch of DML_ARGMAX\n  given float32[2, 3] with strides (24, 8)\n"
        "  help  describe the strides of the array, or pass a contiguous one for FLOAT32[2, 3]",
    ),
    "bytes with gaps": (
        lambda argmax, _: argmax.dispatch([memoryview(bytes(48))[::2]], [Y]),
        InputError,
        "the bytes of input_tensor are not contiguous\n  at    dispatch of DML_ARGMAX\n  given memoryview",
    ),
    "no memory at all": (
        lambda argmax, _: argmax.dispatch([[1.0, 2.0]], [Y]),
        ElementTypeError,
        "input_tensor is neither a NumPy array nor a buffer of bytes\n  at    dispatch of DML_ARGMAX\n  given list",
    ),
    "a read-only output": (
        lambda argmax, _: argmax.dispatch([X], [bytes(16)]),
        InputError,
        "output_tensor cannot be written to: its buffer is read-only\n  at    dispatch of DML_ARGMAX\n  given bytes",
    ),
    "too many inputs": (
        lambda argmax, _: argmax.dispatch([X, X], [Y]),
        InputError,
        "inputs takes 1 buffer, not 2\n  at    dispatch of DML_ARGMAX",
    ),
    "too few inputs": (
        lambda _, maximum: maximum.dispatch([X], [X]),
        InputError,
        "inputs takes 2 buffers, not 1\n  at    dispatch of DML_ELEMENT_WISE_MAX",
    ),
    "no output": (
        lambda argmax, _: argmax.dispatch([X], []),
        InputError,
        "outputs takes 1 buffer, not 0\n  at    dispatch of DML_ARGMAX",
    ),
    "an array in the place of a list": (
        lambda argmax, _: argmax.dispatch(X, [Y]),
        InputError,
        "inputs is neither a list nor a tuple\n  at    dispatch of DML_ARGMAX\n  given ndarray",
    ),
    "an output partly on an input": (
        lambda _, maximum: maximum.dispatch([MEMORY[:6], MEMORY[6:]], [MEMORY[1:7]]),
        InputError,
        "the output lies partly on an input\n  at    dispatch of DML_ELEMENT_WISE_MAX\n"
        "  help  in place, both have the same buffer and the same strides; else give it a buffer of its own",
    ),
    "an output on the input of a reduction": (
        lambda argmax, _: argmax.dispatch([MEMORY], [memoryview(MEMORY)]),
        InputError,
        "the output of DML_ARGMAX shares memory with its input\n  at    dispatch of DML_ARGMAX\n"
        "  help  give it a buffer of its own",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_says_what_where_and_what_helps(case):
    attempt, kind, message = REFUSED[case]
    x, y = TensorDesc(TensorDataType.FLOAT32, (2, 3)), TensorDesc(TensorDataType.INT64, (2, 1))
    argmax = dml.create_operator(dml.ArgMaxOperatorDesc(x, y, (1,)))
    maximum = dml.create_operator(dml.ElementWiseMaxOperatorDesc(x, x, x))
    with pytest.raises(kind) as caught:
        attempt(argmax, maximum)
    assert type(caught.value) is kind
    assert str(caught.value) == message
