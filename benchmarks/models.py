"""The suites of models: a node inside onnxruntime's session, runs of a prepared model, and preparing a large one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import click
import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import extremum.backend
import extremum.onnxruntime
from benchmarks import report, run
from benchmarks.peers import parsed

_stock = partial(onnxruntime.InferenceSession, providers=["CPUExecutionProvider"])

# Operator with its attributes, ONNX's name of the element type, shapes of the inputs.
_NODES = (
    *(("ArgMax<axis=1>", "float", shape) for shape in ("(2,3)", "(1000,21)", "(1000,1000)")),
    ("ArgMax<axis=1>", "int8", "(1000,1000)"),
    ("ArgMax<axis=0>", "float", "(1000,1000)"),
    ("ArgMax<axis=1>", "float", "(8,21,512,512)"),
    *(("Hardmax<axis=1>", "float", shape) for shape in ("(2,3)", "(4096,1024)")),
    ("Hardmax<axis=0>", "float", "(4096,1024)"),
    ("ReduceMax", "uint8", "(4000000)"),
    ("ReduceMin<axes=[0,1]>", "uint8", "(1000,1000,3)"),
    *(("TopK<k=50>", "float", shape) for shape in ("(2,64)", "(32,50257)")),
    ("TopK<k=8>", "float", "(10000,64)"),
    ("TopK<k=5,axis=0>", "float", "(1000,1000)"),
    ("TopK<k=1000>", "float", "(1000000)"),
    *(("Max", "float", f"({size}) ({size})") for size in (8, 1000, 65536, 1048576)),
    *(("Max", element, "(1048576) (1048576)") for element in ("double", "int32", "float16")),
    *(("Max", "float", f"(1024,1024) {other}") for other in ("(1024)", "(1024,1)")),
    ("Max", "float", "(1048576) (1048576) (1048576) (1048576)"),
)
# Name, opset and graph.
_PREPARED = (
    ("ArgMax-13", 13, "(float[4,8] x) => (int64[4,1] y) { y = ArgMax<axis=1>(x) }"),
    ("Hardmax-13", 13, "(float[4,8] x) => (float[4,8] y) { y = Hardmax(x) }"),
    ("Max-13", 13, "(float[4,8] x, float[4,8] z) => (float[4,8] y) { y = Max(x, z) }"),
    ("ReduceMax-18", 18, "(float[4,8] x) => (float[4,1] y) <int64[1] axes = {1}> { y = ReduceMax(x, axes) }"),
)


def _node(operator: str, element: str, shapes: str) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """Return a model of one node, and inputs for it."""
    sizes = {f"x{number}": size for number, size in enumerate(re.findall(r"\((.*?)\)", shapes))}
    inputs = ", ".join(f"{element}[{size}] {name}" for name, size in sizes.items())
    axes = ",".join(f"d{axis}" for axis in range(max(size.count(",") + 1 for size in sizes.values())))
    result = "int64" if operator.startswith("Arg") else element
    # Before opset 10 the number of elements is an attribute.
    outputs, opset = ("y, i", 9) if operator.startswith("TopK") else ("y", 13)
    dtype = helper.tensor_dtype_to_np_dtype(onnx.TensorProto.DataType.Value(element.upper()))
    random = np.random.default_rng(0)
    feed = {}
    for name, size in sizes.items():
        feed[name] = (random.standard_normal([int(n) for n in size.split(",")]) * 40).astype(dtype)
    return parsed(f"({inputs}) => ({result}[{axes}] y) {{ {outputs} = {operator}({', '.join(sizes)}) }}", opset), feed


@click.command
@run.SECONDS
@run.FILTER
@run.PUBLISH
def sessions(budget: float, pattern: str, published: bool) -> None:
    """Time each node in this package's session over onnxruntime's own, and runs of prepared models of one node.

    With several threads the two pools get in each other's way now and then: if a node matters to you, measure it in
    your own model.
    """
    counts = sorted({1, os.cpu_count() or 1})
    options = onnxruntime.SessionOptions()
    rows = []
    times = []
    for node in (node for node in _NODES if re.search(pattern, " ".join(node))):
        source, feed = _node(*node)
        rows.append(["`{}` {} {}".format(*node)])
        for count in counts:
            options.intra_op_num_threads = count
            calls: dict[str, Callable[[], Any]] = {}
            for kind in (extremum.onnxruntime.InferenceSession, onnxruntime.InferenceSession):
                session = kind(source, options, providers=["CPUExecutionProvider"])
                calls[kind.__module__] = partial(session.run, None, feed)
            ours, theirs = run.compared(calls, budget).values()
            rows[-1].append(f"{theirs / ours:.2f}")
    for name, opset, graph in (each for each in _PREPARED if re.search(pattern, each[0])):
        source = parsed(graph, opset)
        session = _stock(source)
        reference = ReferenceEvaluator(onnx.load_from_string(source))
        feed = {each.name: np.random.default_rng(0).random((4, 8), np.float32) for each in session.get_inputs()}
        calls = {"ours": partial(extremum.backend.prepare(source).run, feed)}
        calls |= {"onnxruntime": partial(session.run, None, feed), "reference": partial(reference.run, None, feed)}
        best = [*run.compared(calls, budget).values()]
        times.append([name, *(f"{seconds * 1e6:.1f}" for seconds in best), f"{best[0] / best[1]:.1f}"])
    heads = ["node", *(f"{count} thread{'s' if count > 1 else ''}" for count in counts)]
    others = ["node", "`prepare`, us", "onnxruntime, us", "reference evaluator, us", "over onnxruntime"]
    conditions = f"{run.processor()}, {os.cpu_count()} cores; onnxruntime {onnxruntime.__version__}."
    tables = {"sessions": report.table(heads, rows), "prepared": report.table(others, times)}
    tables = {name: f"{conditions}\n\n{table}" for name, table in tables.items()}
    click.echo("\n\n".join(tables.values()))
    if published:
        report.fill(tables, report.DOCS / "onnxruntime.md")


def _large(blocks: int = 100, width: int = 512) -> onnx.ModelProto:
    """Return a model of five nodes a block, each block with two matrices: 500 nodes and 210 MB."""
    nodes = "".join(
        f"m{n} = MatMul(x{n}, w{n}) a{n} = Add(m{n}, b{n}) n{n} = MatMul(a{n}, v{n})"
        f" x{n + 1} = Max(n{n}, a{n}) y{n} = ArgMax<axis=1>(x{n + 1}) "
        for n in range(blocks)
    )
    outputs = ", ".join(f"int64[n,1] y{n}" for n in range(blocks))
    model = onnx.load_from_string(parsed(f"(float[n,{width}] x0) => ({outputs}) {{ {nodes} }}", 17))
    random = np.random.default_rng(0)
    for name, n in product("wvb", range(blocks)):
        weights = random.standard_normal((width,) if name == "b" else (width, width)).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(weights, f"{name}{n}"))
    return model


def _opened(who: str, path: str) -> dict[str, float]:
    """Open a model in this process, and return the time and the memory on top of what the process held."""
    run.lower_mark()
    before = run.high_water()
    start = perf_counter()
    _kept = (extremum.backend.prepare if who == "prepare" else _stock)(path)
    return {"seconds": perf_counter() - start, "megabytes": (run.high_water() - before) / 1e6}


@click.command
@click.option("--turns", type=click.IntRange(min=1), default=7, show_default=True)
def preparing(turns: int) -> None:
    """Time preparing a model of 500 nodes and 210 MB over onnxruntime's own session of it, and the peak of memory.

    Each process opens the model once, in turns, and the medians count.
    """
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for where, external in {"in the file": False, "beside it": True}.items():
            path = Path(folder, f"{where}.onnx")
            onnx.save(_large(), path, save_as_external_data=external, location="weights")
            taken: dict[str, list[dict[str, float]]] = {"prepare": [], "onnxruntime": []}
            for _ in range(turns):
                for who, each in taken.items():
                    command = [sys.executable, "-m", "benchmarks.models", who, str(path)]
                    each.append(json.loads(subprocess.check_output(command, text=True, cwd=run.ROOT)))
            pairs = zip(*taken.values(), strict=True)
            ratio = median(ours["seconds"] / stock["seconds"] for ours, stock in pairs)
            most = [f"{median(each['megabytes'] for each in taken[who]):.0f} MB" for who in taken]
            rows.append([where, f"{ratio:.1f}", *most])
    click.echo(report.table(["weights", "time", "`prepare`", "onnxruntime"], rows))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_opened(*sys.argv[1:])))
