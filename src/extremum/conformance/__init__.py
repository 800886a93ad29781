"""A suite of cases for every ONNX runtime, with the exact answer of every version, to export as files or to run here.

The files have the layout of ONNX's own backend tests. The folder ``result/test_NAME`` holds a case with an answer,
``refusal/test_NAME`` a case without; a loader of that layout needs only ``result``. ``manifest.json`` has the rest.
"""

from __future__ import annotations

import functools
import json
import os
import secrets
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from extremum.errors import ArgumentError, required_by

with required_by("extremum.conformance"):
    import onnx
    from onnx import helper

from extremum import __version__, lower, reference, spec, validate
from extremum.conformance.topics import TOPICS, Placement, Question, Subject
from extremum.graph.nodes import operand_types
from extremum.operations import Operation, results
from extremum.runtimes.runtime import Array, NoAnswerError, Outcome, Subprocess, compare
from extremum.spec import OperatorVersion
from extremum.tensors import ELEMENT_TYPES, element_of

__all__ = ["Answers", "Case", "Exported", "Outcome", "Result", "Selection", "cases", "export", "run"]
__dir__ = __all__.copy

VERSIONS = [row for (domain, _), rows in spec.OPERATORS.items() if domain == spec.ONNX for row in rows]
"""Every version of every operator that the suite tests."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question of a topic, such as ``nan``, to a version of an operator on one element type, such as ``float32``."""

    version: OperatorVersion
    element: str
    topic: str
    question: Question

    @property
    def name(self) -> str:
        """The name, made of operator, version, element type, topic and title."""
        return f"{self.version.name.lower()}_{self.version.since}_{self.element}_{self.topic}_{self.question.title}"

    @property
    def feeds(self) -> dict[str, Array]:
        """The inputs of the model by name."""
        return {f"x{position}": x for position, x in enumerate(self.question.inputs)}

    @property
    def specified(self) -> bool:
        """Whether a document decides the answer, so that a runtime with another answer is wrong."""
        return not self.question.leaves_open

    @property
    def stated(self) -> dict[str, Any]:
        """The attributes of the node."""
        return {name: value for name, value in self.question.attributes.items() if name not in self.listed}

    @property
    def listed(self) -> dict[str, Array]:
        """The attributes that are inputs, after the tensors."""
        attributes = self.question.attributes
        names = (each.name for each in self.version.input_attributes if each.name in attributes)
        return {name: np.array(attributes[name], np.int64, ndmin=1) for name in names}

    @property
    def operation(self) -> Operation:
        """The operation that the version specifies for the node."""
        types = operand_types(self.version, [*self.question.inputs, *self.listed.values()])
        attributes = validate.attributes(self.version, self.stated, types)
        return lower.operation(self.version, attributes, self.question.inputs[0].ndim)

    def expected(self) -> tuple[Array, ...] | None:
        """Return the answer by :mod:`extremum.reference`, or None where the node has to be refused."""
        return None if self.question.refused else results(reference.run(self.operation, *self.question.inputs))


