"""The gallery: small models as exporters write them, what `check` and `fix` make of them, and their times.

The models lie in tests/data, each beside the inputs it was tried on and the outputs of the library that exported it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray

from benchmarks import report, run
from extremum.check import Severity, check
from extremum.fix import fix
from extremum.onnxruntime import InferenceSession

Arrays = Mapping[str, NDArray[Any]]

DATA = run.ROOT / "tests" / "data"
EXPORTERS = {
    "torch": "torch.onnx",
    "tensorflow": "tf2onnx",
    "sklearn": "skl2onnx",
    "optimised": "onnxruntime's optimiser",
}
# scikit-learn's models of the other element type have the same nodes.
_ALIKE = (
    "sklearn/kmeans_float32",
    "sklearn/naive_bayes_float32",
    "sklearn/neighbors_float64",
    "sklearn/network_float32",
)
# Lengths in practice.
_LENGTHS = {
    "anchors": 8400,
    "batch": 1,
    "columns": 1000,
    "height": 256,
    "length": 8,
    "queries": 900,
    "rows": 1000,
    "vocabulary": 50257,
    "width": 256,
}
# The product of the other lengths of an input that a model leaves open.
_OTHERS = 10_000


class Exhibit(NamedTuple):
    """A model of the gallery."""

    folder: str
    name: str

    @property
    def title(self) -> str:
        """Folder and name."""
        return f"{self.folder}/{self.name}"

    @property
    def path(self) -> Path:
        """The file of the model."""
        return DATA / self.folder / f"{self.name}.onnx"

    @property
    def model(self) -> onnx.ModelProto:
        """The model, read from its file."""
        return onnx.load(self.path)

    def tried(self) -> tuple[Arrays, list[NDArray[Any]]]:
        """Return inputs by name, and the first outputs as the exporting library gave them."""
        # An optimised model is tried as the one that it is made of.
        folder = "torch" if self.folder == "optimised" else self.folder
        with np.load(DATA / folder / f"{self.name}.npz") as arrays:
            outputs = [arrays[name] for name in arrays if name == "labels" or name.startswith("output_")]
            inputs = {name: arrays[name] for name in arrays if name != "labels" and not name.startswith("output_")}
        return inputs, outputs


EXHIBITS = [
    exhibit
    for folder in EXPORTERS
    for path in sorted((DATA / folder).glob("*.onnx"))
    if (exhibit := Exhibit(folder, path.stem)).title not in _ALIKE
]
"""The models, by exporter and name."""


def findings(model: onnx.ModelProto, runtime: str = "onnxruntime") -> str:
    """Return what `check` reports about a model for a runtime: codes, without infos."""
    counts = Counter(each.code for each in check(model, runtime=runtime).findings if each.severity is not Severity.INFO)
    return ", ".join(code if count == 1 else f"{count} {code}" for code, count in sorted(counts.items())) or "nothing"


def changes(model: onnx.ModelProto, runtime: str = "onnxruntime") -> str:
    """Return what `fix` does to a model for a runtime: the operators that it rewrites."""
    fixed = fix(model, runtime)
    if fixed.refusals:
        return "cannot"
    counts = Counter(each.operator.partition("-")[0] for each in fixed.changes)
    names = (name if count == 1 else f"{count} {name}" for name, count in sorted(counts.items()))
    return ", ".join(names) or "nothing"


def large(model: onnx.ModelProto) -> Arrays:
    """Return random inputs of a length that is usual in practice."""
    random = np.random.default_rng(0)
    weights = {each.name for each in model.graph.initializer}
    feeds = {}
    for value in (each for each in model.graph.input if each.name not in weights):
        tensor = value.type.tensor_type
        shape = [each.dim_value or _LENGTHS.get(each.dim_param, 0) for each in tensor.shape.dim]
        other = round(_OTHERS ** (1 / max(shape.count(0), 1)))
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        x = random.standard_normal([length or other for length in shape])
        feeds[value.name] = x > 1 if dtype == np.bool_ else (x * 100 if dtype.kind == "i" else x).astype(dtype)
    return feeds


def _stock(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(model.SerializeToString(), _options(), providers=["CPUExecutionProvider"])


def _fixed(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    return _stock(fix(model, "onnxruntime").model)


def _ours(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    return InferenceSession(model.SerializeToString(), _options(), providers=["CPUExecutionProvider"])


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return options


CONTENDERS = {"stock": _stock, "fixed": _fixed, "session": _ours}
"""Stock onnxruntime, the same on what `fix` gives, and this package's session."""


def opened(open_session: Callable[[onnx.ModelProto], Any], model: onnx.ModelProto) -> Any:
    """Return a session of a model, or None if it is refused."""
    try:
        return open_session(model)
    except Exception:
        # The exceptions of onnxruntime share no class.
        return None


def _times(model: onnx.ModelProto, budget: float) -> dict[str, str]:
    """Return the times of a large input in milliseconds, after the outputs were found to be equal."""
    feeds = large(model)
    sessions = {name: opened(open_session, model) for name, open_session in CONTENDERS.items()}
    calls = {name: partial(session.run, None, feeds) for name, session in sessions.items() if session is not None}
    if not calls:
        return {}
    answers = [call() for call in calls.values()]
    for answer in answers[1:]:
        for mine, first in zip(answer, answers[0], strict=True):
            np.testing.assert_array_equal(mine, first)
    return {name: f"{seconds * 1e3:.3g}" for name, seconds in run.interleave(calls, budget, keep=calls).items()}


def rows(pattern: str = "") -> list[list[str]]:
    """Return a row for each model whose title matches: exporter, model, what `check` says and what `fix` does."""
    return [
        [EXPORTERS[each.folder], f"`{each.name}`", findings(each.model), changes(each.model)]
        for each in EXHIBITS
        if re.search(pattern, each.title)
    ]


@click.command
@run.SECONDS
@run.FILTER
@run.PUBLISH
def gallery(budget: float, pattern: str, published: bool) -> None:
    """Check, fix and time small models as exporters write them, in stock onnxruntime and in this package's session."""
    head = ["exporter", "model", "`check` says", "`fix` rewrites", "stock, ms", "fixed, ms", "session, ms"]
    kinds = ("stock", "fixed", "session")
    lines = []
    for each, row in zip((each for each in EXHIBITS if re.search(pattern, each.title)), rows(pattern), strict=True):
        times = _times(each.model, budget)
        lines.append([*row, *(times.get(kind, "refused") for kind in kinds)])
    conditions = f"{run.processor()}, one thread; onnxruntime {onnxruntime.__version__}."
    table = f"{conditions}\n\n{report.table(head, lines)}"
    click.echo(table)
    if published:
        report.fill({"gallery": table}, report.DOCS / "models.md")
