"""The libraries that can do some of this package's work, called as their users call them, and limited to N threads.

A peer is a function that takes a number of threads and returns a version and a prepare function. That function prepares
a case outside the clock and returns a call without arguments, or None if the library has no such function. It may also
raise. NumPy's recipes serve JAX and PyTorch, which have the same names: the last of equals is the first of the flipped
array, several axes move to the end and are flattened, Hardmax puts ones into zeros.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial, reduce
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from onnx import TensorProto
from onnx.parser import parse_model

import extremum
from benchmarks.matrix import Array, Case
from extremum.tensors import element_of

OURS = "extremum"


class Prepared(NamedTuple):
    """A prepared case: the call that is timed, and a function that turns its result into an array."""

    call: Callable[[], Any]
    read: Callable[[Any], Array] = np.asarray


Prepare = Callable[[Case, Sequence[Array]], Prepared | None]
Work = Callable[[Any, Any, int], Any]
_ELEMENTWISE = {"max": "maximum", "min": "minimum"}


class Contender(NamedTuple):
    """A library in the benchmark."""

    name: str
    version: str
    prepare: Prepare


def installed(threads: int, names: Iterable[str] = ()) -> list[Contender]:
    """Return this package and every installed peer, or those of ``names``, limited to ``threads`` threads."""
    result = []
    for name in names or _PEERS:
        with suppress(ImportError):
            result.append(Contender(name, *_PEERS[name](threads)))
    return result


def _extremum(threads: int) -> tuple[str, Prepare]:
    extremum.set_num_threads(threads)

    def prepare(case: Case, arrays: Sequence[Array]) -> Prepared:
        function = getattr(extremum, _ELEMENTWISE.get(case.operator, case.operator))
        if case.elementwise:
            return Prepared(partial(function, *arrays))
        if case.operator == "hardmax":
            return Prepared(partial(function, arrays[0], case.reduced))
        if case.operator == "top_k":
            return Prepared(partial(function, arrays[0], case.k, case.reduced[0]))
        # The arguments that differ from their defaults.
        options: dict[str, Any] = {} if case.axes is None else {"axis": case.axes if case.axes[1:] else case.axes[0]}
        return Prepared(partial(function, arrays[0], **options, **{"select_last_index": True} if case.last else {}))

    return extremum.__version__, prepare


def _work(library: Any, case: Case, operands: Sequence[Any], one_hot: Work, top_k: Work) -> Any:
    """Return the case's work in a library that has NumPy's names: a single call if it has the function."""
    if case.operator == "top_k":
        return partial(top_k, operands[0], case.k, case.reduced[0])
    pick = getattr(library, {**_ELEMENTWISE, "hardmax": "argmax"}.get(case.operator, case.operator))
    if case.elementwise:
        return partial(pick, *operands) if case.operands == 2 else partial(reduce, pick, operands)
    x = operands[0]
    single = len(case.reduced) == 1
    axis = case.reduced[0] if single else -1

    def rows() -> Any:
        if single:
            return x
        moved = library.moveaxis(x, case.reduced, tuple(range(-len(case.reduced), 0)))
        return moved.reshape(*case.kept_shape, -1)

    def last() -> Any:
        each = rows()
        return each.shape[axis] - 1 - pick(library.flip(each, (axis,)), axis=axis)

    if case.operator == "hardmax":
        return lambda: one_hot(rows(), pick(rows(), axis=axis, keepdims=True), axis).reshape(x.shape)
    if case.last:
        return last
    if case.axes is None:
        return partial(pick, x)
    return partial(pick, x, axis=axis) if single else lambda: pick(rows(), axis=-1)


def _numpy(threads: int) -> tuple[str, Prepare]:
    """Call NumPy, which always runs these functions on one thread."""

    def one_hot(rows: Array, index: Array, axis: int) -> Array:
        out = np.zeros_like(rows)
        np.put_along_axis(out, index, 1, axis=axis)
        return out

    def top_k(x: Array, k: int, axis: int) -> tuple[Array, Array]:
        part = np.take(np.argpartition(x, -k, axis), range(-k, 0), axis)
        values = np.take_along_axis(x, part, axis)
        order = np.flip(np.argsort(values, axis), axis)
        return np.take_along_axis(values, order, axis), np.take_along_axis(part, order, axis)

    return np.__version__, lambda case, arrays: Prepared(_work(np, case, arrays, one_hot, top_k))


def _method(threads: int) -> tuple[str, Prepare]:
    """Call the method a.argmax(), the shortest way into NumPy: for the calls on 8 elements only."""

    def prepare(case: Case, arrays: Sequence[Array]) -> Prepared | None:
        return Prepared(arrays[0].argmax) if case.kind == "call" and not case.last else None

    return np.__version__, prepare


def _jax(threads: int) -> tuple[str, Prepare]:
    """Call one compiled function for each case and wait for it; JAX's arrays have no strides, so views are left out."""
    # XLA sizes its pool by this and by the processors of the process, when it makes the first array.
    os.environ |= {"NPROC": str(threads), "JAX_PLATFORMS": "cpu"}
    if threads == 1:
        one = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {one}"
    jax: Any = import_module("jax")
    jax.config.update("jax_enable_x64", True)

    def one_hot(rows: Any, index: Any, axis: int) -> Any:
        return jax.nn.one_hot(index.squeeze(axis), rows.shape[axis], axis=axis, dtype=rows.dtype)

    def top_k(x: Any, k: int, axis: int) -> Any:
        return [jax.numpy.moveaxis(each, -1, axis) for each in jax.lax.top_k(jax.numpy.moveaxis(x, axis, -1), k)]

    def prepare(case: Case, arrays: Sequence[Array]) -> Prepared | None:
        if case.layout != "contiguous":
            return None
        operands = [jax.device_put(array) for array in arrays]
        traced = jax.jit(lambda *operands: _work(jax.numpy, case, operands, one_hot, top_k)())
        compiled = traced.lower(*operands).compile()
        return Prepared(lambda: jax.block_until_ready(compiled(*operands)))

    return jax.__version__, prepare


