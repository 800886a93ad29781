"""Inputs that are taken as arrays: other protocols, sequences, subclasses, proxies; elements that are refused."""

import array
from collections import UserList, deque
from unittest.mock import MagicMock

import ml_dtypes
import numpy as np
import pytest

import extremum
import watched
from agreement import assert_same_bits
from extremum.arrays import as_array
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError
from refusal import error_of, refusal
from strategies import BFLOAT16

FUNCTIONS = (extremum.argmax, extremum.argmin, extremum.maximum, extremum.minimum, extremum.hardmax)
VALUES = [[3, 9, 9], [7, 2, 7]]


class DLPack:
    """An array that only supports DLPack, as an array of another library may."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


class BrokenDLPack(DLPack):
    """An array whose DLPack export fails and whose `__array__` works, as in PyTorch with gradients and in ml_dtypes."""

    def __dlpack__(self, **options):
        raise BufferError("not this one")

    def __array__(self, dtype=None, copy=None):
        return self.x


class Array:
    """An array that only supports `__array__`."""

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
    **{f"as {name}": np.array(VALUES, np.dtype(name)) for name in "bhilqBHILQ"},
}


@pytest.mark.parametrize("x", INCOMING.values(), ids=INCOMING.keys())
def test_incoming(x):
    plain = x if type(x) is np.ndarray else np.array(VALUES)
    for actual, expected in (
        (extremum.argmax(x, 1), np.array([1, 0])),
        (extremum.argmin(x, 0, select_last_index=True), np.array([0, 1, 1])),
        (extremum.maximum(x, x), plain),
        (extremum.minimum(plain, x), plain),
        (extremum.hardmax(x), np.array([[0, 1, 0], [1, 0, 0]], plain.dtype)),
    ):
        assert type(actual) is np.ndarray
        assert_same_bits(actual, expected)


@pytest.mark.parametrize("x", [True, 7, -2.5, np.float32(3), np.bool_(False), np.array(4)], ids=repr)
def test_scalars(x):
    assert extremum.argmax(x) == 0
    assert_same_bits(extremum.maximum(x), np.asarray(x)[()])


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


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize(("name", "x"), REFUSED.items(), ids=REFUSED.keys())
def test_other_elements_are_refused(function, name, x):
    assert refusal(ElementTypeError, function, x) == f"{function.__name__}: cannot take elements of type {name}"


def test_empty_lists_and_buffers():
    assert_same_bits(extremum.maximum([]), np.empty(0))
    assert extremum.argmax(array.array("d", [1, 5, 2])) == 1
    assert extremum.argmax(bytearray(b"\x01\xff\x02")) == 1


@pytest.mark.parametrize("dtype", ["float32", BFLOAT16], ids=str)
@pytest.mark.parametrize("kind", [DLPack, Array, BrokenDLPack, memoryview])
def test_memory_is_shared(kind, dtype):
    x = np.array([1, 3, 2], dtype)
    assert as_array(x) is x
    if dtype == "float32" or kind in (Array, BrokenDLPack):
        assert np.shares_memory(as_array(kind(x)), x)
        assert extremum.argmax(kind(x)) == 1


@pytest.mark.parametrize("x", ["text", b"bytes", [[1, 2], [3]], [object], {"a": 1}, None], ids=repr)
def test_values_without_numbers_are_refused(x):
    assert "have no order here" in str(error_of(ElementTypeError, as_array, x))


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


FLAT = np.array([1.0, 9.0, 3.0])
MASKED = np.ma.array(FLAT, mask=[False, True, False])
ONE = "element has no value to compare"


class Elements:
    """An array of another library, which hands out its elements by `__array__`."""

    dtype = FLAT.dtype

    def __init__(self, values=FLAT):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values


def speaks(**attributes):
    """An array that behaves like one of another library, which is too large to install for this test."""
    return type("Array", (Elements,), attributes)()


# Seen with Dask 2026.8, astropy 8.0 and PyTorch 2.15; test_interop.py has pandas, Polars and PyArrow themselves.
MASKS_OF_TORCH = {"get_mask": lambda _: Elements(np.array([True, False, True])), "get_data": lambda _: FLAT}


class Masked(np.ndarray):
    """Like astropy's masked array: a subclass with a mask that is not NumPy's."""

    mask = np.array([False, True, False])


MISSING = {
    "masked": MASKED,
    "masked, as 2-D": MASKED[None],
    "masked scalar": np.ma.masked,
    "list of masked": [MASKED, MASKED],
    "list with a masked scalar": [1.0, np.ma.masked, 2.0],
    "nested list of masked": [[FLAT, FLAT], (FLAT, MASKED)],
    "deque of masked": deque([MASKED]),
    "UserList of masked": UserList([MASKED]),
    "__array__ that gives masked": Elements(MASKED),
    "list of arrow": [speaks(null_count=1), Elements()],
    "astropy": FLAT.view(Masked),
    "torch": speaks(**MASKS_OF_TORCH),
    "dask": speaks(_meta=np.ma.array([]), compute=lambda _: MASKED),
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("x", MISSING.values(), ids=MISSING.keys())
def test_missing_elements_are_refused(function, x):
    if isinstance(x, np.ma.MaskedArray) and function not in (extremum.maximum, extremum.minimum):
        # In a reduction, a mask says what takes part: test_interop.py tests that.
        return
    assert refusal(ArgumentError, function, x).endswith((ONE, "elements have no value to compare"))


def test_the_whole_text():
    assert str(error_of(ArgumentError, extremum.maximum, np.ma.masked_greater(FLAT, 2), 1)) == (
        "2 masked elements have no value to compare\n"
        "  at    maximum\n"
        f"  given {np.ma.MaskedArray.__module__}.MaskedArray\n"
        "  help  fill or drop them first, as x.filled(value) or x.compressed() does"
    )


def test_out_with_masked_elements_is_refused():
    index = np.ma.array([0], mask=[True])
    for call in (
        lambda: extremum.argmax(FLAT, keepdims=True, out=index),
        lambda: extremum.argmin(FLAT, keepdims=True, out=index),
        lambda: extremum.maximum(FLAT, out=MASKED.copy()),
        lambda: extremum.minimum(FLAT, 2, out=MASKED.copy()),
        lambda: extremum.hardmax(FLAT, out=MASKED.copy()),
    ):
        assert refusal(ArgumentError, call) == f"1 masked {ONE}"
    assert index.data.tolist() == [0]


@pytest.mark.parametrize(
    "x",
    [
        np.ma.array(FLAT),
        np.ma.array(FLAT, mask=[False] * 3),
        [np.ma.array(FLAT)],
        Elements(np.ma.array(FLAT)),
        speaks(isna=lambda _: np.array([False, True, False])),
        [1.0, np.float32(9), np.array(3)],
    ],
    ids=["no mask", "an open mask", "a list", "__array__", "NaN of NumPy's own type", "numbers"],
)
def test_what_has_all_its_elements_comes_in(x):
    assert_same_bits(as_array(x).reshape(-1), FLAT)
    assert type(as_array(x)) is np.ndarray
    assert extremum.argmax(x) == 1


def test_a_list_that_holds_itself_ends():
    x = [1.0]
    x.append(x)
    error_of((TypeError, ValueError), extremum.argmax, x)


FLOATS_2D = np.array([[3.0, 9.0, 9.0], [7.0, 2.0, 7.0]])


class Proxy:
    """Presents itself as the object behind it, class included, as wrapt's proxies and lazy objects do."""

    def __init__(self, behind):
        object.__setattr__(self, "_behind", behind)

    @property
    def __class__(self):
        return type(self._behind)

    def __getattr__(self, name):
        return getattr(self._behind, name)