def model_of(case: Case, expected: tuple[Array, ...] | None) -> onnx.ModelProto:
    """Return the model of a case; `expected` determines the declared outputs."""
    placement = case.question.placement

    def value(name: str, element: str, shape: Sequence[int | str] | None) -> onnx.ValueInfoProto:
        if shape is not None and placement is Placement.SYMBOLIC:
            shape = [f"{name}_{axis}" for axis, _ in enumerate(shape)]
        return helper.make_tensor_value_info(name, element_of(element).onnx_number, shape)

    inputs = [value(name, x.dtype.name, x.shape) for name, x in case.feeds.items()]
    result_names = [f"y{at or ''}" for at in range(len(case.version.outputs))]
    types = ["int64" if each.types == ("int64",) else case.element for each in case.version.outputs]
    shapes = [None] * len(result_names) if expected is None else [x.shape for x in expected]
    outputs = [value(*each) for each in zip(result_names, types, shapes, strict=True)]
    # Constants, because many runtimes take nothing else.
    initializers = [onnx.numpy_helper.from_array(values, name) for name, values in case.listed.items()]
    names = [*case.feeds, *case.listed]
    node = helper.make_node(case.version.name, names, result_names, **case.stated)
    functions = []
    # The oldest version of the format that has the opset; subgraphs need version 4 and functions version 8.
    opsets = [helper.make_opsetid("", case.version.since)]
    ir = max(helper.find_min_ir_version_for(opsets), 3)
    if placement is Placement.SUBGRAPH:
        then, other = (helper.make_graph([node], name, [], outputs) for name in ("then", "else"))
        initializers.append(helper.make_tensor("condition", onnx.TensorProto.BOOL, (), [True]))
        node = helper.make_node("If", ["condition"], result_names, then_branch=then, else_branch=other)
        ir = max(ir, 4)
    elif placement is Placement.FUNCTION:
        domain = "extremum.conformance"
        functions.append(helper.make_function(domain, "Question", names, result_names, [node], opsets[:1]))
        opsets.append(helper.make_opsetid(domain, 1))
        node = helper.make_node("Question", names, result_names, domain=domain)
        ir = max(ir, 8)
    graph = helper.make_graph([node], case.name, inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir, functions=functions, producer_name="extremum")


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of cases; an empty collection selects everything.

    Attributes
    ----------
    operators : collection of str
        Names such as ``ArgMax``.
    versions : collection of int
        Versions such as 11: the opset that introduced them.
    elements : collection of str
        Element types such as ``float32``.
    topics : collection of str
        Names of :data:`extremum.conformance.topics.TOPICS`.
    names : collection of str
        Names of cases such as ``argmax_13_float32_nan_first_row``, with or without ``test_`` in front.
    specified_only : bool
        Leave out the cases whose answer no document decides.

    Raises
    ------
    ArgumentError
        If the suite does not have a given name or version.

    Examples
    --------
    >>> from extremum.conformance import Selection, cases
    >>> nan = Selection(operators=["ArgMax"], versions=[13], elements=["float32"], topics=["nan"])
    >>> next(cases(nan)).name
    'argmax_13_float32_nan_first_row'
    """

    operators: Collection[str] = ()
    versions: Collection[int] = ()
    elements: Collection[str] = ()
    topics: Collection[str] = ()
    names: Collection[str] = ()
    specified_only: bool = False

    def __post_init__(self) -> None:
        for noun, values, choices in (
            ("operator", self.operators, {schema.name for schema in VERSIONS}),
            ("version", self.versions, {schema.since for schema in VERSIONS}),
            ("element type", self.elements, {element.name for element in ELEMENT_TYPES}),
            ("topic", self.topics, set(TOPICS)),
        ):
            for name in values:
                if name not in choices:
                    text = ", ".join(map(str, sorted(choices)))
                    raise ArgumentError(f"the suite has no {noun} {name!r}", remedy=f"it has {text}")
        if self.names:
            object.__setattr__(self, "names", frozenset(name.removeprefix("test_") for name in self.names))
            if missing := set(self.names).difference(_names()):
                near = get_close_matches(min(missing), _names(), 3)
                remedy = f"did you mean {' or '.join(near)}?" if near else "extremum conformance export lists them"
                raise ArgumentError(f"the suite has no case {min(missing)!r}", remedy=remedy)

    def takes(self, schema: OperatorVersion, element: str, topic: str) -> bool:
        """Return whether the cases of a topic are selected."""
        values = (schema.name, schema.since, element, topic)
        filters = (self.operators, self.versions, self.elements, self.topics)
        return all(not choices or value in choices for choices, value in zip(filters, values, strict=True))


_names = functools.cache(lambda: [case.name for case in cases()])


def cases(selection: Selection | None = None, seed: int = 0) -> Iterator[Case]:
    """Yield each :class:`Case` of the suite, always in the same order.

    Parameters
    ----------
    selection : Selection, optional
        The cases; all by default.
    seed : int
        Seed of the ordinary elements. A case has the same elements whatever else is selected.

    Examples
    --------
    >>> from extremum.conformance import Selection, cases
    >>> ties = list(cases(Selection(operators=["Hardmax"], elements=["float16"], topics=["ties"])))
    >>> len(ties), all(case.specified for case in ties)
    (10, True)
    """
    subset = selection or Selection()
    starts = {tuple(name.split("_")[:3]) for name in subset.names}
    for schema, element, topic in product(VERSIONS, ELEMENT_TYPES, TOPICS):
        start = (schema.name.lower(), str(schema.since), element.name)
        there = element.name in schema.types or topic == "refusals"
        if there and subset.takes(schema, element.name, topic) and (not starts or start in starts):
            identity = zlib.crc32(f"{schema} {element.name} {topic}".encode())
            subject = Subject(schema, element.dtype, np.random.default_rng([seed, identity]))
            for case in (Case(schema, element.name, topic, question) for question in TOPICS[topic](subject)):
                if (case.specified or not subset.specified_only) and (not subset.names or case.name in subset.names):
                    yield case


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a runtime to one case.

    The outcome says how the answer compares; refusing a case that must be refused is also exact. The detail is the
    answer, or the message of the runtime without an answer; it is empty if the outcome is exact.
    """

    case: Case
    outcome: Outcome
    detail: str = ""

    @property
    def conforms(self) -> bool:
        """Whether no document contradicts the answer; a refusal is not a wrong answer."""
        if self.case.specified:
            return self.outcome in (Outcome.EXACT, Outcome.REFUSED)
        return self.outcome not in (Outcome.CRASHED, Outcome.TIMED_OUT)


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of one runtime to the suite: a result for each case, in their order."""

    runtime: str
    version: str
    results: tuple[Result, ...]

    def counts(self) -> Counter[Outcome]:
        """Return how many cases have each outcome."""
        return Counter(result.outcome for result in self.results)


def run(
    runtime: str, cases: Iterable[Case], *, limit: float = 10.0, progress: Callable[[Case], None] = lambda case: None
) -> Answers:
    """Run cases in a runtime, in a process of its own, and return its :class:`Answers`.

    Parameters
    ----------
    runtime : str
        The name of the runtime, as :func:`extremum.runtimes.find` takes it.
    cases : iterable of Case
        The cases.
    limit : float
        Seconds that a case may take.
    progress : callable, optional
        Called with each case after its answer.

    Raises
    ------
    ExecutionError
        If the runtime cannot be started.

    Examples
    --------
    >>> from extremum.conformance import Selection, cases, run
    >>> few = cases(Selection(operators=["ArgMax"], versions=[13], elements=["int8"], topics=["ties"]))
    >>> [result.outcome.value for result in run("extremum", few).results]
    ['exact', 'exact', 'exact', 'exact']
    """
    answers = []
    with Subprocess(runtime, limit) as worker:
        for case in cases:
            answers.append(_ask(worker, case))
            progress(case)
        return Answers(runtime, worker.version, tuple(answers))


def _ask(worker: Subprocess, case: Case) -> Result:
    expected = case.expected()
    try:
        answers = worker.ask(model_of(case, expected), case.feeds)
    except NoAnswerError as error:
        if error.outcome is Outcome.REFUSED and expected is None:
            return Result(case, Outcome.EXACT)
        return Result(case, error.outcome, str(error))
    if len(answers) != len(case.version.outputs):
        return Result(case, Outcome.WRONG, f"{len(answers)} outputs")
    outcome = compare(case.question, expected, answers)
    texts = (f"{x.dtype}{list(x.shape)} {' '.join(str(x.tolist()).split())[:120]}" for x in answers)
    return Result(case, outcome, "" if outcome is Outcome.EXACT else "; ".join(texts))


@dataclass(frozen=True, slots=True)
class Exported:
    """The extent of an export: the numbers of cases with and without an answer, and the bytes of all files."""

    folder: Path
    results: int
    refusals: int
    size: int


def export(
    folder: str | os.PathLike[str],
    selection: Selection | None = None,
    *,
    seed: int = 0,
    progress: Callable[[Case], None] = lambda case: None,
) -> Exported:
    """Write the suite into a new folder and return its extent, :class:`Exported`; the same seed gives the same bytes.

    Parameters
    ----------
    folder : str or path-like
        It must not exist, or must be empty. It appears when everything has been written.
    selection : Selection, optional
        The cases; all by default.
    seed : int
        Seed of the ordinary elements.
    progress : callable, optional
        Called with each case before it is written.

    Raises
    ------
    ArgumentError
        If the folder is not empty, or no case matches.
    OSError
        If it cannot be written.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from extremum.conformance import Selection, export
    >>> few = Selection(operators=["ArgMax"], versions=[13], elements=["int8"], topics=["ties"])
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     written = export(pathlib.Path(parent, "suite"), few)
    ...     sorted(each.name for each in (written.folder / "result").iterdir())[0], written.results
    ('test_argmax_13_int8_ties_columns', 4)
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ArgumentError(f"{str(target)!r} is not an empty folder", remedy="name a folder that does not exist yet")
    if next(cases(selection, seed), None) is None:
        raise ArgumentError("no case matches", remedy="drop a filter")
    # Next to the target, so that the finished folder only needs a new name.
    draft = target.parent / f".{target.name}-{secrets.token_hex(4)}"
    for kind in ("result", "refusal"):
        (draft / kind).mkdir(parents=True)
    try:
        entries = []
        for case in cases(selection, seed):
            progress(case)
            entries.append(_write(case, draft))
        manifest = {"suite": "extremum", "version": __version__, "seed": seed, "cases": entries}
        (draft / "manifest.json").write_bytes(json.dumps(manifest, indent=1).encode() + b"\n")
        size = sum(path.stat().st_size for path in draft.rglob("*") if path.is_file())
        if target.exists():
            target.rmdir()
        draft.rename(target)
    except BaseException:
        # Removing thousands of files takes seconds: a process that outlives this one does it.
        remover = "import shutil, sys; shutil.rmtree(sys.argv[1], ignore_errors=True)"
        command, null = [sys.executable, "-I", "-S", "-c", remover, str(draft)], subprocess.DEVNULL
        # Nobody waits for that process; a set return code prevents the warning about it.
        subprocess.Popen(command, start_new_session=True, stdin=null, stdout=null, stderr=null).returncode = 0
        raise
    refusals = sum(entry["expected"] == "refusal" for entry in entries)
    return Exported(target, len(entries) - refusals, refusals, size)


def _write(case: Case, draft: Path) -> dict[str, Any]:
    """Write the files of a case and return its entry in the manifest."""
    expected = case.expected()
    kind = "refusal" if expected is None else "result"
    folder = draft / kind / f"test_{case.name}"
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model_of(case, expected).SerializeToString(deterministic=True))
    tensors = [(f"input_{at}", name, x) for at, (name, x) in enumerate(case.feeds.items())]
    tensors += [(f"output_{at}", f"y{at or ''}", x) for at, x in enumerate(expected or ())]
    for file, name, x in tensors:
        (data / f"{file}.pb").write_bytes(onnx.numpy_helper.from_array(x, name).SerializeToString(deterministic=True))
    return {
        "name": case.name,
        "path": f"{kind}/test_{case.name}",
        "operator": case.version.name,
        "version": case.version.since,
        "element_type": case.element,
        "topic": case.topic,
        "specified": case.specified,
        "says": case.question.says,
        "leaves_open": case.question.leaves_open,
        "expected": kind,
    }
