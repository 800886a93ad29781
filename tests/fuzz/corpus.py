"""What mutation starts from: models and arrays of this repository, and models that have every kind of part."""

import functools
import io
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).parents[2]
FOLDERS = ("tests/data/sklearn", "examples/digits")

TEXTS = (
    """<ir_version: 8, opset_import: ["" : 13]> g (float[n, 3] x) => (int64[n] y)
    { y = ArgMax<axis = 1, keepdims = 0>(x) }""",
    '<ir_version: 8, opset_import: ["" : 11]> g (uint8[2, 3] x) => (int64[1, 3] y) { y = ArgMin<axis = -2>(x) }',
    '<ir_version: 8, opset_import: ["" : 11]> g (double[2, 3, 4] x) => (double[2, 3, 4] y) { y = Hardmax(x) }',
    '<ir_version: 8, opset_import: ["" : 13]> g (bfloat16[N, M] x) => (int64[N, 1] y) { y = ArgMax<axis = 1>(x) }',
    """<ir_version: 3, opset_import: ["" : 6]> g (float16[2, 3] a, float16[2, 3] b) => (float16[2, 3] y)
    { y = Max(a, b) }""",
    """<ir_version: 9, opset_import: ["" : 13, "own" : 1]> g (float[n, m] x, float[m] w) => (int64[k] y, float[n, m] z)
    { z = own.Top(x, w) y = ArgMax<axis = 1, keepdims = 0, select_last_index = 1>(z) }
    <domain: "own", opset_import: ["" : 13]> Top (x, w) => (z) { s = Max(x, w, x) z = Hardmax<axis = 0>(s) }""",
    """<ir_version: 9, opset_import: ["" : 13]> g (bool c, float[2, 3] x) => (int64[2] y) {
    y = If (c) < then_branch = t () => (int64[2] a) { a = ArgMax<axis = 1, keepdims = 0>(x) },
    else_branch = e () => (int64[2] b) { b = ArgMin<axis = 1, keepdims = 0>(x) } > }""",
    """<ir_version: 9, opset_import: ["" : 13]> g (float[4, 3] x) => (float[4, 3] y, int64[4] i)
    <float[1] zero = {0.0}, int64[2] shape = {4, 3}>
    { r = Relu(x) m = Max(r, zero) s = Reshape(m, shape) y = Hardmax(s) i = ArgMax<axis = 1, keepdims = 0>(y) }""",
    """<ir_version: 9, opset_import: ["" : 13, "ai.onnx.ml" : 1]> g (string[n, 1] x) => (int64[n] y)
    { k = ai.onnx.ml.LabelEncoder<classes_strings = ["a", "b"]>(x) y = ArgMax<axis = 1, keepdims = 0>(k) }""",
    """<ir_version: 9, opset_import: ["" : 13], producer_name: "one", doc_string: "two", model_version: 3>
    g (int32[a, b, c] x) => (int32[a, b, c] y) { y = Min(x, x, x, x) }""",
    """<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (float[3] last, int64[2, 1] places)
    <int64 trips = {2}> { last, places = Loop(trips, "", x) < body = b (int64 i, bool go, float[3] s)
      => (bool more, float[3] t, int64[1] at) { more = Identity(go) t = Max(s, s) at = ArgMax(t) } > }""",
    """<ir_version: 8, opset_import: ["" : 13]> g (uint16[n, 4] x, int64[1] m) => (uint16[n, k] v, int64[n, 2] j)
    <int64[1] k = {2}> { v, i = TopK<axis = 1>(x, m) w, j = TopK<largest = 0, sorted = 1>(x, k) }""",
)
NUMPY_TYPES = ("float32", "uint8", "int8", "uint16", "int16", "int32", "int64", "float16", "float64", "uint64", "bool")


@functools.cache
def models():
    """Serialised models."""
    files = [path.read_bytes() for folder in FOLDERS for path in sorted(ROOT.glob(f"{folder}/*.onnx"))]
    written = [onnx.parser.parse_model(text) for text in TEXTS]
    return [*files, *(model.SerializeToString() for model in [*written, _constants(), _sparse(), _external()])]


def _constants():
    """A constant and an initializer of every element type, raw and not."""
    nodes = []
    initializers = []
    for kind in NUMPY_TYPES:
        array = np.arange(6).reshape(2, 3).astype(kind)
        raw = numpy_helper.from_array(array, f"raw_{kind}")
        typed = helper.make_tensor(f"typed_{kind}", raw.data_type, array.shape, array.ravel().tolist())
        initializers.append(raw)
        nodes.append(helper.make_node("Constant", [], [f"c_{kind}"], value=typed))
        nodes.append(helper.make_node("ArgMax", [f"c_{kind}"], [f"i_{kind}"], axis=1))
    nodes.append(helper.make_node("Max", ["x", "raw_float32", "c_float32"], ["y"], name="m"))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph(nodes, "constants", [x], [y], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def _sparse():
    model = onnx.parser.parse_model(TEXTS[7])
    values = helper.make_tensor("s", TensorProto.FLOAT, [2], [1.0, 2.0])
    indices = helper.make_tensor("s_indices", TensorProto.INT64, [2], [0, 5])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4, 3]))
    return model


def _external():
    model = onnx.parser.parse_model(TEXTS[7])
    tensor = model.graph.initializer[0]
    tensor.ClearField("float_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in {"location": "weights.bin", "offset": "0", "length": "4"}.items():
        tensor.external_data.add(key=key, value=value)
    return model


@functools.cache
def tensors():
    """Serialised TensorProtos."""
    return [
        tensor.SerializeToString()
        for model in map(onnx.ModelProto.FromString, models())
        for tensor in model.graph.initializer
    ]


@functools.cache
def arrays():
    """Files of arrays: their ending and their bytes."""
    kinds = ("float32", ">i2", "bool", "float16", "uint64", "complex64", "S3", "U2", "M8[s]", "V2")
    given = [np.arange(6).reshape(2, 3).astype(kind) for kind in kinds[:6]]
    given += [np.zeros((2, 3), kind) for kind in kinds[6:]]
    given += [np.zeros((), "float32"), np.zeros((0, 3), "int8"), np.asfortranarray(given[0])]
    given += [np.zeros(2, [("a", "i4"), ("b", "f4", 2)])]
    files = [(".npy", _saved(np.save, array)) for array in given]
    files += [(".npz", _saved(np.savez, a=given[0], b=given[1])), (".npz", _saved(np.savez_compressed, x=given[3]))]
    files += [(".npz", path.read_bytes()) for folder in FOLDERS for path in sorted(ROOT.glob(f"{folder}/*.npz"))]
    return files + [(".pb", tensor) for tensor in tensors() if len(tensor) < 4096]


def _saved(save, *arrays, **named):
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()
