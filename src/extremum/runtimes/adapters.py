"""The adapters of this package: for each runtime a function that imports it and returns :class:`Runtime` objects."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx

from extremum.errors import DependencyError
from extremum.runtimes.runtime import Feeds, Load, Run, Runtime
from extremum.tensors import element_of


class Adapter(NamedTuple):
    """A runtime, given as the function that loads a model."""

    name: str
    version: str
    load: Load


def through_float32(load: Load) -> Load:
    """Cast within the model, so that a runtime that takes no bfloat16 from Python has float32 inputs and outputs.

    The casts are exact in both directions, except for the payload of NaN.
    """
    bfloat16 = element_of("bfloat16").dtype
    narrow = onnx.TensorProto.BFLOAT16
    single = onnx.TensorProto.FLOAT

    def load_wide(model: onnx.ModelProto) -> Run:
        wide = onnx.ModelProto()
        wide.CopyFrom(model)
        graph = wide.graph
        weights = {each.name for each in graph.initializer}
        inputs = [x for x in graph.input if x.name not in weights and x.type.tensor_type.elem_type == narrow]
        outputs = {at: x for at, x in enumerate(graph.output) if x.type.tensor_type.elem_type == narrow}
        if not inputs and not outputs:
            return load(model)
        # No name of the model ends in this mark.
        mark = "/float32"
        content = model.SerializeToString()
        while mark.encode() in content:
            mark += "/"
        names = [each.name for each in inputs]
        before = [onnx.helper.make_node("Cast", [name + mark], [name], to=narrow) for name in names]
        after = [
            onnx.helper.make_node("Cast", [x.name], [x.name + mark], to=single) for x in outputs.values()
        ]
        for value in (*inputs, *outputs.values()):
            value.name += mark
            value.type.tensor_type.elem_type = single
        nodes = [*before, *graph.node, *after]
        del graph.node[:]
        graph.node.extend(nodes)
        run = load(wide)

        def run_wide(feeds: Feeds) -> Sequence[Any]:
            arrays = dict(feeds)
            arrays.update((name + mark, arrays.pop(name).astype(np.float32)) for name in names)
            return [
                np.asarray(x).astype(bfloat16) if at in outputs else x for at, x in enumerate(run(arrays))
            ]

        return run_wide

    return load_wide


def _extremum() -> list[Runtime]:
    """Return the backend, and onnxruntime with this package's operators if it is installed."""
    from extremum import __version__, backend

    result: list[Runtime] = [Adapter("extremum", __version__, lambda model: backend.prepare(model).run)]
    with suppress(ImportError, DependencyError):
        from extremum.onnxruntime import InferenceSession

        result.append(_session("extremum:onnxruntime", "CPUExecutionProvider", InferenceSession))
    return result


def _session(name: str, provider: str, session: Any) -> Runtime:
    """Return one execution provider of onnxruntime, by a class of sessions."""
    import onnxruntime

    from extremum.onnxruntime.library import session_options

    @through_float32
    def load(model: onnx.ModelProto) -> Run:
        instance = session(model.SerializeToString(), session_options(), providers=[provider])
        return lambda feeds: list(instance.run(None, dict(feeds)))

    return Adapter(name, onnxruntime.__version__, load)


def _onnxruntime() -> list[Runtime]:
    """Return stock onnxruntime, once for each execution provider that runs models here."""
    import onnxruntime

    names = {
        each: each.removesuffix("ExecutionProvider").lower() for each in onnxruntime.get_available_providers()
    }
    return [
        _session(
            "onnxruntime" if name == "cpu" else f"onnxruntime:{name}", provider, onnxruntime.InferenceSession
        )
        for provider, name in names.items()
        if name != "azure"  # it runs models elsewhere
    ]


def _reference() -> list[Runtime]:
    """Return onnx's reference evaluator, without any operator of this package."""
    from onnx.reference import ReferenceEvaluator

    def load(model: onnx.ModelProto) -> Run:
        run = ReferenceEvaluator(model).run
        # It returns a dict only if intermediate results are requested.
        return lambda feeds: list(run(None, dict(feeds)))

    return [Adapter("onnx.reference", onnx.__version__, load)]


