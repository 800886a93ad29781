"""Ctrl-C ends every long-running command: soon, with one line, and with status 130."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import onnx
import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="this platform has no signals for one process")

# The command ends within 1 s; a machine that is busy with other tests takes longer.
GENEROUS = 10.0


def interrupted(program, *words, times=1):
    """Press Ctrl-C `times` times once a command works; return how long it still took, its status and stderr."""
    # Tests that run in the background ignore interrupts, and children inherit that.
    head = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen([sys.executable, "-uc", head + program, *words], **pipes) as child:
        assert child.stdout.readline() == "works\n", child.communicate()
        start = time.monotonic()
        for _ in range(times):
            os.killpg(child.pid, signal.SIGINT)
            time.sleep(0.05)
        try:
            _, err = child.communicate(timeout=60)
        finally:
            child.kill()
    return time.monotonic() - start, child.returncode, err


# Prints "works" as soon as the function that does the long work is called, and goes on.
COMMAND = """
import os, sys
from importlib import import_module
from extremum.cli import main
module, name = sys.argv[1].split(":")
owner = import_module(module)
function = getattr(owner, name)
def say(*given, **named):
    os.write(1, b"works\\n")  # at once, for two threads may come here
    setattr(owner, name, function)
    {then}
    return function(*given, **named)
setattr(owner, name, say)
main(sys.argv[2:])
"""


# The function that does the long work, and the words of the command.
COMMANDS = {
    "run": ("extremum.backend:prepare", "run head.onnx --random"),
    "apply": ("extremum.cli.apply:new_files", "apply argmax x.npy -o y.npy"),
    "check": ("extremum.cli.check:look", "check head.onnx --for onnx.reference"),
    "fix": ("extremum.cli.fix:rewrite", "fix head.onnx -o fixed.onnx"),
    "lower": ("extremum.directml:lower", "lower head.onnx"),
    "run of the suite": ("extremum.cli.conformance:run", "conformance run extremum onnx.reference"),
    "export": ("extremum.conformance.files:_write", "conformance export suite"),
    "card": ("extremum.cli.conformance:recorded", "conformance card --json run.json"),
}


@pytest.fixture(autouse=True)
def inputs_of_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = '<ir_version: 8, opset_import: ["" : 13]> g (uint16[9] x) => (int64[1] y) { y = ArgMax(x) }'
    onnx.save(onnx.parser.parse_model(text), "head.onnx")
    np.save("x.npy", np.zeros((100, 100), np.float32))
    (tmp_path / "run.json").write_text("{}")


def run(name, then, times=1):
    """Start a command, with other code before its long work, and interrupt it."""
    function, words = COMMANDS[name]
    took, status, err = interrupted(COMMAND.format(then=then), function, *words.split(), times=times)
    # A signal at the very end of the interpreter's shutdown ends the process itself; a shell shows 130 for both.
    assert status in ((130,) if times == 1 else (130, -signal.SIGINT))
    assert err == "extremum: interrupted\n"
    assert took < GENEROUS


@pytest.mark.parametrize(("name", "times"), [*((name, 1) for name in COMMANDS), ("run of the suite", 3), ("apply", 3)])
def test_a_command_ends_soon(tmp_path, name, times):
    # Where the work is over in a moment, the main thread sleeps first.
    run(name, "pass" if name in ("run of the suite", "export") else "__import__('time').sleep(60)", times)
    # A process of its own removes an unfinished suite.
    given_up = time.monotonic() + GENEROUS
    while any(path.name.startswith(".suite-") for path in tmp_path.iterdir()) and time.monotonic() < given_up:
        time.sleep(0.05)
    assert {path.name for path in tmp_path.iterdir()} == {"head.onnx", "x.npy", "run.json"}


CALL = "getattr(__import__('ctypes').CDLL(None), 'poll')(None, 0, 60000)"
WHERE = {
    # poll returns when its own thread gets a signal, so another thread gets the signal.
    "main": f"__import__('signal').pthread_sigmask(0, [__import__('signal').SIGINT]); {CALL}",
    "other": f"__import__('threading').Thread(target=lambda: {CALL}).start(); __import__('time').sleep(60)",
    "fails": "try: __import__('time').sleep(60)\n    finally: raise RuntimeError('release unlocked lock')",
}


@pytest.mark.parametrize("where", WHERE)
def test_a_library_that_does_not_come_back(where):
    """A library blocks the main thread or a thread that the interpreter joins at exit, or fails when interrupted."""
    run("run", WHERE[where])


STARTS = """
import os, signal
from multiprocessing.popen_spawn_posix import Popen
from extremum.runtimes.process import Subprocess

launch = Popen._launch

def interrupted(self, process):
    launch(self, process)
    for _ in range(3):
        os.kill(self.pid, signal.SIGINT)

Popen._launch = interrupted
if __name__ == "__main__":
    with Subprocess("extremum") as process:
        print("version", process.version)
"""


def test_the_process_of_a_runtime_does_not_hear_it():
    """A terminal sends Ctrl-C to all processes; output of the others would mix with the line of the command."""
    done = subprocess.run([sys.executable, "-c", STARTS], capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.startswith("version ")
    assert done.stderr == ""