def _torch(threads: int) -> tuple[str, Prepare]:
    """Call PyTorch on tensors that share the arrays' memory; it refuses negative strides and wide unsigned types."""
    torch: Any = import_module("torch")
    torch.set_num_threads(threads)

    def tensor(array: Array) -> Any:
        if array.dtype.name == "bfloat16":
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array)

    def read(result: Any) -> Array:
        return np.asarray(result.float() if result.dtype == torch.bfloat16 else result)

    def one_hot(rows: Any, index: Any, axis: int) -> Any:
        return torch.zeros_like(rows).scatter_(axis, index, 1)

    return torch.__version__, lambda case, arrays: Prepared(
        _work(torch, case, [tensor(array) for array in arrays], one_hot, torch.topk), read
    )


def _onnxruntime(threads: int) -> tuple[str, Prepare]:
    """Run one session for each case, on the CPU provider."""
    module: Any = import_module("onnxruntime")
    options = module.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Fatal only: a case whose type has no kernel is left out, without a line on the terminal.
    options.log_severity_level = 4

    def prepare(case: Case, arrays: Sequence[Array]) -> Prepared:
        session = module.InferenceSession(_model(case), options, providers=["CPUExecutionProvider"])
        feeds = {f"x{i}": array for i, array in enumerate(arrays)}
        return Prepared(partial(session.run, None, feeds), lambda outputs: np.asarray(outputs[0]))

    return module.__version__, prepare


