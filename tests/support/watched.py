"""Code that may end or hang its process, run in a child that is watched."""

import os
import subprocess
import sys
from pathlib import Path

SUPPORT = Path(__file__).parent


def environment():
    """Return the environment of a child that imports test modules and what they share."""
    folders = [str(SUPPORT.parent), str(SUPPORT)]
    if "PYTHONPATH" in os.environ:
        folders.append(os.environ["PYTHONPATH"])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}


def run_watched(module, *arguments, seconds=300, cwd=None):
    """Run a module of this folder, which prints its progress, in a child; fail if the child dies or does not end."""
    return _watch([str(SUPPORT / f"{module}.py"), *map(str, arguments)], seconds, cwd).splitlines()


def call(function, *arguments, seconds=120):
    """Call a function of a test module in a child, as `run_watched` runs a module; return its output."""
    # A child that does not end prints where each of its threads is.
    watch = f"import faulthandler; faulthandler.dump_traceback_later({seconds - 5}, exit=True)"
    program = f"{watch}; import {function.__module__} as module; module.{function.__name__}(*{arguments!r})"
    return _watch(["-X", "faulthandler", "-c", program], seconds, None)


def _watch(command, seconds, cwd):
    command = [sys.executable, *command]
    try:
        child = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, cwd=cwd, env=environment(), check=False
        )
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"no end after {seconds} s, at {_last(error.stdout)!r}") from None
    assert child.returncode == 0, f"ended with {child.returncode} at {_last(child.stdout)!r}: {child.stderr[-2000:]}"
    return child.stdout


def say(text):
    """Print progress, in the child."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _last(output):
    lines = (output.decode() if isinstance(output, bytes) else output or "").splitlines()
    return lines[-1] if lines else "the start"