class Liar:
    """Claims to be an array, and is not."""

    __class__ = np.ndarray


def proxies_are_used():
    x = Proxy(FLOATS_2D)
    assert isinstance(x, np.ndarray)
    assert extremum.argmax(x) == 1
    assert_same_bits(extremum.argmin(x, 1, select_last_index=True), np.array([0, 1]))
    assert_same_bits(extremum.maximum(x, 4.0, x), np.maximum(FLOATS_2D, 4))
    assert_same_bits(extremum.minimum(FLOATS_2D, x), FLOATS_2D)
    assert_same_bits(extremum.hardmax(x, 0), np.array([[0.0, 1, 1], [1, 0, 0]]))
    assert np.shares_memory(as_array(x), FLOATS_2D)
    assert refusal(ArgumentTypeError, extremum.maximum, FLOATS_2D, out=Proxy(FLOATS_2D.copy())) == (
        "maximum: out is Proxy, not an array"
    )


def mocks_are_refused():
    for x in (MagicMock(spec=np.ndarray), Liar(), Proxy(Liar())):
        for function in FUNCTIONS:
            assert refusal(ElementTypeError, function, x).startswith(
                ("no array can be made of it", "elements of type object")
            )
        error_of(TypeError, extremum.maximum, FLOATS_2D, out=x)


