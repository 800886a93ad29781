"""Models over the chunks of a Dask array: the outputs of the whole, sessions with a share of processors, refusals."""

import dask
import dask.array as da
import numpy as np
import onnx
import pytest

import extremum.dask as ed
import extremum.dask.models as models
from agreement import assert_identical
from extremum import backend
from extremum.errors import ArgumentError, ArgumentTypeError, AxisError, InputError, ModelError
from models import model
from refusal import refusal

# Neg is not an operator of this package: onnxruntime runs it.
MIXED = "(float[n, 4] x) => (int64[n, 1] y) { z = Neg(x) y = ArgMax<axis=1>(z) }"
X = np.random.default_rng(1).random((23, 4)).astype(np.float32)


@pytest.fixture
def prepared(monkeypatch):
    """The number of threads with which each session is prepared."""
    models._session.cache_clear()
    seen = []
    prepare = backend.prepare
    monkeypatch.setattr(
        backend, "prepare", lambda model, threads: seen.append(threads) or prepare(model, threads=threads)
    )
    return seen


def threads(prepared):
    """The number of threads that is set for a session; 0 where onnxruntime decides."""
    return prepared._executor._session.get_session_options().intra_op_num_threads


def chunked(x=X, size=5):
    return da.from_array(x, chunks=(size, *x.shape[1:]))


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_the_outputs_are_those_of_the_whole(scheduler):
    lazy = ed.run(model(MIXED), chunked())
    (result,) = dask.compute(lazy, scheduler=scheduler, num_workers=2)
    assert (lazy.dtype, lazy.shape, lazy.chunks) == (result.dtype, result.shape, ((5, 5, 5, 5, 3), (1,)))
    assert_identical(result, np.argmin(X, 1, keepdims=True))


def test_a_session_in_a_task_computes_with_one_thread(prepared):
    lazy = ed.run(model(MIXED), chunked())
    lazy.compute(scheduler="synchronous")
    assert prepared == [None, None]
    for _ in range(2):
        lazy.compute(scheduler="threads", num_workers=2)
        assert prepared == [None, None, 1]


def in_a_process_of_its_own(block):
    """The number of threads of a session in the process that computes this chunk."""
    return np.full((len(block), 1), models.most())


def test_a_session_in_a_process_of_the_scheduler_computes_with_one_thread():
    assert threads(backend.prepare(model(MIXED), threads=1)) == 1
    lazy = chunked().map_blocks(in_a_process_of_its_own, dtype=int, chunks=(5, 1))
    (result,) = dask.compute(lazy, scheduler="processes", num_workers=2)
    assert set(result.ravel()) == {1}


def test_several_outputs_and_a_batch_along_another_axis():
    both = model("(float[3, n] x) => (int64[1, n] y, float[n, 3] z) { y = ArgMax<axis=0>(x) z = Transpose(x) }")
    x = np.ascontiguousarray(X.T[:3])
    y, z = ed.run(both, da.from_array(x, chunks=(3, 7)), axis=-1)
    assert (y.chunks, z.chunks) == (((1,), (7, 7, 7, 2)), ((7, 7, 7, 2), (3,)))
    assert_identical(y.compute(), np.argmax(x, 0, keepdims=True))
    assert_identical(z.compute(), x.T)
    alone = ed.run(both, da.from_array(x, chunks=(3, 7)), axis=1, output="z")
    assert_identical(alone.compute(), x.T)
    assert refusal(ArgumentError, ed.run, both, da.from_array(x, chunks=(3, 7)), 1, output="w") == (
        "run: the model has no output 'w'"
    )


def test_a_model_with_a_batch_of_its_own():
    fixed = model("(float[5, 4] x) => (int64[5, 1] y) { y = ArgMax<axis=1>(x) }")
    assert_identical(ed.run(fixed, chunked(X[:20])).compute(), np.argmax(X[:20], 1, keepdims=True))
    assert refusal(ArgumentError, ed.run, fixed, chunked()) == (
        "run: the model takes 5 entries at a time, and the chunks along axis 0 have others"
    )


def test_a_batch_in_chunks_of_unknown_size():
    x = chunked()
    taken = X[:, 0] > 0
    result = ed.run(model(MIXED), x[x[:, 0] > 0], output="y")
    assert_identical(result.compute(), ed.run(model(MIXED), chunked(X[taken]), output="y").compute())
    fixed = model("(float[5, 4] x) => (int64[5, 1] y) { y = ArgMax<axis=1>(x) }")
    refusal(InputError, ed.run(fixed, x[x[:, 0] > 0]).compute)


def test_what_is_refused_at_once(tmp_path):
    mixed = model(MIXED)
    assert refusal(AxisError, ed.run, mixed, chunked(), 2) == (
        "run: axis 2 is out of range for an array with 2 dimensions"
    )
    assert refusal(ArgumentTypeError, ed.run, mixed, chunked(), chunked()) == (
        "run: a second array, dask.array.core.Array, stands in the place of axis"
    )
    for axis, text in (
        ("n", "axis 'n' is not an integer"),
        ((0,), "axis (0,) is not one axis"),
        (True, "axis True is"),
    ):
        assert refusal(ArgumentTypeError, ed.run, mixed, chunked(), axis).startswith(f"run: {text}")
    assert refusal(ArgumentTypeError, ed.run, 3, chunked()) == "the model is builtins.int"
    assert refusal(ArgumentError, ed.run, mixed, da.from_array(X, chunks=(5, 2))) == (
        "run: axis 1 is cut into 2 chunks, and a model takes whole entries"
    )
    assert refusal(ArgumentTypeError, ed.run, mixed, X) == "run: numpy.ndarray is not a Dask array"
    unknown = chunked()[:, chunked()[0] > 0]
    assert refusal(ArgumentError, ed.run, mixed, unknown) == "run: the sizes of the chunks along axis 1 are not known"
    two = model("(float[n] x, float[n] w) => (y) { y = Max(x, w) }")
    assert refusal(ModelError, ed.run, two, chunked(X[:, 0])) == "run: the model has 2 inputs"
    whole = model("(float[n, 4] x) => (int64[1, 4] y) { y = ArgMax<axis=0>(x) }")
    assert (
        refusal(ArgumentError, ed.run, whole, chunked()) == "run: output 'y' has no axis for the entries of the batch"
    )
    refusal(InputError, ed.run, mixed, chunked(X.astype(np.int8)))
    (tmp_path / "no.onnx").write_bytes(b"\xff no model")
    refusal(ModelError, ed.run, tmp_path / "no.onnx", chunked())


class TooLarge:
    """A model that protobuf cannot write into a message."""

    def SerializeToString(self):  # noqa: N802 - the name is protobuf's
        raise ValueError("more than 2 GB")


def test_a_model_above_two_gigabytes_stays_in_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(backend.PreparedModel, "model", TooLarge())
    assert refusal(ModelError, ed.run, model(MIXED), chunked()) == "run: the model has more than 2 GB"
    monkeypatch.chdir(tmp_path)
    onnx.save(model(MIXED), "m.onnx")
    lazy = ed.run("m.onnx", chunked())
    monkeypatch.chdir("/")
    assert_identical(lazy.compute(scheduler="threads"), np.argmin(X, 1, keepdims=True))
