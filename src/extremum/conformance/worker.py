"""A process that asks one runtime, so that a crash or a hang costs one case.

Decides how the question and the answer cross the process boundary, and how long an answer may take.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Sequence
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum.conformance.outcome import Outcome
from extremum.errors import ExecutionError, first_line
from extremum.printable import printable

__all__ = ["Worker"]

Array = NDArray[Any]

# In seconds. A runtime may compile for a long time when it is imported; a case is tiny.
_TO_START = 300.0
_MESSAGE = 300


class Worker:
    """A runtime in a process of its own, started again where it died."""

    def __init__(self, runtime: str, limit: float) -> None:
        self.runtime = runtime
        self.limit = limit
        self.version = ""
        self._process: Any = None
        self._pipe: Any = None

    def __enter__(self) -> Worker:
        """Start the process."""
        self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the process."""
        self._end()

    def ask(self, model: onnx.ModelProto, inputs: Sequence[Array]) -> Array | tuple[Outcome, str]:
        """Return the answer of the runtime, or what became of the question and why."""
        if self._process is None:
            self._start()
        try:
            self._pipe.send((model.SerializeToString(), list(inputs)))
            if not self._pipe.poll(self.limit):
                self._end()
                return Outcome.TIMED_OUT, f"no answer in {self.limit:g} s"
            kind, answer = self._pipe.recv()
        except (EOFError, OSError):
            return Outcome.CRASHED, self._end()
        if kind == "refused":
            return Outcome.REFUSED, str(answer)
        array: Array = answer
        return array

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(self.runtime, theirs), daemon=True)
        self._process.start()
        theirs.close()
        try:
            ready = self._pipe.poll(_TO_START)
            kind, message = self._pipe.recv() if ready else ("refused", f"not ready in {_TO_START:g} s")
        except (EOFError, OSError):
            kind, message = "refused", self._end()
        if kind != "ready":
            self._end()
            raise ExecutionError(f"the runtime {self.runtime!r} does not start", given=message)
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
        code = process.exitcode or 0
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
        return f"exit status {code}"


def _serve(name: str, pipe: Connection) -> None:
    # What the runtime prints would run through the progress bar.
    silence = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(silence, stream)
    try:
        from extremum.runtimes import find

        runtime = find(name)
    except Exception as error:
        pipe.send(("refused", _line(error)))
        return
    pipe.send(("ready", runtime.version))
    while True:
        try:
            model, inputs = pipe.recv()
        except EOFError:
            return
        try:
            proto = onnx.ModelProto.FromString(model)
            feeds = {value.name: x for value, x in zip(proto.graph.input, inputs, strict=True)}
            (answer,) = runtime.load(proto)(feeds)
            # A copy: the runtime may own the memory.
            pipe.send(("answer", np.array(answer)))
        except Exception as error:
            pipe.send(("refused", _line(error)))


def _line(error: BaseException) -> str:
    return printable(first_line(error) or type(error).__name__, _MESSAGE)
