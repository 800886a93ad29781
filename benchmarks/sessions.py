"""Speed inside ONNX Runtime: each node as this package runs it beside the same node as onnxruntime does.

    python -m benchmarks.sessions              prints the table
    python -m benchmarks.sessions --publish    puts it into docs/onnxruntime.md

The second table is of prepared models of one small node, `extremum.backend.prepare(model).run`, beside onnxruntime's
session and onnx's reference evaluator.

Both sessions live in one process, with the same options and the same feeds; their answers are compared before they are
timed, in turns, and the least time of each counts. With several threads the two pools get in each other's way now and
then: the figure of a node that matters to you is best taken from your own model.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

import extremum.backend
import extremum.onnxruntime
from benchmarks import machine
from benchmarks.markdown import fill
from benchmarks.timing import interleave
from extremum.printable import markdown_table

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "onnxruntime.md"

# Operator with its attributes, ONNX's name of the element type, shapes of the inputs.
NODES = [
    ("ArgMax<axis=1>", "float", "(2,3)"),
    ("ArgMax<axis=1>", "float", "(1000,21)"),
    ("ArgMax<axis=1>", "float", "(1000,1000)"),
    ("ArgMax<axis=1>", "int8", "(1000,1000)"),
    ("ArgMax<axis=0>", "float", "(1000,1000)"),
    ("ArgMax<axis=1>", "float", "(8,21,512,512)"),
    ("Hardmax<axis=1>", "float", "(2,3)"),
    ("Hardmax<axis=1>", "float", "(4096,1024)"),
    ("Hardmax<axis=0>", "float", "(4096,1024)"),
    ("ReduceMax", "uint8", "(4000000)"),
    ("ReduceMin<axes=[0,1]>", "uint8", "(1000,1000,3)"),
    ("Max", "float", "(8) (8)"),
    ("Max", "float", "(1000) (1000)"),
    ("Max", "float", "(65536) (65536)"),
    ("Max", "float", "(1048576) (1048576)"),
    ("Max", "double", "(1048576) (1048576)"),
    ("Max", "int32", "(1048576) (1048576)"),
    ("Max", "float16", "(1048576) (1048576)"),
    ("Max", "float", "(1024,1024) (1024)"),
    ("Max", "float", "(1024,1024) (1024,1)"),
    ("Max", "float", "(1048576) (1048576) (1048576) (1048576)"),
]

# What it is, its opset, and the graph.
PREPARED = [
    ("ArgMax-13", 13, "(float[4,8] x) => (int64[4,1] y) { y = ArgMax<axis=1>(x) }"),
    ("Hardmax-13", 13, "(float[4,8] x) => (float[4,8] y) { y = Hardmax(x) }"),
    ("Max-13", 13, "(float[4,8] x, float[4,8] z) => (float[4,8] y) { y = Max(x, z) }"),
    ("ReduceMax-18", 18, "(float[4,8] x) => (float[4,1] y) <int64[1] axes = {1}> { y = ReduceMax(x, axes) }"),
]

# Nodes of eight elements in a row: what one more of them adds is what a node costs.
CHAIN = 100


def node(operator: str, element: str, shapes: str) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """Return a model of one node, and a feed for it."""
    sizes = re.findall(r"\((.*?)\)", shapes)
    names = [f"x{number}" for number in range(len(sizes))]
    inputs = ", ".join(f"{element}[{size}] {name}" for name, size in zip(names, sizes, strict=True))
    rank = max(size.count(",") + 1 for size in sizes)
    result = "int64" if operator.startswith("Arg") else element
    output = f"{result}[{','.join(f'd{axis}' for axis in range(rank))}] y"
    text = f"({inputs}) => ({output}) {{ y = {operator}({', '.join(names)}) }}"
    dtype = onnx.helper.tensor_dtype_to_np_dtype(onnx.TensorProto.DataType.Value(element.upper()))
    random = np.random.default_rng(0)
    feed = {
        name: (random.standard_normal([int(n) for n in size.split(",")]) * 40).astype(dtype)
        for name, size in zip(names, sizes, strict=True)
    }
    return model(text), feed


def chain(length: int) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """Return a model of so many nodes in a row, and a feed for it."""
    nodes = " ".join(f"x{number + 1} = Max(x{number}, y)" for number in range(length))
    text = f"(float[8] x0, float[8] y) => (float[8] x{length}) {{ {nodes} }}"
    return model(text), {"x0": np.arange(8, dtype=np.float32), "y": np.full(8, 3, np.float32)}


def model(graph: str, opset: int = 13) -> bytes:
    """Return a model of a graph in the text form of ONNX."""
    text = f'<ir_version: 8, opset_import: ["" : {opset}]> g {graph}'
    return onnx.parser.parse_model(text).SerializeToString()


def seconds(case: tuple[bytes, dict[str, NDArray[Any]]], threads: int, budget: float) -> tuple[float, float]:
    """Return the least time of a run: in this package's session, and in onnxruntime's own."""
    source, feed = case

    def run(session_type: type[onnxruntime.InferenceSession]) -> Callable[[], NDArray[Any]]:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = session_type(source, options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, feed)[0]

    calls = {"ours": run(extremum.onnxruntime.InferenceSession), "theirs": run(onnxruntime.InferenceSession)}
    ours, theirs = (call() for call in calls.values())
    np.testing.assert_array_equal(ours, theirs, strict=True)
    best = interleave(calls, budget, keep=calls)
    return best["ours"], best["theirs"]


def table(budget: float = 2.0) -> str:
    """Return the times of onnxruntime's own nodes over ours, as Markdown."""
    counts = sorted({1, os.cpu_count() or 1})
    heads = [f"{count} thread{'s' if count > 1 else ''}" for count in counts]
    rows = []
    for operator, element, shapes in NODES:
        ratios = []
        for count in counts:
            ours, theirs = seconds(node(operator, element, shapes), count, budget)
            ratios.append(f"{theirs / ours:.2f}")
        rows.append([f"`{operator}` {element} {shapes}", *ratios])
    short, long = (seconds(chain(length), 1, budget) for length in (1, 1 + CHAIN))
    ours, theirs = ((after - before) / CHAIN * 1e6 for before, after in zip(short, long, strict=True))
    cost = f"One more Max of eight elements costs {ours:.2f} us, onnxruntime's own {theirs:.2f} us."
    return "\n".join([_conditions(), "", markdown_table(["node", *heads], rows, figures=True), cost])


