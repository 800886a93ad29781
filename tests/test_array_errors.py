"""The whole text of each error of the array functions: reason, what was given, what helps."""

import numpy as np
import pytest

import extremum
from extremum import _native, errors
from refusal import error_of

NAMES = {"extremum": extremum, "np": np, "_native": _native}
TEXTS = """
>>> extremum.argmax(np.zeros((2, 2)), 3)
AxisError: argmax: axis 3 is out of range for an array with 2 dimensions
  given float64[2, 2], axis=3
  help  use an axis in [-2, 1]

>>> extremum.hardmax(np.array(1.0))
AxisError: hardmax: axis -1 is out of range for an array with 0 dimensions
  given float64[], axis=-1
  help  pass an array with at least one dimension

>>> extremum.argmin(np.zeros((2, 2), np.int8), (0, -2))
AxisError: argmin: axis 0 is given more than once
  given int8[2, 2], axis=(0, -2)
  help  list each axis once

>>> extremum.argmax(np.zeros((3, 0)), 1)
ArgumentError: argmax: the reduced axes (1,) of shape (3, 0) hold no element
  given float64[3, 0]
  help  reduce axes that are not empty, or pass a default

>>> extremum.argmax(np.zeros(2), dtype=np.float32)
ElementTypeError: argmax: index type float32 is not an integer type in this machine's byte order
  help  use dtype=int64, the default

>>> extremum.max(np.zeros(2), out=[0])
ArgumentTypeError: max: out is list, not an array
  help  pass a numpy.ndarray

>>> extremum.argmax(np.broadcast_to(np.int8(1), 2**31 + 1), dtype=np.int32)
ArgumentError: argmax: an index up to 2147483648 does not fit int32
  given int8[2147483649]
  help  use dtype=int64

>>> extremum.argmin(np.zeros(2, complex))
ElementTypeError: argmin: cannot take elements of type complex128
  help  convert to bool, an integer, float16, bfloat16, float32 or float64

>>> extremum.maximum()
ArgumentError: maximum: needs at least one array
  help  call maximum(x) or maximum(x, y, ...)

>>> extremum.minimum(np.zeros(3), np.zeros(4))
ArgumentError: minimum: operands could not be broadcast together with shapes (3,) (4,)
  help  dimensions, aligned at the last one, must be equal or 1

>>> extremum.maximum(np.zeros(3, "M8[s]"), np.zeros(3))
ElementTypeError: maximum: times compare with times of their kind, not datetime64[s] with float64
  help  convert the operands to one kind first

>>> extremum.argmax(np.zeros((2, 2)), 0, out=np.zeros(3, np.int64))
ArgumentError: argmax: out has shape (3,), the result has shape (2,)
  given out: int64[3]
  help  pass an array of shape (2,)

>>> extremum.max(np.zeros(2, np.int8), out=np.array(0, np.int16))
ElementTypeError: max: out has element type int16, the result has int8
  given out: int16[]
  help  pass an array of int8

>>> extremum.hardmax(np.zeros(2), out=np.broadcast_to(0.0, 2))
ArgumentError: hardmax: out cannot be written to
  given out: float64[2]
  help  pass an array that is writable and whose elements do not share memory

>>> extremum.maximum(np.zeros(2), out=[0, 0])
ArgumentTypeError: maximum: out is list, not an array
  help  pass a numpy.ndarray

>>> extremum.maximum(np.zeros(2, np.int8), 128)
ArgumentError: the number 128 does not fit int8
  at    maximum
  given 128 with arrays of int8
  help  convert the arrays to a wider type, or pass a number within its range

>>> extremum.argmax(np.zeros(2), 1.0)
ArgumentTypeError: argmax: axis 1.0 is not an integer
  given float64[2], axis=1.0
  help  pass an int or a tuple of ints

>>> extremum.argmax(np.zeros(2), 2**70)
AxisError: argmax: axis 1180591620717411303424 is out of range for an array with 1 dimension
  given float64[2], axis=1180591620717411303424
  help  use an axis in [-1, 0]

>>> extremum.top_k(np.zeros((2, 3), np.int8), 4)
ArgumentError: top_k: k is 4, and there are 3 elements along axis 1
  given int8[2, 3], k=4
  help  pass k from 0 to 3

>>> extremum.top_k(np.zeros(3), 1, mode="max")
ArgumentError: top_k: there is no mode 'max'
  help  use 'largest' or 'smallest'

>>> extremum.top_k(np.zeros(3), 1, keepdim=True)
ArgumentTypeError: top_k() got an unexpected keyword argument 'keepdim'
  help  leave it out: the axis always stays, and has size k

>>> extremum.top_k(np.zeros(3), 1, keepdims=True)
ArgumentTypeError: top_k() got an unexpected keyword argument 'keepdims'
  help  leave it out: the axis always stays, and has size k

>>> extremum.top_k(np.zeros(3), 1, out=None)
ArgumentTypeError: top_k() got an unexpected keyword argument 'out'
  help  leave it out: values and indices are new arrays

>>> extremum.top_k(np.zeros(3), 1, sorted="no")
ArgumentTypeError: top_k: sorted is 'no', not a bool
  help  pass True or False

>>> extremum.top_k(np.zeros(3), 1, 1)
AxisError: top_k: axis 1 is out of range for an array with 1 dimension
  given float64[3], axis=1
  help  use an axis in [-1, 0]

>>> extremum.top_k(np.array(1.0), 1)
AxisError: top_k: axis -1 is out of range for an array with 0 dimensions
  given float64[], axis=-1
  help  pass an array with at least one dimension

>>> extremum.top_k(np.zeros(3, complex), 1)
ElementTypeError: top_k: cannot take elements of type complex128
  help  convert to bool, an integer, float16, bfloat16, float32 or float64

>>> extremum.set_num_threads(0)
ArgumentError: set_num_threads: 0 is not a number of threads
  help  pass an integer of at least 1

>>> _native.set_instruction_set("abacus")
ArgumentError: set_instruction_set: this processor has no instruction set named abacus
  help  use one of {sets}
"""


CASES = TEXTS.replace("{sets}", str(_native.instruction_sets())).strip().split("\n\n")


@pytest.mark.parametrize("case", CASES, ids=[case.partition("\n")[0].removeprefix(">>> ") for case in CASES])
def test_text(case):
    call, text = case.removeprefix(">>> ").split("\n", 1)
    error = error_of(errors.ExtremumError, eval, call, NAMES)
    assert f"{type(error).__name__}: {error}" == text
