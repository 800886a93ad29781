"""What it takes to prepare a model of 500 nodes and 200 MB, beside onnxruntime's own session of the same file.

    python -m benchmarks.preparing             prints the table

Every opening is a process of its own, in turns, and the medians count. Memory is what the process holds at most beyond
what it held before.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from benchmarks.footprint import high_water, lower_mark
from extremum.printable import markdown_table

__all__ = ["model"]

_TURNS = 7
_ROOT = Path(__file__).parents[1]


def model(blocks: int = 100, width: int = 512) -> onnx.ModelProto:
    """Return a model of five nodes a block, each block with two matrices."""
    random = np.random.default_rng(0)
    nodes, weights, outputs, x = [], list[onnx.TensorProto](), list[onnx.ValueInfoProto](), "x"
    for at in range(blocks):
        for name, shape in (("w", (width, width)), ("v", (width, width)), ("b", (width,))):
            weights.append(numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), f"{name}{at}"))
        nodes += [
            helper.make_node("MatMul", [x, f"w{at}"], [f"m{at}"]),
            helper.make_node("Add", [f"m{at}", f"b{at}"], [f"a{at}"]),
            helper.make_node("MatMul", [f"a{at}", f"v{at}"], [f"n{at}"]),
            helper.make_node("Max", [f"n{at}", f"a{at}"], [f"x{at}"]),
            helper.make_node("ArgMax", [f"x{at}"], [f"y{at}"], axis=1),
        ]
        outputs.append(helper.make_tensor_value_info(f"y{at}", onnx.TensorProto.INT64, ("n", 1)))
        x = f"x{at}"
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ("n", width))], outputs, weights
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _opened(who: str, path: str) -> dict[str, float]:
    """Open a model in this process, and return what it took."""
    import onnxruntime

    import extremum.backend
    import extremum.onnxruntime.session

    lower_mark()
    before, start = high_water(), time.perf_counter()
    if who == "prepare":
        kept: Any = extremum.backend.prepare(path)
    else:
        kept = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    took = {"seconds": time.perf_counter() - start, "megabytes": (high_water() - before) / 1e6}
    del kept
    return took


def _measured(path: Path) -> dict[str, list[dict[str, float]]]:
    taken: dict[str, list[dict[str, float]]] = {"prepare": [], "onnxruntime": []}
    for _ in range(_TURNS):
        for who, each in taken.items():
            command = [sys.executable, "-m", "benchmarks.preparing", who, str(path)]
            output = subprocess.run(command, check=True, capture_output=True, text=True, cwd=_ROOT).stdout
            each.append(json.loads(output))
    return taken


def _report() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        files = {"in the file": Path(folder, "inside.onnx"), "beside it": Path(folder, "beside.onnx")}
        onnx.save(model(), files["in the file"])
        onnx.save(model(), files["beside it"], save_as_external_data=True, location="weights")
        for where, path in files.items():
            taken = _measured(path)
            pairs = zip(taken["prepare"], taken["onnxruntime"], strict=True)
            ratio = median(ours["seconds"] / stock["seconds"] for ours, stock in pairs)
            most = [f"{median(each['megabytes'] for each in taken[who]):.0f} MB" for who in taken]
            rows.append([where, f"{ratio:.1f}", *most])
    sys.stdout.write(f"{markdown_table(['Weights', 'Time', '`prepare`', 'onnxruntime'], rows)}\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.stdout.write(json.dumps(_opened(*sys.argv[1:])))
    else:
        _report()
