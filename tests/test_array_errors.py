"""The whole text of each error of the array functions: reason, what was given, what helps."""

import numpy as np
import pytest

import extremum
from extremum import _native, errors

TEXTS = [
    (
        lambda: extremum.argmax(np.zeros((2, 2)), 3),
        errors.AxisError,
        """\
argmax: axis 3 is out of range for an array with 2 dimensions
  given float64[2, 2], axis=3
  help  use an axis in [-2, 1]""",
    ),
    (
        lambda: extremum.hardmax(np.array(1.0)),
        errors.AxisError,
        """\
hardmax: axis -1 is out of range for an array with 0 dimensions
  given float64[], axis=-1
  help  pass an array with at least one dimension""",
    ),
    (
        lambda: extremum.argmin(np.zeros((2, 2), np.int8), (0, -2)),
        errors.AxisError,
        """\
argmin: axis 0 is given more than once
  given int8[2, 2], axis=(0, -2)
  help  list each axis once""",
    ),
    (
        lambda: extremum.argmax(np.zeros((3, 0)), 1),
        errors.ArgumentError,
        """\
argmax: the reduced axes (1,) of shape (3, 0) hold no element
  given float64[3, 0]
  help  reduce axes that are not empty, or pass a default""",
    ),
    (
        lambda: extremum.argmax(np.zeros(2), dtype=np.float32),
        errors.ElementTypeError,
        """\
argmax: index type float32 is not an integer type in this machine's byte order
  help  use dtype=int64, the default""",
    ),
    (
        lambda: extremum.argmax(np.broadcast_to(np.int8(1), 2**31 + 1), dtype=np.int32),
        errors.ArgumentError,
        """\
argmax: an index up to 2147483648 does not fit int32
  given int8[2147483649]
  help  use dtype=int64""",
    ),
    (
        lambda: extremum.argmin(np.zeros(2, complex)),
        errors.ElementTypeError,
        """\
argmin: cannot take elements of type complex128
  help  convert to bool, an integer, float16, bfloat16, float32 or float64""",
    ),
    (
        lambda: extremum.maximum(),
        errors.ArgumentError,
        """\
maximum: needs at least one array
  help  call maximum(x) or maximum(x, y, ...)""",
    ),
    (
        lambda: extremum.minimum(np.zeros(3), np.zeros(4)),
        errors.ArgumentError,
        """\
minimum: operands could not be broadcast together with shapes (3,) (4,)
  help  dimensions, aligned at the last one, must be equal or 1""",
    ),
    (
        lambda: extremum.maximum(np.zeros(3, "M8[s]"), np.zeros(3)),
        errors.ElementTypeError,
        """\
maximum: times compare with times of their kind, not datetime64[s] with float64
  help  convert the operands to one kind first""",
    ),
    (
        lambda: extremum.argmax(np.zeros((2, 2)), 0, out=np.zeros(3, np.int64)),
        errors.ArgumentError,
        """\
argmax: out has shape (3,), the result has shape (2,)
  given out: int64[3]
  help  pass an array of shape (2,)""",
    ),
    (
        lambda: extremum.argmax(np.zeros(2), out=np.array(0, np.float32)),
        errors.ElementTypeError,
        """\
argmax: out has element type float32, the result has int64
  given out: float32[]
  help  pass an array of int64""",
    ),
    (
        lambda: extremum.hardmax(np.zeros(2), out=np.broadcast_to(0.0, 2)),
        errors.ArgumentError,
        """\
hardmax: out cannot be written to
  given out: float64[2]
  help  pass an array that is writable and whose elements do not share memory""",
    ),
    (
        lambda: extremum.maximum(np.zeros(2), out=[0, 0]),
        errors.ArgumentTypeError,
        """\
maximum: out is list, not an array
  help  pass a numpy.ndarray""",
    ),
    (
        lambda: extremum.maximum(np.zeros(2, np.int8), 128),
        errors.ArgumentError,
        """\
the number 128 does not fit int8
  at    maximum
  given 128 beside arrays of int8
  help  convert the arrays to a wider type, or pass a number within its range""",
    ),
    (
        lambda: extremum.argmax(np.zeros(2), 1.0),
        errors.ArgumentTypeError,
        """\
argmax: axis 1.0 is not an integer
  given float64[2], axis=1.0
  help  pass an int or a tuple of ints""",
    ),
    (
        lambda: extremum.argmax(np.zeros(2), 2**70),
        errors.AxisError,
        """\
argmax: axis 1180591620717411303424 is out of range for an array with 1 dimension
  given float64[2], axis=1180591620717411303424
  help  use an axis in [-1, 0]""",
    ),
    (
        lambda: extremum.hardmax(np.zeros(2), None),
        errors.ArgumentTypeError,
        """\
hardmax: axis None is not an integer
  given float64[2], axis=None
  help  pass an int or a tuple of ints""",
    ),
    (
        lambda: extremum.set_num_threads(0),
        errors.ArgumentError,
        """\
set_num_threads: 0 is not a number of threads
  help  pass an integer of at least 1""",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), TEXTS, ids=[text.splitlines()[0] for _, _, text in TEXTS])
def test_text(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert str(caught.value) == text


def test_an_unknown_instruction_set_is_refused_with_the_known_ones():
    with pytest.raises(errors.ArgumentError) as caught:
        _native.set_instruction_set("abacus")
    assert str(caught.value) == (
        "set_instruction_set: this processor has no instruction set named abacus\n"
        f"  help  use one of {_native.instruction_sets()}"
    )