def _openvino(threads: int) -> tuple[str, Prepare]:
    """Run one compiled model for each case. 64-bit integers have 32 bits there; the numbers are small enough."""
    module: Any = import_module("openvino")
    core = module.Core()
    options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}

    def prepare(case: Case, arrays: Sequence[Array]) -> Prepared:
        compiled = core.compile_model(core.read_model(_model(case)), "CPU", options)

        def read(outputs: Any) -> Array:
            result = np.asarray(outputs[0])
            dtype = arrays[0].dtype
            # bfloat16 bits come back labelled float16.
            return result.view(dtype) if dtype.name == "bfloat16" and result.dtype == np.float16 else result

        return Prepared(partial(compiled, list(arrays)), read)

    return module.__version__.split("-")[0], prepare


def parsed(graph: str, opset: int) -> bytes:
    """Return the model of a graph in ONNX's text form."""
    return bytes(parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {graph}').SerializeToString())


def _model(case: Case) -> bytes:
    """Return a case as an ONNX model from x0, x1 ... to y, for TopK also i; ArgMax flattens several axes."""
    element = TensorProto.DataType.Name(element_of(case.element_type).onnx_number).lower()
    names = [f"x{number}" for number in range(case.operands)]
    before = ""
    axis = case.reduced[0]
    inputs = ", ".join(f"{element}{[*shape]} {name}" for shape, name in zip(case.operand_shapes, names, strict=True))
    outputs = f"{element}{[*case.shape]} y"
    results = "y"
    options = "" if case.elementwise else f"<axis={axis}>"
    operator = {"argmax": "ArgMax", "argmin": "ArgMin", "top_k": "TopK"}.get(case.operator, case.operator.capitalize())
    if operator == "TopK":
        shape = [*case.shape[:axis], case.k, *case.shape[axis + 1 :]]
        outputs = f"{element}{shape} y, int64{shape} i"
        results = "y, i"
        names = ["x0", "k"]
        before = f"k = Constant<value_ints={[case.k]}>()"
    elif operator.startswith("Arg"):
        outputs = f"int64{[*case.kept_shape]} y"
        if len(case.reduced) > 1:
            axis = len(case.kept)
            names = ["flat"]
            before = f"moved = Transpose<perm={[*case.kept, *case.reduced]}>(x0) "
            before += f"rows = Constant<value_ints={[*case.kept_shape, -1]}>() flat = Reshape(moved, rows)"
        options = f"<axis={axis}, keepdims=0, select_last_index={int(case.last)}>"
    work = f"{before} {results} = {operator}{options}({', '.join(names)})"
    return parsed(f"({inputs}) => ({outputs}) {{ {work} }}", case.opset)


def _one_axis(library: str, prefix: str, threads: int) -> tuple[str, Prepare]:
    """Call an argmax, or a method of a Series, for one axis or all axes and the first of equals, on one thread."""
    # polars reads the size of its pool at import.
    os.environ["POLARS_MAX_THREADS"] = str(threads)
    module: Any = import_module(library)

    def prepare(case: Case, arrays: Sequence[Array]) -> Prepared | None:
        if not case.operator.startswith("arg") or case.last or len(case.axes or ()) > 1:
            return None
        if library == "polars":
            return (
                Prepared(getattr(module.Series(arrays[0]), prefix + case.operator[3:])) if arrays[0].ndim == 1 else None
            )
        # bottleneck has compiled code for these only.
        if library == "bottleneck" and case.element_type not in ("float32", "float64", "int32", "int64"):
            return None
        pick = getattr(module, prefix + case.operator)
        return Prepared(partial(pick, arrays[0], **{} if case.axes is None else {"axis": case.axes[0]}))

    return module.__version__, prepare


_PEERS: dict[str, Callable[[int], tuple[str, Prepare]]] = {
    OURS: _extremum,
    "numpy": _numpy,
    "method": _method,
    "onnxruntime": _onnxruntime,
    "jax": _jax,
    "openvino": _openvino,
    "bottleneck": partial(_one_axis, "bottleneck", "nan"),
    "polars": partial(_one_axis, "polars", "arg_"),
    "numkong": partial(_one_axis, "numkong", ""),
    "torch": _torch,
}
