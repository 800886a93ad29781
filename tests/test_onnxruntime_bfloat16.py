"""bfloat16 arrays into sessions and out of them, bit by bit."""

import ml_dtypes
import numpy as np
import onnxruntime
import pytest

from extremum import backend
from extremum.onnxruntime import InferenceSession
from models import model

BITS = np.array([[0x3F80, 0x7FC1, 0x8000], [0xFF81, 0x0001, 0x7F80]], np.uint16)
X = BITS.view(ml_dtypes.bfloat16)
BODY = "(bfloat16[n, k] x) => (bfloat16[n, k] y) { y = Identity (x) }"


def session(body):
    return InferenceSession(model(body).SerializeToString())


@pytest.mark.parametrize("x", [X, X.T, X[:, ::2], X[::-1], X[:0], X[:1, 1:2]], ids=str)
def test_every_bit_goes_in_and_comes_out(x):
    (y,) = session(BODY).run(None, {"x": x})
    assert y.dtype == ml_dtypes.bfloat16
    assert y.shape == x.shape
    assert y.view(np.uint16).tolist() == np.ascontiguousarray(x).view(np.uint16).tolist()


def test_stock_onnxruntime_refuses_them():
    stock = onnxruntime.InferenceSession(model(BODY).SerializeToString(), providers=["CPUExecutionProvider"])
    with pytest.raises(Exception, match="Numpy_type 256 can't be converted"):
        stock.run(None, {"x": X})


def test_a_tensor_of_rank_0():
    (y,) = session("(bfloat16 x) => (bfloat16 y) { y = Identity (x) }").run(None, {"x": X[0, 1:2].reshape(())})
    assert (y.shape, y.view(np.uint16).tolist()) == ((), 0x7FC1)


def test_outputs_hold_their_own_memory():
    each = session(BODY)
    (first,) = each.run(None, {"x": X})
    each.run(None, {"x": np.zeros((2, 3), ml_dtypes.bfloat16)})
    assert first.view(np.uint16).tolist() == BITS.tolist()


def test_input_alone_and_output_alone():
    (index,) = session("(bfloat16[n, k] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }").run(["y"], {"x": X})
    assert index.tolist() == [[1], [0]]
    body = "(float[n, k] x) => (bfloat16[n, k] y) { z = Cast <to=16> (x) y = Hardmax (z) }"
    (hot,) = session(body).run([], {"x": np.array([[1, 3, 2]], np.float32)})
    assert hot.tolist() == [[0, 1, 0]]


MIXED = """(bfloat16[n, k] x, float[k] f) => (string[k] t, bfloat16[n, k] y, float[k] g, int64[n, 1] i) {
    t = Cast <to=8> (f) y = Max (x, x) g = Neg (f) i = ArgMax <axis=1> (x)
}"""


def test_beside_other_types_in_the_sequence_that_is_asked_for():
    each = session(MIXED)
    feed = {"x": X, "f": np.arange(6, dtype=np.float32)[::2]}
    t, y, g, i = each.run(None, feed)
    assert (t.tolist(), g.tolist(), i.tolist()) == (["0", "2", "4"], [-0.0, -2, -4], [[1], [0]])
    assert y.dtype == ml_dtypes.bfloat16
    again, twice, i = each.run(["y", "y", "i"], feed)
    assert again.dtype == twice.dtype == ml_dtypes.bfloat16
    assert i.tolist() == [[1], [0]]
    assert each.run(["g"], feed)[0].tolist() == [-0.0, -2, -4]


def test_beside_text_as_an_input():
    body = (
        "(bfloat16[n, k] x, string[n] s) => (string[n] t, int64[n, 1] i) { t = Identity (s) i = ArgMax <axis=1> (x) }"
    )
    t, i = session(body).run(None, {"x": X, "s": np.array(["a", "żółw"], object)})
    assert (t.tolist(), i.tolist()) == (["a", "żółw"], [[1], [0]])


def test_an_ort_value_is_taken_as_before():
    value = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(BITS, 16)
    (y,) = session(BODY).run(None, {"x": value})
    assert y.view(np.uint16).tolist() == BITS.tolist()


def test_other_sessions_keep_the_method_of_onnxruntime():
    each = session("(float[n] x) => (float[n] y) { y = Max (x, x) }")
    assert each.run.__func__ is onnxruntime.InferenceSession.run
    assert isinstance(session(BODY), InferenceSession)
    assert repr(session(BODY)).startswith("<InferenceSession x: tensor(bfloat16) ")


def test_options_of_a_run_hold():
    options = onnxruntime.RunOptions()
    options.terminate = True
    with pytest.raises(Exception, match="terminate"):
        session(BODY).run(None, {"x": X}, options)


def test_an_array_of_another_type_is_refused():
    with pytest.raises(Exception, match=r"tensor\(bfloat16\)"):
        session(BODY).run(None, {"x": BITS})


@pytest.mark.parametrize("body", [BODY, BODY.replace("Identity", "Max")])
def test_the_backend_runs_it_in_onnxruntime(body):
    (y,) = backend.prepare(model(body), engine="onnxruntime").run([X])
    assert y.view(np.uint16).tolist() == BITS.tolist()
