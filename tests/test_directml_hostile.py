"""Descriptions, levels and buffers that mean no good: each ends in one error that says what is wrong."""

import mmap
import subprocess
import sys

import numpy as np
import pytest

from extremum import directml as dml
from extremum.check import check
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError, InputError, SpecError
from models import model
from refusal import refusal

FLOAT32, INT64, UINT32, INT32 = (dml.TensorDataType[name] for name in ("FLOAT32", "INT64", "UINT32", "INT32"))
X, Y = dml.TensorDesc(FLOAT32, (2, 3)), dml.TensorDesc(INT64, (2, 1))
ARGMAX = dml.ArgMaxOperatorDesc(X, Y, (1,))
LEVELS = "1_0, 2_0, 2_1, 3_0, 3_1, 4_0, 4_1, 5_0, 5_1, 5_2, 6_0, 6_1, 6_2, 6_3, 6_4; 4_1 is also 0x4100"
NO_LEVELS = [0, -1, 0x9900, 0x4200, True, 2**80, 4.1, "4.1", "4_2", "FL_4_1", "", None, []]


@pytest.mark.parametrize("given", NO_LEVELS, ids=repr)
def test_a_feature_level_that_is_none(given):
    shown = hex(given) if isinstance(given, int) else repr(given)
    source = model("(float[3] x) => (int64[1] y) { y = ArgMax(x) }")
    calls = [
        lambda: dml.create_operator(ARGMAX, feature_level=given),
        lambda: dml.lower(source, given),
        lambda: check(source, feature_level=given),
    ]
    # check without a level does not ask DirectML.
    for call in calls[: 2 if given is None else 3]:
        with pytest.raises(ArgumentError) as caught:
            call()
        assert (caught.value.reason, caught.value.remedy) == (
            f"there is no feature level {shown}",
            f"the levels are {LEVELS}",
        )


@pytest.mark.parametrize("given", [0x4100, "4_1", dml.FeatureLevel.FL_4_1])
def test_a_feature_level_may_be_given_as_its_number_or_its_text(given):
    source = model("(int64[3] x) => (int64[1] y) { y = ArgMax(x) }")
    assert dml.create_operator(ARGMAX, feature_level=given).feature_level is dml.FeatureLevel.FL_4_1
    assert dml.lower(source, given).feature_level is dml.FeatureLevel.FL_4_1
    assert check(source, feature_level=given, select=["EX102"]).findings == ()
    assert len(check(source, feature_level="3_0", select=["EX102"]).findings) == 1


@pytest.mark.parametrize(
    "given", [None, 42, X, dml.ArgMaxOperatorDesc, dml.OperatorDesc()], ids=lambda x: type(x).__name__
)
@pytest.mark.parametrize("function", [dml.create_operator, dml.feature_level_required])
def test_what_is_no_description(function, given):
    assert refusal(ArgumentTypeError, function, given) == f"{type(given).__name__} is no operator description"


@pytest.mark.parametrize(
    ("field", "given", "reason"),
    [
        ("total_tensor_size_in_bytes", "x", "total_tensor_size_in_bytes is not an integer"),
        ("total_tensor_size_in_bytes", 8.0, "total_tensor_size_in_bytes is not an integer"),
        ("total_tensor_size_in_bytes", -1, "FLOAT32[2] takes 8 bytes, not -1"),
        ("total_tensor_size_in_bytes", 2**64, "a size is below 2**64, not 18446744073709551616"),
        ("guaranteed_base_offset_alignment", "x", "guaranteed_base_offset_alignment is not an integer"),
        ("guaranteed_base_offset_alignment", None, "guaranteed_base_offset_alignment is not an integer"),
        ("guaranteed_base_offset_alignment", 2**32, "an alignment is below 2**32"),
        ("flags", None, "flags has no value None"),
        ("flags", [], "flags has no value []"),
        ("flags", np.array([0, 1]), "flags has no value array([0, 1])"),
        ("strides", (2**32,), "strides are numbers from 0 to 4294967295, not 4294967296"),
        ("strides", "1", "strides is not a sequence of integers"),
    ],
    ids=str,
)
def test_a_member_that_is_none(field, given, reason):
    assert refusal(SpecError, dml.TensorDesc, FLOAT32, (2,), **{field: given}) == reason


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [((2**32,), None), ((2**100,), None), ((2**32 - 1, 2), None), ((2, 2), (2**32 - 1, 1)), ((2**16,) * 8, (0,) * 8)],
)
def test_sizes_beyond_what_a_tensor_holds(sizes, strides):
    with pytest.raises(SpecError, match=r"at most 4294967295 elements|from 0 to 4294967295"):
        dml.TensorDesc(FLOAT32, sizes, strides)


def test_the_largest_tensor_of_one_element_is_read_where_it_lies():
    repeated = dml.TensorDesc(dml.TensorDataType.INT8, (2**32 - 1,), (0,))
    narrow = dml.TensorDesc(INT32, (1,))
    assert refusal(SpecError, dml.create_operator, dml.ArgMaxOperatorDesc(repeated, narrow, (0,))) == (
        "the index may be as large as 4294967294, which INT32 cannot hold"
    )
    wide = dml.TensorDesc(dml.TensorDataType.INT8, (2, 2**31 - 1), (1, 0))
    operator = dml.create_operator(dml.ArgMaxOperatorDesc(wide, dml.TensorDesc(UINT32, (1, 2**31 - 1)), (0,)))
    assert refusal(InputError, operator.dispatch, [bytes([1, 2, 0, 0])], [bytearray(4)]) == (
        "output_tensor needs 8589934588 bytes, but its buffer has 4"
    )


