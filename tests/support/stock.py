"""Models of one node, the values at which a rewrite could go wrong, and stock onnxruntime to run them."""

import functools

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from packaging.version import Version

from extremum import backend
from extremum.fix.verify import same_bits
from extremum.tensors import element_of

ORT = f"onnxruntime {onnxruntime.__version__}"
# Versions before 1.32 do, though not along the rows of a matrix.
FINDS_NAN_ALONG_A_VECTOR = Version(onnxruntime.__version__) < Version("1.32")


def one_node(name, element, opset, attributes="", inputs=None):
    """A model of one node on matrices; it takes and gives bfloat16 as float, since NumPy has no bfloat16."""
    names = [f"x{index}" for index in range(inputs or (2 if name in ("Max", "Min") else 1))]
    inside = onnx.TensorProto.DataType.Name(element_of(element).onnx_number).lower()
    outside = "float" if element == "bfloat16" else inside
    # From opset 8 on Max and Min broadcast.
    sizes = "m{0}, n{0}" if opset >= 8 else "m, n"
    header = ", ".join(f"{outside}[{sizes.format(index)}] {each}" for index, each in enumerate(names))
    result = "int64" if name.startswith("Arg") else outside
    body = f"y = {name} {attributes} ({', '.join(names)})"
    if inside != outside:
        casts = " ".join(f"{each}n = Cast <to={onnx.TensorProto.BFLOAT16}> ({each})" for each in names)
        to = onnx.TensorProto.INT64 if result == "int64" else onnx.TensorProto.FLOAT
        body = f"{casts} r = {name} {attributes} ({'n, '.join(names)}n) y = Cast <to={to}> (r)"
    version = 3 if opset < 9 else 9
    return onnx.parser.parse_model(
        f'<ir_version: {version}, opset_import: ["" : {opset}]> g ({header}) => ({result}[p, q] y) {{ {body} }}'
    )


@functools.lru_cache(maxsize=1)
def _session(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


@functools.lru_cache(maxsize=1)
def _prepared(model):
    return backend.prepare(model)


def in_stock(fixed, feeds):
    return _session(fixed.SerializeToString()).run(None, feeds)


def in_backend(given, feeds):
    return _prepared(given.SerializeToString()).run(feeds)


def stock_refuses(given):
    try:
        in_stock(given, {})
    except Exception as error:
        return "NOT_IMPLEMENTED" in str(error) or "INVALID_GRAPH" in str(error)
    return False


def edges(element):
    """Values at which a rewrite could go wrong."""
    if element.startswith(("int", "uint")):
        limits = np.iinfo(element)
        values = {limits.min, limits.min + 1, limits.max // 2, limits.max // 2 + 1, limits.max - 1, limits.max, 0, 1}
        return np.array(sorted(values), element)
    limits = ml_dtypes.finfo(element_of(element).dtype)
    values = [-np.inf, limits.min, -1, -limits.smallest_subnormal, -0.0, 0.0, limits.smallest_subnormal, 1, limits.max]
    values = np.array([float(value) for value in [*values, np.inf, np.nan]]).astype(limits.dtype)
    return values.astype(np.float32) if element == "bfloat16" else values


def assert_same(given, fixed, feeds):
    expected = in_backend(given, feeds)
    answer = in_stock(fixed, feeds)
    assert same_bits(answer, expected), (answer, expected)


def assert_same_for_seeds(given, fixed, element, seeds, sizes=(4, 6)):
    """Fail where the fixed model gives other bits than the given one, for feeds of some seeds."""
    for seed in range(seeds):
        assert_same(given, fixed.model, feeds_of(given, element, seed, sizes))


def feeds_of(given, element, seed, sizes=(4, 6)):
    random = np.random.default_rng(seed)
    values = edges(element)
    return {each.name: values[random.integers(len(values), size=sizes)] for each in given.graph.input}


class ByLowerHalves:
    """Behaves as onnxruntime 1.21 to 1.31 does on x86-64, on any machine: it compares int64 by the lower 32 bits."""

    name = "onnxruntime"
    version = onnxruntime.__version__

    def load(self, proto):
        node = proto.graph.node[-1]

        def run(feeds):
            arrays = np.broadcast_arrays(*feeds.values())
            if node.op_type not in ("Max", "Min", "ReduceMax", "ReduceMin") or arrays[0].dtype != np.int64:
                return backend.run_model(proto, dict(feeds))
            best = np.argmax if node.op_type.endswith("Max") else np.argmin
            x, axis = (arrays[0], 1) if node.op_type.startswith("Reduce") else (np.stack(arrays), 0)
            result = np.take_along_axis(x, best(x.astype(np.int32), axis, keepdims=True), axis)
            return [result if axis else result[0]]

        return run