def a_borrowed_name_is_refused():
    """Types of other sizes and kinds that call themselves bfloat16, before and after the real bfloat16 is used."""
    fakes = []
    for real in (ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.float8_e4m3fn):
        real.__name__ = "bfloat16"
        fakes.append(np.ones(3, real))
    for _ in range(2):
        for fake in fakes:
            for function in FUNCTIONS:
                assert "cannot take elements of type" in refusal(ElementTypeError, function, fake)
                assert "cannot take elements of type" in refusal(ElementTypeError, function, fake.byteswap())
        assert extremum.argmax(np.array([1, 3, 2], ml_dtypes.bfloat16)) == 1


def another_type_in_its_place_is_refused():
    """An 8-bit type is refused even where the module ml_dtypes calls it bfloat16."""
    ml_dtypes.bfloat16 = ml_dtypes.float8_e5m2
    assert "cannot take elements of type" in refusal(ElementTypeError, extremum.argmax, np.ones(3, ml_dtypes.bfloat16))


def everything_that_changes_types():
    for case in (proxies_are_used, mocks_are_refused, a_borrowed_name_is_refused, another_type_in_its_place_is_refused):
        watched.say(case.__name__)
        case()


def test_in_a_process_of_its_own():
    watched.call(everything_that_changes_types)


class Quantity(np.ndarray):
    """An array with units, such as astropy's: its own rules decide how to add, compare and so on."""

    def __array_ufunc__(self, *arguments, **options):
        raise AssertionError("not asked here")


def test_own_rules():
    """Elements of one array can be compared as they are; together with other arrays, the units would be lost."""
    x = FLOATS_2D.view(Quantity)
    assert extremum.argmax(x) == 1
    assert_same_bits(extremum.hardmax(x), np.array([[0.0, 1, 0], [1, 0, 0]]))
    text = "Quantity has rules of its own for its elements, which would be lost"
    for function in (extremum.maximum, extremum.minimum):
        for operands in ((x,), (x, FLOATS_2D), (FLOATS_2D, x), (1.0, x)):
            assert refusal(ElementTypeError, function, *operands) == text
    for function in (extremum.maximum, extremum.hardmax):
        assert "rules of its own" in refusal(ElementTypeError, function, FLOATS_2D, out=x.copy())


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_other_subclasses_are_plain_arrays():
    matrix = np.matrix([[1, 5], [7, 2]])
    assert_same_bits(extremum.argmax(matrix, 1), np.array([1, 0]))
    assert_same_bits(extremum.maximum(matrix, 3), np.array([[3, 5], [7, 3]]))
    records = np.rec.array([(1, 2.0)], dtype=[("a", int), ("b", float)])
    assert extremum.argmax(records.a) == 0
    assert "cannot take elements" in refusal(ElementTypeError, extremum.argmax, records)


class LazyTensor:
    """A PyTorch tensor with a pending sign change or conjugation, which its memory, as DLPack exports it, lacks."""

    def __init__(self, memory, negative=True):
        self.memory = memory
        self.negative = negative

    def resolve_conj(self):
        return self

    def resolve_neg(self):
        return LazyTensor(-self.memory, negative=False) if self.negative else self

    def __dlpack__(self, **options):
        return self.memory.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.memory.__dlpack_device__()


def test_a_sign_that_is_yet_to_be_applied_is():
    x = LazyTensor(np.array([1.0, 3.0, 2.0]))
    assert extremum.argmax(x) == 0
    assert extremum.argmin(x) == 1
    assert_same_bits(extremum.maximum(x, -2.0), np.array([-1.0, -2.0, -2.0]))
    plain = LazyTensor(np.array([1.0, 3.0]), negative=False)
    assert np.shares_memory(as_array(plain), plain.memory)