@pytest.mark.parametrize("strides", [(0, 0), (0, 1), (1, 1), (2, 1), (1, 0)])
def test_an_output_whose_elements_share_memory(strides):
    output = dml.TensorDesc(FLOAT32, (2, 3), strides)
    assert refusal(SpecError, dml.create_operator, dml.ElementWiseMaxOperatorDesc(X, X, output)) == (
        f"elements of output_tensor share memory: its strides are {list(strides)}"
    )


def closed():
    mapping = mmap.mmap(-1, 64)
    mapping.close()
    return mapping


def released():
    view = memoryview(bytearray(64))
    view.release()
    return view


NUMBERS = np.zeros((2, 3), np.float32)
BUFFERS = {
    "too few elements": (NUMBERS[0], InputError, "input_tensor needs 6 elements, but its array has 3"),
    "too few bytes": (bytes(23), InputError, "input_tensor needs 24 bytes, but its buffer has 23"),
    "no bytes": (b"", InputError, "input_tensor needs 24 bytes, but its buffer has 0"),
    "another type": (
        NUMBERS.astype(np.float64),
        ElementTypeError,
        "input_tensor is described as FLOAT32, but its array holds float64",
    ),
    "another byte order": (
        NUMBERS.astype(">f4"),
        ElementTypeError,
        "input_tensor is described as FLOAT32, but its array holds >f4",
    ),
    "a structure": (
        NUMBERS.view([("a", "<f4")]),
        ElementTypeError,
        "input_tensor is described as FLOAT32, but its array holds [('a', '<f4')]",
    ),
    "objects": (
        np.array([None] * 6),
        ElementTypeError,
        "input_tensor is described as FLOAT32, but its array holds object",
    ),
    "another order of memory": (
        NUMBERS[::-1],
        InputError,
        "the array of input_tensor has gaps in memory, which its description does not say",
    ),
    "a mask": (
        np.ma.masked_array(NUMBERS, mask=[[1, 0, 0], [0, 0, 0]]),
        InputError,
        "the array of input_tensor has masked elements, and memory has no mask",
    ),
    "every second byte": (memoryview(bytes(100))[::2], InputError, "the bytes of input_tensor are not contiguous"),
    "a closed mapping": (closed(), InputError, "the bytes of input_tensor cannot be read: mmap closed or invalid"),
    "a released view": (
        released(),
        InputError,
        "the bytes of input_tensor cannot be read: operation forbidden on released memoryview object",
    ),
    "nothing": (None, ElementTypeError, "input_tensor is neither a NumPy array nor a buffer of bytes"),
    "a list": ([1.0] * 6, ElementTypeError, "input_tensor is neither a NumPy array nor a buffer of bytes"),
}


@pytest.mark.parametrize("case", BUFFERS)
def test_a_buffer_that_does_not_fit(case):
    buffer, error, reason = BUFFERS[case]
    operator, output = dml.create_operator(ARGMAX), np.full((2, 1), 7)
    assert refusal(error, operator.dispatch, [buffer], [output]) == reason
    assert output.tolist() == [[7], [7]]


LIES = """
import numpy as np
from unittest.mock import MagicMock
from extremum import directml as dml
from extremum.errors import ElementTypeError

class Lie:
    __class__ = property(lambda self: np.ndarray)
    dtype, shape, strides, size = np.dtype("float32"), (2, 3), (12, 4), 6

x = dml.TensorDesc(dml.TensorDataType.FLOAT32, (2, 3))
operator = dml.create_operator(dml.ElementWiseMaxOperatorDesc(x, x, x))
array = np.zeros((2, 3), np.float32)
for lie in (Lie(), MagicMock(spec=np.ndarray)):
    for inputs, outputs in (([lie, array], [array]), ([array, array], [lie])):
        try:
            operator.dispatch(inputs, outputs)
        except ElementTypeError as error:
            assert "is neither a NumPy array nor a buffer of bytes" in error.reason, error
        else:
            raise AssertionError("taken for an array")
"""


def test_what_only_claims_to_be_an_array():
    result = subprocess.run([sys.executable, "-c", LIES], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


READ_ONLY = np.zeros((2, 1), np.int64)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "buffer", [READ_ONLY, bytes(16), memoryview(bytearray(16)).toreadonly()], ids=lambda x: type(x).__name__
)
def test_an_output_that_cannot_be_written(buffer):
    operator = dml.create_operator(ARGMAX)
    assert refusal(InputError, operator.dispatch, [NUMBERS], [buffer]) == (
        "output_tensor cannot be written to: its buffer is read-only"
    )


def test_a_total_size_that_lies_about_the_buffer():
    large = dml.TensorDesc(FLOAT32, (2, 3), total_tensor_size_in_bytes=2**40)
    operator = dml.create_operator(dml.ArgMaxOperatorDesc(large, Y, (1,)))
    assert refusal(InputError, operator.dispatch, [bytes(24)], [bytearray(16)]) == (
        f"input_tensor needs {2**40} bytes, but its buffer has 24"
    )


def test_an_output_that_lies_partly_on_an_input():
    memory = np.zeros(32, np.float32)
    operator = dml.create_operator(dml.ElementWiseMaxOperatorDesc(X, X, X))
    for start in (1, 5):
        reason = refusal(InputError, operator.dispatch, [memory[:6], memory[8:14]], [memory[start : start + 6]])
        assert reason == "the output lies partly on an input"
    argmax = dml.create_operator(dml.ArgMaxOperatorDesc(X, Y, (1,)))
    memory = bytearray(64)
    assert refusal(InputError, argmax.dispatch, [memory], [memory]) == (
        "the output of DML_ARGMAX shares memory with its input"
    )