def _openvino() -> list[Runtime]:
    import openvino

    core = openvino.Core()
    # Otherwise it computes in bfloat16 where the processor has instructions for it.
    exact = {"INFERENCE_PRECISION_HINT": "f32"}

    @through_float32
    def load(model: onnx.ModelProto) -> Run:
        network = core.compile_model(core.read_model(model.SerializeToString(), b""), "CPU", exact)
        return lambda feeds: list(network(dict(feeds)).to_tuple())

    return [Adapter("openvino", openvino.__version__.partition("-")[0], load)]


def _tract() -> list[Runtime]:
    import tract

    @through_float32
    def load(model: onnx.ModelProto) -> Run:
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(model, path := Path(folder, "model.onnx"))
            runnable = tract.onnx().load(path).into_model().into_runnable()
        names = [value.name for value in model.graph.input]
        return lambda feeds: [
            y.to_numpy() for y in runnable.run([np.asarray(feeds[x], order="C") for x in names])
        ]

    return [Adapter("tract", version("tract"), load)]


def _tinygrad() -> list[Runtime]:
    """Return tinygrad, by default on the processor where clang is installed, and otherwise on its Python device.

    The Python device needs no compiler, but it interprets each operation: it sorts a row of 1,000 elements in minutes.
    """
    has_compiler = shutil.which(os.environ.get("CC", "clang")) is not None
    # tinygrad reads the environment when it is imported.
    os.environ.setdefault("DEV", "CPU" if has_compiler else "PYTHON")
    from tinygrad import Tensor
    from tinygrad.nn.onnx import OnnxRunner

    @through_float32
    def load(model: onnx.ModelProto) -> Run:
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(model, path := Path(folder, "model.onnx"))
            runner = OnnxRunner(path)
        return lambda feeds: [
            x.numpy() for x in runner({name: Tensor(x) for name, x in feeds.items()}).values()
        ]

    return [Adapter("tinygrad", version("tinygrad"), load)]


def _jaxonnxruntime() -> list[Runtime]:
    """Return jaxonnxruntime on JAX's default device, with 64-bit types."""
    import jax
    from jaxonnxruntime.backend import Backend

    jax.config.update("jax_enable_x64", True)

    def load(model: onnx.ModelProto) -> Run:
        rep = Backend.prepare(model)
        names = [value.name for value in model.graph.input]
        return lambda feeds: [np.asarray(x) for x in rep.run([feeds[name] for name in names])]

    return [Adapter("jaxonnxruntime", version("jaxonnxruntime"), load)]


def _onnx2torch() -> list[Runtime]:
    import onnx2torch
    import torch

    @through_float32
    def load(model: onnx.ModelProto) -> Run:
        module = onnx2torch.convert(model)
        names = [value.name for value in model.graph.input]

        def run(feeds: Feeds) -> list[Any]:
            with torch.no_grad():
                # PyTorch takes no array that it cannot write to.
                answer = module(*(torch.from_numpy(feeds[name].copy()) for name in names))
            return [each.numpy() for each in (answer if isinstance(answer, list | tuple) else [answer])]

        return run

    return [Adapter("onnx2torch", version("onnx2torch"), load)]


# The adapter and the packages to install, by the name of the runtime, up to the colon if it has one.
ADAPTERS: Mapping[str, tuple[Callable[[], list[Runtime]], str]] = {
    "extremum": (_extremum, "'extremum[onnx]'"),
    "onnxruntime": (_onnxruntime, "'extremum[onnxruntime]'"),
    "onnx.reference": (_reference, "'extremum[onnx]'"),
    "openvino": (_openvino, "openvino"),
    "tract": (_tract, "tract"),
    "tinygrad": (_tinygrad, "tinygrad"),
    "jaxonnxruntime": (_jaxonnxruntime, "jaxonnxruntime absl-py"),
    "onnx2torch": (_onnx2torch, "onnx2torch"),
}
