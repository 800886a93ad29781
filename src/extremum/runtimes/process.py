"""Where a runtime runs: in this process, or in a process of its own, where a crash or a hang costs only one answer."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from extremum.errors import ExecutionError, ExtremumError, said
from extremum.printable import printable
from extremum.runtimes.comparison import Outcome
from extremum.runtimes.registry import add_file, files, find
from extremum.runtimes.runtime import Array, Feeds, Run, Runtime

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
        self.name = runtime.name
        self.version = runtime.version
        self.load = runtime.load

    def ask(self, model: onnx.ModelProto, feeds: Feeds | None) -> list[Array]:
        """Return the outputs of a model, or raise a NoAnswerError; without feeds, load the model only."""
        try:
            run = self.load(model)
            if not callable(run):
                raise TypeError(f"load gives {type(run).__name__}, and not a function that runs the model")
            # The samples have infinities and NaN, about which NumPy would warn. Copies: the runtime may own the memory.
            with np.errstate(all="ignore"):
                if feeds is None:
                    return []
                return [np.array(x) for x in run(feeds)]
        except Exception as error:
            raise NoAnswerError(Outcome.REFUSED, _line(error)) from None


class Subprocess:
    """A runtime in its own process during a ``with`` block; a process that died is started again."""

    def __init__(self, name: str, limit: float = 10.0) -> None:
        self.name = name
        self.version = ""
        # In seconds, for each answer.
        self.limit = limit
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
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(self.name, theirs, files()), daemon=True)
        with _without_interrupts(), STARTING:
            self._process.start()
        theirs.close()
        try:
            ready = self._pipe.poll(_START_LIMIT)
            if ready:
                kind, message = self._pipe.recv()
            else:
                kind = "refused"
                message = f"not ready in {_START_LIMIT:g} s"
        except (EOFError, OSError):
            kind = "refused"
            message = self._end()
        if kind != "ready":
            self._end()
            if isinstance(message, ExtremumError):
                raise message
            raise ExecutionError(f"the runtime {self.name!r} does not start", given=message)
        self.version = message

    def _end(self) -> str:
        """End the process and return how it ended."""
        process = self._process
        self._process = None
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
