"""Runs of a prepared model one after the other: what is checked again."""

from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest

from extremum import backend
from extremum.errors import AxisError, ElementTypeError, InputError
from models import model

X = np.array([[1, 5, 5], [7, 7, 2]], np.float32)
REDUCE_MAX = "(float[n, k] x, int64[r] axes) => (y) { y = ReduceMax <keepdims=0> (x, axes) }"


def test_other_shapes_and_types_are_checked_again():
    prepared = backend.prepare(model("(x) => (y) { y = ArgMax <axis=1> (x) }"))
    wide = np.array([[0, 1, 2, 9]], np.int8)
    for _ in range(2):
        for x in (X, X[:1], wide, X.astype(ml_dtypes.bfloat16), X.astype(">f4"), X.T, X[None], np.asfortranarray(X)):
            assert prepared.run([x]).y.tolist() == np.argmax(x.astype(float), 1)[:, None].tolist()
        with pytest.raises(AxisError, match="has axis=1, but its input has rank 1"):
            prepared.run([X[0]])
        with pytest.raises(ElementTypeError, match="ArgMax-13 does not take bool"):
            prepared.run([X > 0])


def test_axes_that_come_with_a_run_are_read_each_time():
    prepared = backend.prepare(model(REDUCE_MAX, opset=18))
    for _ in range(2):
        assert prepared.run([X, np.array([0])]).y.tolist() == [7, 7, 5]
        assert prepared.run([X, np.array([1])]).y.tolist() == [5, 7]
        assert prepared.run([X, np.array([0, 1])]).y.tolist() == 7
        with pytest.raises(AxisError, match="has 2 among its axes, but its input has rank 2"):
            prepared.run([X, np.array([2])])


def test_attributes_that_come_with_the_call_of_a_function_are_read_each_time():
    body = "(float[n, k] x) => (a, b) { a = own.best <axis=0> (x) b = own.best <axis=1> (x) }"
    functions = '<domain: "own", opset_import: ["" : 13]> best <axis> (x) => (y) { y = ArgMax <axis: int = @axis> (x) }'
    prepared = backend.prepare(model(body, functions=functions))
    for _ in range(2):
        assert [y.tolist() for y in prepared.run([X])] == [[[1, 1, 0]], [[1], [0]]]


def test_a_size_that_contradicts_another_is_refused_after_a_run_too():
    prepared = backend.prepare(model("(float[n] a, float[n] b) => (y) { y = Max(a, b) }"))
    a = np.ones(3, np.float32)
    for _ in range(2):
        assert prepared.run([a, a]).y.tolist() == [1, 1, 1]
        with pytest.raises(InputError, match="dimension 'n' is 3 in 'a' but 2 in 'b'"):
            prepared.run([a, a[:2]])


def test_what_is_no_array_is_checked_each_time():
    prepared = backend.prepare(model("(float[n] x) => (y) { y = ArgMax(x) }"))
    for _ in range(2):
        assert prepared.run([np.float32([1, 3])]).y.tolist() == [1]
        with pytest.raises(ElementTypeError):
            prepared.run([["a", "b"]])


def test_threads_that_run_one_model_with_inputs_of_several_shapes():
    prepared = backend.prepare(model("(float[n, k] x) => (y) { y = ArgMax <axis=1, keepdims=0> (x) }"))
    arrays = [np.eye(size, 9 - size, dtype=np.float32) for size in range(1, 9)] * 50
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda x: prepared.run([x]).y.tolist(), arrays))
    assert found == [np.argmax(x, 1).tolist() for x in arrays]
