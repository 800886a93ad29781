"""Dispatch: any described memory gives what the reference gives, and nothing outside the output's elements changes."""

import mmap
from unittest.mock import MagicMock

import numpy as np
import pytest

import random_directml
from agreement import same_bits
from extremum import directml as dml
from extremum import reference
from extremum.directml import TensorDataType, TensorDesc
from extremum.errors import ElementTypeError, InputError, SpecError
from extremum.operations import Order
from random_directml import ELEMENTS, KINDS, Memory
from refusal import error_of, explained, refusal


@pytest.mark.parametrize("data_type", ELEMENTS, ids=lambda each: each.name)
def test_dispatch_gives_what_the_reference_gives(data_type):
    rng = np.random.default_rng(int(data_type))
    for kind in [*KINDS.values()] * 2:
        for desc, operation in random_directml.operators(rng, data_type):
            random_directml.dispatch_and_compare(rng, desc, operation, kind)


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("strides", [None, (1, 4), (8, 2)], ids=str)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_in_place(strides, second, kind):
    """The output may be either operand, if both are described alike."""
    rng = np.random.default_rng(300)
    desc = TensorDesc(TensorDataType.FLOAT32, (3, 4), strides)
    a = Memory(rng, desc, kind)
    b = Memory(rng, desc, kind)
    target = b if second else a
    expected = reference.extremum(Order.MIN, a.tensor, b.tensor)
    operator = dml.create_operator(dml.ElementWiseMinOperatorDesc(desc, desc, desc))
    operator.dispatch([a.buffer, b.buffer], [target.buffer])
    assert same_bits(target.tensor, expected)
    assert target.padding_unchanged
    assert (a if second else b).unchanged


UINT8 = TensorDesc(TensorDataType.UINT8, (4,))


