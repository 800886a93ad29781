"""Ctrl-C: a command that works long ends within a second, with one line and status 130.

The first Ctrl-C raises KeyboardInterrupt, so that the command can tidy up. A thread ends the process if that takes
longer than the time allowed, for example because the main thread is inside a library or waits for another thread. A
second Ctrl-C ends the process at once.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from extremum.cli import terminal

STATUS = 128 + 2
"""The exit status of what SIGINT ended, as shells have it."""

_ALLOWED = 0.7
"""Seconds between the first Ctrl-C and the end of the process."""

_said = threading.Lock()
_kept: list[socket.socket] = []


def say_once() -> None:
    """Write the line that says that the command was interrupted."""
    if _said.acquire(blocking=False):
        # A progress bar hides the cursor, and has perhaps no time to show it again.
        prefix = "\r\x1b[K\x1b[?25h" if sys.stderr is not None and sys.stderr.isatty() else ""
        with contextlib.suppress(OSError, ValueError):
            terminal.write(f"{prefix}extremum: interrupted", err=True)


@contextlib.contextmanager
def watch() -> Iterator[None]:
    """End the process soon after a Ctrl-C that comes in this block."""
    if _said.locked():
        _said.release()
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        # Signals are the business of the program that called, or whoever started this one has them ignored.
        yield
        return
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, _first)
    threading.Thread(target=_end_soon, args=(receiver,), daemon=True).start()
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is _first:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.set_wakeup_fd(before)
            # The thread reads the end of the stream and returns.
            sender.close()
        else:
            # Interrupted: the thread watches over the end of the interpreter, which waits for other threads.
            _kept.append(sender)


def _first(number: int, frame: FrameType | None) -> None:
    # The next ones only wake the thread: an exception in the middle of tidying up would show a traceback.
    signal.signal(signal.SIGINT, lambda *_: None)
    raise KeyboardInterrupt


def _end_soon(receiver: socket.socket) -> None:
    """Wait for a Ctrl-C, allow some time after it, and end the process."""
    with receiver:
        while (received := receiver.recv(1)) and received[0] != signal.SIGINT:
            pass
        if not received:
            return
        receiver.settimeout(_ALLOWED)
        with contextlib.suppress(TimeoutError):
            while receiver.recv(1)[0] != signal.SIGINT:
                pass
    if (starting := sys.modules.get("extremum.runtimes.runtime")) is not None:
        starting.STARTING.acquire(timeout=0.2)
    # Processes that were started here must not outlive this one.
    if (processes := sys.modules.get("multiprocessing")) is not None:
        for process in processes.active_children():
            process.kill()
    say_once()
    os._exit(STATUS)
