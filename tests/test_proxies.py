"""What only looks like an array: proxies, mocks, subclasses with rules of their own, types with a borrowed name.

`isinstance` believes what an object says of its class; the native module must not.
"""

from unittest.mock import MagicMock

import ml_dtypes
import numpy as np
import pytest

import extremum
import watched
from agreement import assert_same_bits
from extremum.arrays import as_array
from extremum.errors import ArgumentTypeError, ElementTypeError
from refusal import refusal

FUNCTIONS = (extremum.argmax, extremum.argmin, extremum.maximum, extremum.minimum, extremum.hardmax)
VALUES = np.array([[3.0, 9.0, 9.0], [7.0, 2.0, 7.0]])


class Proxy:
    """Says of itself what the object behind it would say, class included, as wrapt's and lazy objects do."""

    def __init__(self, behind):
        object.__setattr__(self, "_behind", behind)

    @property
    def __class__(self):
        return type(self._behind)

    def __getattr__(self, name):
        return getattr(self._behind, name)


class Liar:
    """Says that it is an array, and is nothing."""

    __class__ = np.ndarray


def proxies_are_used():
    x = Proxy(VALUES)
    assert isinstance(x, np.ndarray)
    assert extremum.argmax(x) == 1
    assert_same_bits(extremum.argmin(x, 1, select_last_index=True), np.array([0, 1]))
    assert_same_bits(extremum.maximum(x, 4.0, x), np.maximum(VALUES, 4))
    assert_same_bits(extremum.minimum(VALUES, x), VALUES)
    assert_same_bits(extremum.hardmax(x, 0), np.array([[0.0, 1, 1], [1, 0, 0]]))
    assert np.shares_memory(as_array(x), VALUES)
    assert refusal(ArgumentTypeError, extremum.maximum, VALUES, out=Proxy(VALUES.copy())) == (
        "maximum: out is Proxy, not an array"
    )


def mocks_are_refused():
    for x in (MagicMock(spec=np.ndarray), Liar(), Proxy(Liar())):
        for function in FUNCTIONS:
            assert refusal(ElementTypeError, function, x).startswith(
                ("no array can be made of it", "elements of type object")
            )
        with pytest.raises(TypeError):
            extremum.maximum(VALUES, out=x)


def a_borrowed_name_is_refused():
    """Types of other sizes and other kinds that call themselves bfloat16, before and after the real one is met."""
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
    """Not even a module that says so makes eight bits bfloat16."""
    ml_dtypes.bfloat16 = ml_dtypes.float8_e5m2
    assert "cannot take elements of type" in refusal(ElementTypeError, extremum.argmax, np.ones(3, ml_dtypes.bfloat16))


@pytest.mark.parametrize(
    "case",
    [
        proxies_are_used,
        mocks_are_refused,
        a_borrowed_name_is_refused,
        another_type_in_its_place_is_refused,
    ],
    ids=lambda case: case.__name__,
)
def test_in_a_process_of_its_own(case):
    watched.call(case)


class Quantity(np.ndarray):
    """An array with units, such as astropy's: adding, comparing, all is done by its own rules."""

    def __array_ufunc__(self, *arguments, **options):
        raise AssertionError("not asked here")


class TestOwnRules:
    """One array's elements compare with each other as they are; beside other arrays' the units would be lost."""

    def test_its_own_elements_are_compared(self):
        x = VALUES.view(Quantity)
        assert extremum.argmax(x) == 1
        assert_same_bits(extremum.hardmax(x), np.array([[0.0, 1, 0], [1, 0, 0]]))

    @pytest.mark.parametrize("function", [extremum.maximum, extremum.minimum], ids=lambda function: function.__name__)
    def test_elements_of_several_are_not(self, function):
        x = VALUES.view(Quantity)
        for operands in ((x,), (x, VALUES), (VALUES, x), (1.0, x)):
            assert refusal(ElementTypeError, function, *operands) == (
                "Quantity has rules of its own for its elements, which would be lost"
            )

    def test_nothing_is_written_into_it(self):
        for call in (
            lambda: extremum.maximum(VALUES, out=VALUES.copy().view(Quantity)),
            lambda: extremum.hardmax(VALUES, out=VALUES.copy().view(Quantity)),
        ):
            assert "rules of its own" in refusal(ElementTypeError, call)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_other_subclasses_are_plain_arrays():
    matrix = np.matrix([[1, 5], [7, 2]])
    assert_same_bits(extremum.argmax(matrix, 1), np.array([1, 0]))
    assert_same_bits(extremum.maximum(matrix, 3), np.array([[3, 5], [7, 3]]))
    records = np.rec.array([(1, 2.0)], dtype=[("a", int), ("b", float)])
    assert extremum.argmax(records.a) == 0
    assert "cannot take elements" in refusal(ElementTypeError, extremum.argmax, records)


class LazyTensor:
    """A tensor of PyTorch whose sign, or conjugation, is yet to be applied: DLPack hands out the memory without it."""

    def __init__(self, memory, negative=True):
        self.memory, self.negative = memory, negative

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