@pytest.mark.parametrize("sizes", [(2, 2, 1), (2, 2)])
def test_the_strides_of_an_array_may_be_described_and_its_shape_does_not_count(sizes):
    """A dispatch binds memory: the output array may lack the reduced dimension."""
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4).transpose(2, 0, 1)[::2]
    source = TensorDesc(TensorDataType.FLOAT32, x.shape, tuple(stride // 4 for stride in x.strides))
    y = np.zeros(sizes, np.int64)
    desc = dml.ArgMaxOperatorDesc(source, TensorDesc(TensorDataType.INT64, (2, 2, 1)), (2,))
    dml.create_operator(desc).dispatch([x], [y])
    assert (y == 2).all()


def test_an_array_needs_its_elements_only_raw_bytes_the_whole_size():
    desc = TensorDesc(TensorDataType.UINT8, (3,))
    operator = dml.create_operator(dml.ElementWiseMaxOperatorDesc(desc, desc, desc))
    y = np.zeros(3, np.uint8)
    operator.dispatch([np.array([1, 5, 2], np.uint8), bytes([3, 4, 0, 255])], [y])
    assert y.tolist() == [3, 5, 2]
    with pytest.raises(InputError, match="a_tensor needs 4 bytes, but its buffer has 3"):
        operator.dispatch([b"abc", b"abcd"], [y])


def test_a_buffer_is_free_again_after_a_dispatch():
    a = bytearray(b"abcd")
    y = bytearray(4)
    dml.create_operator(dml.ElementWiseMaxOperatorDesc(UINT8, UINT8, UINT8)).dispatch([a, a], [y])
    a.append(0)
    y.append(0)
    assert y == b"abcd\0"


def test_the_largest_tensor_of_one_element_is_read_where_it_lies():
    repeated = TensorDesc(TensorDataType.INT8, (2**32 - 1,), (0,))
    narrow = TensorDesc(TensorDataType.INT32, (1,))
    assert refusal(SpecError, dml.create_operator, dml.ArgMaxOperatorDesc(repeated, narrow, (0,))) == (
        "the index may be as large as 4294967294, which INT32 cannot hold"
    )
    wide = TensorDesc(TensorDataType.INT8, (2, 2**31 - 1), (1, 0))
    index = TensorDesc(TensorDataType.UINT32, (1, 2**31 - 1))
    operator = dml.create_operator(dml.ArgMaxOperatorDesc(wide, index, (0,)))
    assert refusal(InputError, operator.dispatch, [bytes([1, 2, 0, 0])], [bytearray(4)]) == (
        "output_tensor needs 8589934588 bytes, but its buffer has 4"
    )


def closed():
    mapping = mmap.mmap(-1, 64)
    mapping.close()
    return mapping


def released():
    view = memoryview(bytearray(64))
    view.release()
    return view


def read_only():
    array = np.zeros((2, 1), np.int64)
    array.flags.writeable = False
    return array


class Lie:
    """Not an array, whatever it claims."""

    __class__ = property(lambda self: np.ndarray)
    dtype = np.dtype("float32")
    shape = (2, 3)
    strides = (12, 4)
    size = 6


LIES = (Lie(), MagicMock(spec=np.ndarray))
X = np.zeros((2, 3), np.float32)
Y = np.full((2, 1), 7)
MEMORY = np.zeros(12, np.float32)
BYTES = bytearray(64)
FLOAT = TensorDesc(TensorDataType.FLOAT32, (2, 3))
ARGMAX = dml.ArgMaxOperatorDesc(FLOAT, TensorDesc(TensorDataType.INT64, (2, 1)), (1,))
MAXIMUM = dml.ElementWiseMaxOperatorDesc(FLOAT, FLOAT, FLOAT)
LARGE = dml.ArgMaxOperatorDesc(
    TensorDesc(TensorDataType.FLOAT32, (2, 3), total_tensor_size_in_bytes=2**40), ARGMAX.output, (1,)
)
TOP_K = dml.TopKOperatorDesc(FLOAT, FLOAT, TensorDesc(TensorDataType.UINT32, (2, 3)), 1, 3)
HOLDS = "help: a buffer holds at least the total_tensor_size_in_bytes of its description"
OWN = "InputError: the output of DML_ARGMAX shares memory with its input; help: give it a buffer of its own"
BOTH = "InputError: the outputs of DML_TOP_K share memory"
PARTLY = (
    "InputError: the output lies partly on an input; "
    "help: in place, both have the same buffer and the same strides; else give it a buffer of its own"
)
DESCRIBED = (
    "ElementTypeError: input_tensor is described as FLOAT32, but its array holds {}; "
    "help: pass an array of float32, or memoryview(array) for its bytes"
)
HAS_GAPS = (
    "InputError: the array of input_tensor has gaps in memory, which its description does not say; "
    "help: describe the strides of the array, or pass a contiguous one for FLOAT32[2, 3]"
)
TOO_SHORT = "InputError: {0} needs {1} elements, but its array has {2}; help: pass an array that holds {3}"
UNREADABLE = "InputError: the bytes of input_tensor cannot be read: "
NO_BUFFER = " is neither a NumPy array nor a buffer of bytes"
READ_ONLY = "InputError: output_tensor cannot be written to: its buffer is read-only"
OTHERS = (X.astype(float), X.astype(">f4"), X.view([("a", "<f4")]), np.array([None] * 6))
# Inputs of ARGMAX, outputs of ARGMAX, and buffers of any operator.
INPUTS = [
    *((x, DESCRIBED.format(x.dtype)) for x in OTHERS),
    (X[0], TOO_SHORT.format("input_tensor", 6, 3, "FLOAT32[2, 3]")),
    *((x, f"InputError: input_tensor needs 24 bytes, but its buffer has {len(x)}; {HOLDS}") for x in (bytes(23), b"")),
    *((x, HAS_GAPS) for x in (np.zeros((2, 6), np.float32)[:, ::2], X[::-1])),
    (
        np.ma.masked_array(X, mask=[[1, 0, 0], [0, 0, 0]]),
        "InputError: the array of input_tensor has masked elements, and memory has no mask; "
        "help: fill them first, as array.filled(value) does",
    ),
    (memoryview(bytes(48))[::2], "InputError: the bytes of input_tensor are not contiguous"),
    (closed(), f"{UNREADABLE}mmap closed or invalid"),
    (released(), f"{UNREADABLE}operation forbidden on released memoryview object"),
    *((x, f"ElementTypeError: input_tensor{NO_BUFFER}") for x in ([1.0, 2.0], None, *LIES)),
]
OUTPUTS = [
    (Y[:1], TOO_SHORT.format("output_tensor", 2, 1, "INT64[2, 1]")),
    *((y, READ_ONLY) for y in (read_only(), bytes(16), memoryview(bytearray(16)).toreadonly())),
    *((y, f"ElementTypeError: output_tensor{NO_BUFFER}") for y in LIES),
]
REFUSED = [
    *((ARGMAX, [x], [Y], text) for x, text in INPUTS),
    *((ARGMAX, [X], [y], text) for y, text in OUTPUTS),
    (LARGE, [bytes(24)], [Y], f"InputError: input_tensor needs {2**40} bytes, but its buffer has 24; {HOLDS}"),
    (ARGMAX, [X, X], [Y], "InputError: inputs takes 1 buffer, not 2"),
    (MAXIMUM, [X], [X], "InputError: inputs takes 2 buffers, not 1"),
    (ARGMAX, [X], [], "InputError: outputs takes 1 buffer, not 0"),
    (ARGMAX, X, [Y], "InputError: inputs is neither a list nor a tuple"),
    (MAXIMUM, [MEMORY[:6], MEMORY[6:]], [MEMORY[1:7]], PARTLY),
    (MAXIMUM, [MEMORY[:6], MEMORY[6:]], [MEMORY[5:11]], PARTLY),
    (ARGMAX, [MEMORY], [memoryview(MEMORY)], OWN),
    (ARGMAX, [BYTES], [BYTES], OWN),
    (
        TOP_K,
        [X],
        [BYTES, BYTES],
        "InputError: the outputs of DML_TOP_K share memory; help: give each a buffer of its own",
    ),
    (TOP_K, [BYTES], [BYTES, bytearray(64)], OWN.replace("ARGMAX", "TOP_K")),
]


@pytest.mark.parametrize(("desc", "inputs", "outputs", "text"), REFUSED, ids=[each[-1][:70] for each in REFUSED])
def test_buffers_that_do_not_fit(desc, inputs, outputs, text):
    assert explained(dml.create_operator(desc).dispatch, inputs, outputs) == text
    assert Y.tolist() == [[7], [7]]


@pytest.mark.parametrize(
    ("buffer", "given"),
    [
        (X.astype(float), "float64[2, 3]"),
        (np.zeros((2, 6), np.float32)[:, ::2], "float32[2, 3] with strides (24, 8)"),
        (b"", "bytes"),
    ],
)
def test_a_refusal_says_where_and_what_was_given(buffer, given):
    error = error_of((InputError, ElementTypeError), dml.create_operator(ARGMAX).dispatch, [buffer], [Y])
    assert (error.where, error.given) == ("dispatch of DML_ARGMAX", given)
