"""Runtimes, which load a model and run it, here or in a process of their own; and how good their answers are.

In a process of its own, a crash or a hang costs only one answer.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum.errors import ExecutionError, ExtremumError, said
from extremum.graph.nodes import one_node
from extremum.printable import printable
from extremum.spec import Family, OperatorVersion

Array = NDArray[Any]
Feeds = Mapping[str, Array]
"""The inputs of a model by name."""

Run = Callable[[Feeds], Sequence[Any]]
"""Takes the inputs by name and returns the outputs in the model's order."""

Load = Callable[[onnx.ModelProto], Run]
"""Takes a model and returns what runs it; an exception, here or in a run, is a refusal."""


class Runtime(Hashable, Protocol):
    """An installed runtime; it is the key under which its refusals are cached."""

    @property
    def name(self) -> str:
        """As the command line spells it, such as ``onnxruntime`` or ``onnxruntime:cuda``."""

    @property
    def version(self) -> str:
        """Version of the package that does the work."""

    def load(self, model: onnx.ModelProto, /) -> Run:
        """Return what runs a model."""


@functools.cache
def refusal(runtime: Runtime, schema: OperatorVersion, opset: int, element: str) -> str | None:
    """Return what a runtime says when it does not load a node of rank 2, or None if it loads it.

    Releases and builds differ, so no table can tell: the runtime loads a model of one node.
    """
    try:
        runtime.load(one_node(schema, opset, element))
    except Exception as error:
        # The exceptions of runtimes share no class of their own.
        return said(error)
    return None


class Outcome(enum.Enum):
    """How an answer compares with the expected one, best first."""

    EXACT = "exact"
    ZERO = "sign of zero"
    NAN = "NaN"
    TIE = "tie"
    TYPE = "type"
    SHAPE = "shape"
    WRONG = "wrong"
    ACCEPTED = "not refused"
    REFUSED = "refused"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True)
class Question:
    """A node with its inputs."""

    version: OperatorVersion
    attributes: Mapping[str, object]
    inputs: Sequence[Array]


def compare(question: Question, expected: Sequence[Array] | None, answers: Sequence[Array]) -> Outcome:
    """Return the outcome of an answer; `expected` is None where the runtime should refuse the node."""
    if expected is None:
        return Outcome.ACCEPTED
    is_unsorted = question.attributes.get("sorted") == 0 and answers[1].dtype.kind != "O"
    if is_unsorted and [x.shape for x in answers] == [x.shape for x in expected]:
        # Put values and indices in the order of the indices.
        axis = _axis(question)
        both = (expected, answers)
        expected, answers = ([np.take_along_axis(x, np.argsort(y[1], axis), axis) for x in y] for y in both)
    # Signalling NaNs and numbers beyond a type are no reason to warn.
    with np.errstate(all="ignore"):
        outcomes = [_outcome(question, at, *pair) for at, pair in enumerate(zip(expected, answers, strict=True))]
    return max(outcomes, key=list(Outcome).index)


def _outcome(question: Question, at: int, expected: Array, answer: Array) -> Outcome:
    if answer.dtype != expected.dtype:
        outcome, same = Outcome.TYPE, _same_values(answer, expected)
    elif answer.shape != expected.shape:
        outcome = Outcome.SHAPE
        same = answer.size == expected.size and _same_bits(answer.reshape(expected.shape), expected)
    else:
        outcome, same = Outcome.EXACT, _same_bits(answer, expected)
    if same:
        return outcome
    if any(_is_nan(x).any() for x in question.inputs):
        return Outcome.NAN
    if outcome is not Outcome.EXACT:
        return Outcome.WRONG
    # The second output holds indices.
    if question.version.family not in (Family.ARGMAX, Family.ARGMIN, Family.HARDMAX) and at == 0:
        return Outcome.ZERO if _same_values(answer, expected) else Outcome.WRONG
    actual, right = (_elements(question, each) for each in (answer, expected))
    if actual is None or right is None or not _same_values(actual, right):
        return Outcome.WRONG
    return Outcome.TIE if _same_bits(actual, right) else Outcome.ZERO


def _elements(question: Question, answer: Array) -> Array | None:
    """Return the elements that an answer points to, or None if it points to a wrong number of them or outside."""
    x, axis = question.inputs[0], _axis(question)
    if question.version.family is not Family.HARDMAX:
        index = answer
        if question.version.family is not Family.TOP:
            index = answer.reshape([1 if at == axis else size for at, size in enumerate(x.shape)])
        has_repeats = (np.diff(np.sort(index, axis), axis=axis) == 0).any()
        if has_repeats or ((index < 0) | (index >= x.shape[axis])).any():
            return None
        return np.take_along_axis(x, index, axis)
    if question.version.coerced:
        rows = int(np.prod(x.shape[:axis]))
        x, answer, axis = x.reshape(rows, -1), answer.reshape(rows, -1), 1
    ones = answer == 1
    if not (ones | (answer == 0)).all() or not (ones.sum(axis) == 1).all():
        return None
    return np.take_along_axis(x, np.expand_dims(ones.argmax(axis), axis), axis)


def _axis(question: Question) -> int:
    axis = question.attributes.get("axis", question.version.attributes[0].default)
    assert isinstance(axis, int)
    return axis % question.inputs[0].ndim


