"""The array functions on Dask arrays: what is refused at once, and what is refused once it is computed."""

import dask.array as da
import numpy as np
import pytest

import extremum as ex
import extremum.dask as ed
from extremum.errors import ArgumentError, ArgumentTypeError, AxisError, ElementTypeError
from lazy import chunked, computed, unreadable
from refusal import refusal

X = np.array([[1.0, np.nan, 5.0], [7.0, 0.0, 7.0]])


def unknown(chunks=5):
    x = da.from_array(np.arange(10.0), chunks=chunks)
    return x[x > 3]


def others():
    return unknown(chunks=2)


@pytest.mark.parametrize(
    "function",
    [
        ex.argmax,
        lambda x: ex.min(x, return_index=True),
        lambda x: ex.minmax(da.stack([x, x], 1), (0, 1), where=da.ones((1, 2), dtype=bool, chunks=1)),
        ex.hardmax,
        lambda x: ed.argmax(da.ones(6), where=x > 0),
        lambda x: ed.argmax(da.stack([x, x], 1), 1, where=np.ones((6, 1), bool)),
        lambda x: ed.argmax(da.stack([x, x], 1), 1, where=others()[:, None] > 0),
        lambda x: ed.maximum(x, np.ones(6)),
        lambda x: ed.maximum(x, others()),
    ],
)
def test_chunks_of_unknown_size_are_refused(function):
    with pytest.raises(ArgumentError) as caught:
        function(unknown())
    reason, *rest = str(caught.value).splitlines()
    assert reason.endswith("the sizes of the chunks along axis 0 are not known")
    assert rest[-1] == "  help  call x.compute_chunk_sizes() first"


def test_chunks_of_unknown_size_that_differ_are_refused_when_they_meet():
    one = da.from_array(np.array([1.0, 0, 0, 1]), chunks=2)
    two = da.from_array(np.array([1.0, 1, 1, 1]), chunks=2)
    one, two = one[one > 0], two[two > 0]
    reason = "maximum: chunks of unknown size that meet along axis 0 have 1 and 2 elements"
    assert refusal(ArgumentError, computed, ex.maximum(one, two)) == reason
    masked = ex.argmax(two[:, None], axis=1, where=(one > 0)[:, None])
    assert refusal(ArgumentError, computed, masked) == (
        "argmax: chunks of unknown size that meet along axis 0 have 2 and 1 elements"
    )


def test_a_slice_among_chunks_of_unknown_size_is_named_by_its_chunk():
    x = da.from_array(np.array([[1.0], [2], [0], [np.nan]]), chunks=2)
    x = x[~(x[:, 0] == 0)]
    with pytest.raises(ArgumentError) as error:
        computed(ex.argmax(x, axis=1, nan_policy="raise"))
    assert error.value.reason == "argmax: the slice at (0,) of the result holds NaN"
    assert error.value.where == "chunk (1,) of the result, from whose start the slice is counted"
    with pytest.raises(AxisError) as error:
        ex.argmax(x, axis=3)
    assert error.value.given == "float64[?, 1]"


def test_what_is_refused_at_once():
    d = unreadable((4, 6), (2, 3))
    assert refusal(AxisError, ex.argmax, d, axis=2) == "argmax: axis 2 is out of range for an array with 2 dimensions"
    assert refusal(AxisError, ed.hardmax, d, (0, 0)).startswith("hardmax: axis 0 is given more than once")
    assert refusal(ArgumentError, ex.max, d, nan_policy="skip") == "max: there is no NaN policy 'skip'"
    assert refusal(ElementTypeError, ex.argmax, d, dtype=np.float16).startswith("argmax: index type float16 is not an")
    assert refusal(ArgumentError, ex.argmax, d, out=np.zeros((), int)) == (
        "argmax: a result that is computed later is written to no array now"
    )
    assert refusal(ElementTypeError, ex.argmax, d, where=da.zeros((4, 6))) == (
        "argmax: where has element type float64, not bool"
    )
    assert refusal(ArgumentError, ex.argmax, d, where=np.ones((5, 6), bool)) == (
        "argmax: where has shape (5, 6), which does not broadcast to the shape (4, 6) of the array"
    )
    assert refusal(ElementTypeError, ex.max, d, default="no") == "max: default is 'no', which is no element of float32"
    assert refusal(ArgumentError, ed.max, d, split_every=1) == "max: split_every=1 merges nothing"
    assert refusal(ElementTypeError, ex.argmax, d.astype(complex)).startswith("argmax: cannot take elements of type")
    assert refusal(ArgumentTypeError, ed.argmax, np.zeros(3)) == "argmax: numpy.ndarray is no array of Dask's"
    assert refusal(ArgumentTypeError, ed.maximum, 1, 2) == "maximum: no operand is an array of Dask's"
    assert refusal(ArgumentError, ex.maximum, d, np.zeros(5)) == (
        "maximum: operands could not be broadcast together with shapes (4, 6) (5,)"
    )
    assert refusal(ArgumentError, ex.maximum, d, np.ma.array([1.0], mask=[True])).endswith("as if it were there")


def test_arrays_of_two_libraries_are_refused():
    strict = pytest.importorskip("array_api_strict")
    assert refusal(ArgumentTypeError, ex.maximum, strict.zeros(3), da.zeros(3, chunks=2)) == (
        "arrays of array_api_strict and of dask in one call"
    )


def test_what_elements_decide_is_refused_when_they_are_computed():
    d = chunked(X, (1, 2))
    lazy = ex.max(d, axis=0, nan_policy="raise")
    assert refusal(ArgumentError, computed, lazy) == "max: the slice at (1,) of the result holds NaN"
    lazy = ex.argmax(chunked(X.T, (2, 1)), axis=1, nan_policy="raise")
    assert refusal(ArgumentError, computed, lazy) == "argmax: the slice at (1,) of the result holds NaN"
    lazy = ex.argmax(d, axis=1, where=[[True], [False]])
    assert refusal(ArgumentError, computed, lazy) == (
        "argmax: the slice at (1,) of the result has no element to choose from: all are masked"
    )
    assert refusal(ArgumentError, computed, ex.maximum(d, d, nan_policy="raise")).endswith("of the result")
    lazy = ex.hardmax(chunked(np.stack([X[1], X[0]]), (1, 3)), nan_policy="raise")
    assert refusal(ArgumentError, computed, lazy) == "hardmax: the slice at (1, 0) of the result holds NaN"