def prepared_seconds(source: bytes, budget: float) -> dict[str, float]:
    """Return the least time of a run of a model whose inputs are float32 (4, 8), by who runs it."""
    session = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    feed = {each.name: np.random.default_rng(0).random((4, 8), np.float32) for each in session.get_inputs()}
    prepared, reference = extremum.backend.prepare(source), ReferenceEvaluator(onnx.load_from_string(source))
    calls: dict[str, Callable[[], Any]] = {
        "ours": lambda: prepared.run(feed),
        "onnxruntime": lambda: session.run(None, feed),
        "reference": lambda: reference.run(None, feed),
    }
    ours, *others = (call()[0] for call in calls.values())
    for each in others:
        np.testing.assert_array_equal(ours, each, strict=True)
    return interleave(calls, budget, keep=calls)


def prepared(budget: float = 4.0) -> str:
    """Return the times of runs of prepared models, as Markdown."""
    rows = []
    for name, opset, graph in PREPARED:
        best = prepared_seconds(model(graph, opset), budget)
        times = [f"{seconds * 1e6:.1f}" for seconds in best.values()]
        rows.append([name, *times, f"{best['ours'] / best['onnxruntime']:.1f}"])
    head = ["node", "`prepare`, us", "onnxruntime, us", "reference evaluator, us", "over onnxruntime"]
    return "\n".join([_conditions(), "", markdown_table(head, rows, figures=True).rstrip("\n")])


def _conditions() -> str:
    facts = machine.describe()
    return (
        f"{facts['processor']}, {facts['cores']} cores, {facts['instruction set']}; "
        f"onnxruntime {onnxruntime.__version__}."
    )


def publish(figures: Mapping[str, str], document: Path = DOCUMENT) -> None:
    """Put each table between its two markers; the text around them stays as it is."""
    text = document.read_text(encoding="utf-8")
    document.write_text(fill(text, figures.__getitem__), encoding="utf-8")


if __name__ == "__main__":
    figures = {"sessions": table(), "prepared": prepared()}
    sys.stdout.write("\n\n".join(figures.values()) + "\n")
    if "--publish" in sys.argv[1:]:
        publish(figures)