def _same_values(actual: Array, expected: Array) -> bool:
    if {actual.dtype.kind, expected.dtype.kind} <= set("iub"):
        return np.array_equal(actual, expected)
    # Text and records hold no numbers.
    with contextlib.suppress(TypeError, ValueError):
        return np.array_equal(actual.astype(np.float64), expected.astype(np.float64), equal_nan=True)
    return False


def _same_bits(actual: Array, expected: Array) -> bool:
    unsigned = np.dtype(f"u{expected.dtype.itemsize}")
    x, y = (np.ascontiguousarray(each).reshape(each.shape).view(unsigned) for each in (actual, expected))
    return bool(((x == y) | (_is_nan(actual) & _is_nan(expected))).all())


def _is_nan(x: Array) -> Array:
    return np.not_equal(x, x)


STARTING = threading.Lock()
"""Held while a process starts: if its parent died then, the process would end with a traceback."""

_START_LIMIT = 300.0  # seconds: a runtime may compile for a long time when it is imported


class NoAnswerError(Exception):
    """There is no answer; `why` is what the runtime said, or how its process ended."""

    def __init__(self, outcome: Outcome, why: str) -> None:
        super().__init__(why)
        self.outcome = outcome


class InProcess:
    """A runtime in this process; it must neither crash nor hang."""

    def __init__(self, runtime: Runtime) -> None:
        self.name, self.version, self.load = runtime.name, runtime.version, runtime.load

    def ask(self, model: onnx.ModelProto, feeds: Feeds | None) -> list[Array]:
        """Return the outputs of a model, or raise a NoAnswerError; without feeds, load the model only."""
        try:
            run = self.load(model)
            if not callable(run):
                raise TypeError(f"load gives {type(run).__name__}, and not a function that runs the model")
            # Copies: the runtime may own the memory.
            return [] if feeds is None else [np.array(x) for x in run(feeds)]
        except Exception as error:
            raise NoAnswerError(Outcome.REFUSED, _line(error)) from None


class Subprocess:
    """A runtime in its own process during a ``with`` block; a process that died is started again."""

    def __init__(self, name: str, limit: float = 10.0) -> None:
        self.name, self.limit, self.version = name, limit, ""  # the limit is in seconds, for each answer
        self._process: Any = None
        self._pipe: Any = None

    def __enter__(self) -> Subprocess:
        self._start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def load(self, model: onnx.ModelProto) -> Run:
        """Return what runs a model that the runtime loads."""
        self.ask(model, None)
        return lambda feeds: self.ask(model, feeds)

    def ask(self, model: onnx.ModelProto, feeds: Feeds | None) -> list[Array]:
        """Return the outputs of a model, or raise a NoAnswerError; without feeds, load the model only."""
        message = model.SerializeToString(), None if feeds is None else dict(feeds)
        try:
            return self._once(message)
        except NoAnswerError as first:
            if first.outcome is not Outcome.TIMED_OUT:
                raise
        # The machine may have been busy with something else.
        return self._once(message)

    def _once(self, message: object) -> list[Array]:
        if self._process is None:
            self._start()
        try:
            self._pipe.send(message)
            if not self._pipe.poll(self.limit):
                self._end()
                raise NoAnswerError(Outcome.TIMED_OUT, f"no answer in {self.limit:g} s")
            kind, answer = self._pipe.recv()
        except (EOFError, OSError):
            raise NoAnswerError(Outcome.CRASHED, self._end()) from None
        if kind == "refused":
            raise NoAnswerError(Outcome.REFUSED, answer)
        return list(answer)

    def _start(self) -> None:
        from extremum.runtimes import files

        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(self.name, theirs, files()), daemon=True)
        with _without_interrupts(), STARTING:
            self._process.start()
        theirs.close()
        try:
            ready = self._pipe.poll(_START_LIMIT)
            kind, message = self._pipe.recv() if ready else ("refused", f"not ready in {_START_LIMIT:g} s")
        except (EOFError, OSError):
            kind, message = "refused", self._end()
        if kind != "ready":
            self._end()
            if isinstance(message, ExtremumError):
                raise message
            raise ExecutionError(f"the runtime {self.name!r} does not start", given=message)
        self.version = message

    def _end(self) -> str:
        """End the process and return how it ended."""
        process, self._process = self._process, None
        if process is None:
            return ""
        self._pipe.close()
        process.join(1)
        if process.is_alive():
            process.kill()
            process.join()
        return ended(process.exitcode or 0)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block Ctrl-C in the processes that this block starts: it would reach them too, and their parent ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # The process that tracks resources unblocks the signal when it starts, so it must start first.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ended(code: int) -> str:
    """Return how a process ended, by its exit code in Python."""
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name
    return f"exit status {code}"


def _serve(name: str, pipe: Connection, adapters: list[Path]) -> None:
    # What the runtime prints would mix with what the command prints.
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    try:
        from extremum.runtimes import add_file, find

        for adapter in adapters:
            add_file(adapter)
        runtime = InProcess(find(name))
    except Exception as error:
        # An error of this package already says what helps.
        pipe.send(("refused", error if isinstance(error, ExtremumError) else _line(error)))
        return
    pipe.send(("ready", runtime.version))
    with contextlib.suppress(EOFError):
        while True:
            content, feeds = pipe.recv()
            try:
                pipe.send(("answer", runtime.ask(onnx.ModelProto.FromString(content), feeds)))
            except Exception as error:
                pipe.send(("refused", str(error) if isinstance(error, NoAnswerError) else _line(error)))


def _line(error: BaseException) -> str:
    return printable(said(error), 300)
