"""A command line from the first word to the exit status: one line per error on stderr, and Ctrl-C.

Exit status: 0 done, 1 done with findings, 2 could not run (also an unexpected exception), 130 interrupted.
:mod:`extremum.cli.program` lists the commands; each parses its arguments, calls the library, prints, returns a status.

A long-running command ends within a second of Ctrl-C. The first Ctrl-C raises KeyboardInterrupt, so that the command
can tidy up. A thread ends the process if that takes too long: the main thread may be inside a library. A second Ctrl-C
ends the process at once.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from types import FrameType

from extremum.cli import terminal
from extremum.errors import ArgumentError
from extremum.printable import json_text

# The exit status of a process that SIGINT ended, as shells define it.
_INTERRUPTED = 128 + 2
# Seconds between the first Ctrl-C and the end of the process.
_ALLOWED = 0.7

_notice = threading.Lock()
_interrupt = threading.Event()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words:
        words = ["--help"]
    for stream in (sys.stdout, sys.stderr):
        # Escapes characters that the encoding lacks. The caller may have replaced the streams.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if not sys.warnoptions:
        # A warning of a library is not part of the answer.
        warnings.simplefilter("ignore")
    with _watch():
        sys.exit(_status(words))


def _status(words: list[str]) -> int:
    try:
        status = _run(words)
        # Empty text flushes what a library has printed; the write below does too.
        terminal.write("", end="")
        return status
    except BrokenPipeError:
        # The reader has seen enough.
        terminal.discard(sys.stdout)
    except BaseException as error:  # a panic of the native module is not an Exception
        # A library may turn the interrupt into an error of its own.
        if isinstance(error, KeyboardInterrupt) or _interrupt.is_set():
            _say_interrupted()
            return _INTERRUPTED
        failure = terminal.show_error(error)
        # Without a record, empty text flushes what has been printed before.
        text = json_text({"error": failure.record()}) + "\n" if _wants_json(words) else ""
        try:
            terminal.write(text, end="")
        except OSError:
            terminal.discard(sys.stdout)
    return 2


def _run(words: list[str]) -> int:
    import click
    from click.shell_completion import shell_complete

    from extremum.cli.program import program

    if instruction := os.environ.get("_EXTREMUM_COMPLETE"):
        return shell_complete(program, {}, "extremum", "_EXTREMUM_COMPLETE", instruction)
    try:
        with program.make_context("extremum", list(words)) as context:
            return int(program.invoke(context) or 0)
    except click.ClickException as error:
        raise ArgumentError(" ".join(error.format_message().split())) from None
    except click.exceptions.Exit as error:
        return error.exit_code


def _wants_json(words: list[str]) -> bool:
    options = words[: words.index("--")] if "--" in words else words
    return not {"--json", "--format=json"}.isdisjoint(options) or ("--format", "json") in pairwise(options)


def _say_interrupted() -> None:
    """Write the line that says that the command was interrupted, once."""
    if _notice.acquire(blocking=False):
        # A progress bar hides the cursor, and may have no time to show it again.
        if sys.stderr is not None and sys.stderr.isatty():
            prefix = "\r\x1b[K\x1b[?25h"
        else:
            prefix = ""
        with suppress(OSError, ValueError):
            terminal.write_error(f"{prefix}extremum: interrupted")


@contextmanager
def _watch() -> Iterator[None]:
    """End the process soon after a Ctrl-C that comes in this block."""
    _interrupt.clear()
    if _notice.locked():
        _notice.release()
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        # The calling program handles signals, or the parent process made this one ignore them.
        yield
        return
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, _raise_first)
    threading.Thread(target=_end_soon, args=(receiver,), daemon=True).start()
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is _raise_first:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.set_wakeup_fd(before)
            # The thread reads the end of the stream and returns.
            sender.close()
        else:
            # Interrupted: the socket stays open, and the thread watches the interpreter exit, which waits for threads.
            sender.detach()


def _raise_first(number: int, frame: FrameType | None) -> None:
    # Later signals only wake the thread: an exception in the middle of tidying up would show a traceback.
    signal.signal(signal.SIGINT, lambda *_: None)
    _interrupt.set()
    raise KeyboardInterrupt


def _end_soon(receiver: socket.socket) -> None:
    """Wait for a Ctrl-C, allow some time after it, and end the process."""
    with receiver:
        while (byte := receiver.recv(1)) and byte[0] != signal.SIGINT:
            pass
        if not byte:
            return
        receiver.settimeout(_ALLOWED)
        with suppress(TimeoutError):
            while receiver.recv(1)[0] != signal.SIGINT:
                pass
    if (starting := sys.modules.get("extremum.runtimes.process")) is not None:
        starting.STARTING.acquire(timeout=0.2)
    # Processes that were started here must not outlive this one.
    if (processes := sys.modules.get("multiprocessing")) is not None:
        for process in processes.active_children():
            process.kill()
    _say_interrupted()
    os._exit(_INTERRUPTED)
