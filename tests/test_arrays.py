"""What comes in as an array: other protocols, sequences, subclasses; and what is refused for its elements."""

import array

import ml_dtypes
import numpy as np
import pytest

import extremum
from agreement import assert_same_bits
from extremum.arrays import as_array
from extremum.errors import ElementTypeError
from refusal import refusal
from strategies import BFLOAT16, ELEMENT_TYPES

VALUES = [[3, 9, 9], [7, 2, 7]]


class DLPack:
    """An array that only speaks DLPack, as another library's would."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


class BrokenDLPack(DLPack):
    """An array whose DLPack export refuses and whose `__array__` works: PyTorch's with gradients, ml_dtypes'."""

    def __dlpack__(self, **options):
        raise BufferError("not this one")

    def __array__(self, dtype=None, copy=None):
        return self.x


class Array:
    """An array that only speaks `__array__`."""

    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return self.x


class Subclass(np.ndarray):
    pass


INCOMING = {
    "list": VALUES,
    "tuple": tuple(map(tuple, VALUES)),
    "list of arrays": [np.array(row) for row in VALUES],
    "dlpack": DLPack(np.array(VALUES)),
    "dlpack that refuses": BrokenDLPack(np.array(VALUES)),
    "__array__": Array(np.array(VALUES)),
    "subclass": np.array(VALUES).view(Subclass),
    "memoryview": memoryview(np.array(VALUES)),
}


@pytest.mark.parametrize("x", INCOMING.values(), ids=INCOMING.keys())
def test_incoming(x):
    plain = np.array(VALUES)
    assert_same_bits(extremum.argmax(x, 1), np.array([1, 0]))
    assert_same_bits(extremum.argmin(x, 0, select_last_index=True), np.array([0, 1, 1]))
    assert_same_bits(extremum.maximum(x, x), plain)
    assert_same_bits(extremum.minimum(plain, x), plain)
    assert_same_bits(extremum.hardmax(x), np.array([[0, 1, 0], [1, 0, 0]]))


def test_results_are_plain_arrays():
    x = np.array(VALUES).view(Subclass)
    assert type(extremum.argmax(x, 1)) is np.ndarray
    assert type(extremum.maximum(x, x)) is np.ndarray
    assert type(extremum.hardmax(x)) is np.ndarray


@pytest.mark.parametrize("x", [True, 7, -2.5, np.float32(3), np.bool_(False), np.array(4)], ids=repr)
def test_scalars(x):
    assert extremum.argmax(x) == 0
    assert_same_bits(extremum.maximum(x), np.asarray(x)[()])


def test_a_buffer_without_numpy():
    assert extremum.argmax(array.array("d", [1, 5, 2])) == 1
    assert extremum.argmax(bytearray(b"\x01\xff\x02")) == 1


@pytest.mark.parametrize("dtype", ELEMENT_TYPES, ids=str)
def test_elements_of_every_type_come_in(dtype):
    x = np.array([0, 1, 1], dtype)
    assert extremum.argmax(x) == 1
    assert extremum.argmin(x) == 0
    assert_same_bits(extremum.hardmax(x), np.array([0, 1, 0], dtype))
    assert_same_bits(extremum.minimum(x, x[::-1]), np.array([0, 1, 0], dtype))


def test_the_platforms_other_integer_names_come_in():
    for name in "bhilqBHILQ":
        assert extremum.argmax(np.array([1, 2], np.dtype(name))) == 1


REFUSED = {
    "complex64": np.zeros(2, np.complex64),
    "complex128": np.zeros(2, complex),
    "[('a', '<i4')]": np.zeros(2, [("a", "<i4")]),
    "|V2": np.zeros(2, "V2"),
    "float8_e4m3fn": np.zeros(2, ml_dtypes.float8_e4m3fn),
    "int4": np.zeros(2, ml_dtypes.int4),
    **({} if np.longdouble is np.float64 else {str(np.dtype(np.longdouble)): np.zeros(2, np.longdouble)}),
    "object": np.zeros(2, object),
    "<U1": np.zeros(2, "U1"),
    "|S3": np.zeros(2, "S3"),
}
FUNCTIONS = (extremum.argmax, extremum.argmin, extremum.maximum, extremum.minimum, extremum.hardmax)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize(("name", "x"), REFUSED.items(), ids=REFUSED.keys())
def test_other_elements_are_refused(function, name, x):
    assert refusal(ElementTypeError, function, x) == f"{function.__name__}: cannot take elements of type {name}"


def test_empty_lists_are_float64():
    assert_same_bits(extremum.maximum([]), np.empty(0))


class TestAsArray:
    def test_arrays_pass_unchanged(self):
        x = np.array(VALUES)
        assert as_array(x) is x

    @pytest.mark.parametrize("kind", [DLPack, Array, BrokenDLPack, memoryview])
    def test_memory_is_shared(self, kind):
        x = np.array(VALUES)
        assert np.shares_memory(as_array(kind(x)), x)

    def test_bfloat16_comes_through_array_protocol(self):
        x = np.array([1, 3, 2], BFLOAT16)
        assert as_array(DLPackOfBfloat16(x)).dtype == BFLOAT16
        assert extremum.argmax(DLPackOfBfloat16(x)) == 1

    @pytest.mark.parametrize("x", ["text", b"bytes", [[1, 2], [3]], [object], {"a": 1}, None], ids=repr)
    def test_values_without_numbers_are_refused(self, x):
        with pytest.raises(ElementTypeError, match="have no order here"):
            as_array(x)


class DLPackOfBfloat16(DLPack):
    """ml_dtypes' arrays refuse DLPack by themselves."""

    def __array__(self, dtype=None, copy=None):
        return self.x


def test_a_result_owns_its_memory():
    x = np.random.default_rng(0).random((4, 5))
    mask = x > 0.5
    results = [
        extremum.argmax(x, 1),
        extremum.argmax(x, 1, where=mask, default=-1),
        extremum.max(x, 1),
        *extremum.max(x, 1, return_index=True),
        *extremum.minmax(x, 1, return_index=True),
        extremum.max(x, 1, where=mask, default=0),
        extremum.max(x.tolist(), 1),
        extremum.maximum(x, x),
        extremum.maximum(x, 1),
        extremum.maximum(x, np.arange(5)),
        extremum.maximum(x, x.T.copy().T, nan_policy="omit"),
        extremum.hardmax(x),
        extremum.hardmax(x, where=mask),
    ]
    assert all(result.flags.owndata for result in results)
