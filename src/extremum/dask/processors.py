"""How many processors a task of a scheduler uses: one, because the scheduler keeps the others busy.

For the kernels the number is a setting of the process, so it is set while any task runs and restored after the last
task. Other calls at that time, such as the caller's own, compute the same result, on one processor too.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
from collections.abc import Iterator

from extremum import _native

_lock = threading.Lock()
_running = 0
_before = 1


def most() -> int | None:
    """Return how many processors the current task may use; None, for all, in the caller's own thread."""
    is_own = (
        threading.current_thread() is threading.main_thread() and multiprocessing.parent_process() is None
    )
    return None if is_own else 1


@contextlib.contextmanager
def share() -> Iterator[None]:
    """Use this task's share of the processors: all of them if no scheduler runs other tasks."""
    global _running, _before
    if most() is None:
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
            # Keep what the caller has set in the meantime.
            if not _running and _native.get_num_threads() == 1:
                _native.set_num_threads(_before)
