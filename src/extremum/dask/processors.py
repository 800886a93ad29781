"""How many processors a task of a scheduler uses: one, because the scheduler keeps the others busy.

For the kernels the number is a setting of the process, so it is set while any task runs and put back after the last
one. What runs beside, such as a call of the caller's own, computes the same then, on one processor too. A session of
onnxruntime has a number of its own, from when it is opened.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
from collections.abc import Iterator

from extremum import _native

__all__ = ["most", "share"]

_lock = threading.Lock()
_running = 0
_before = 1


def most() -> int | None:
    """Return how many processors the task that asks may use; None where it is the caller itself."""
    return None if _is_alone() else 1


@contextlib.contextmanager
def share() -> Iterator[None]:
    """Use this task's share of the processors: all of them where no scheduler runs others beside it."""
    global _running, _before
    if _is_alone():
        yield
        return
    with _lock:
        if not _running:
            _before = _native.get_num_threads()
            _native.set_num_threads(1)
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            # What the caller has set in the meantime stays.
            if not _running and _native.get_num_threads() == 1:
                _native.set_num_threads(_before)


def _is_alone() -> bool:
    """Whether this is the caller's own thread: schedulers run their tasks in others, or in processes of theirs."""
    return threading.current_thread() is threading.main_thread() and multiprocessing.parent_process() is None
