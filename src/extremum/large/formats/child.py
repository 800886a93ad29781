"""Files that another process reads: a damaged file may end that process, and not this one.

The libraries of NetCDF and HDF5 are written in C, and some files make them crash. The process opens one file, answers
questions about it in turn, and ends with the process that asks them.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from extremum.errors import InputError
from extremum.files import open_file
from extremum.large.formats.stored import Description, File
from extremum.partials import Place

_START = "import sys; sys.path[:] = {}; from extremum.large.formats.child import serve; serve()"

# A pipe that holds more lets both processes go on for longer. Linux allows this much.
_PIPE = 1 << 20


class ChildFile:
    """A file of a format that another process opens and reads.

    Parameters
    ----------
    open_as : callable
        Opens the file in the other process; it has a name there too.
    path : Path
        The file.
    """

    # The block lies in both processes while it is sent.
    copies = 2

    def __init__(self, open_as: Callable[[Path], File], path: Path) -> None:
        # The libraries would wait for a pipe, and report a file without permission as damaged.
        open_file(path).close()
        self._path = path
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START.format(repr(sys.path))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pipesize=_PIPE if sys.platform == "linux" else -1,
        )
        weakref.finalize(self, _end, self._process)
        self._ask("open", open_as, path)

    def describe(self, variable: str | None) -> Description:
        """Describe the array of this name, or the only array."""
        answer: Description = self._ask("describe", variable)
        return answer

    def read(self, path: str | None, place: Place) -> NDArray[Any]:
        """Return the elements of an array at a place."""
        answer: NDArray[Any] = self._ask("read", path, place)
        return answer

    def whole(self, path: str) -> tuple[NDArray[Any], Mapping[str, Any]]:
        """Return all elements of a coordinate, and its attributes."""
        answer: tuple[NDArray[Any], Mapping[str, Any]] = self._ask("whole", path)
        return answer

    def _ask(self, method: str, *arguments: Any) -> Any:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with self._lock:
            try:
                pickle.dump((method, arguments), process.stdin)
                process.stdin.flush()
                is_answer, answer = pickle.load(process.stdout)
            except (EOFError, BrokenPipeError, pickle.UnpicklingError):
                raise self._crash() from None
        if not is_answer:
            raise answer
        return answer

    def _crash(self) -> InputError:
        """Return the error about a process that has ended."""
        status = self._process.wait()
        ended = f"exit status {status}"
        if status < 0:
            with suppress(ValueError):
                ended = signal.Signals(-status).name
        return CrashError(
            f"{str(self._path)!r} cannot be read: the library that reads it crashes",
            given=ended,
            remedy="write the file anew with another version of the library, or mend it",
        )


class CrashError(InputError):
    """A file ends the process that reads it."""


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with suppress(OSError):
            if pipe is not None:
                pipe.close()


def serve() -> None:
    """Answer questions about a file until the pipe closes; this runs in the other process."""
    # What a library prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # An interrupt is for the process that asks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    questions = sys.stdin.buffer
    file: Any = None
    while True:
        try:
            method, arguments = pickle.load(questions)
        except EOFError:
            return
        answer: Any = None
        try:
            if method == "open":
                file = arguments[0](arguments[1])
            else:
                answer = getattr(file, method)(*arguments)
            is_answer = True
        except Exception as error:
            is_answer = False
            answer = _portable(error)
        pickle.dump((is_answer, answer), answers, protocol=5)
        answers.flush()
        del answer


def _portable(error: Exception) -> Exception:
    """Return an error that the other process can receive: those of the libraries may hold what cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(str(error))
    return error
