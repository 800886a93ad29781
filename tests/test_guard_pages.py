"""No function reads or writes a byte beyond an array: each batch is a process, which one byte too many would end."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("guard_pages.py")


@pytest.mark.skipif(sys.platform == "win32", reason="pages are protected by mprotect; the kernels' reads are the same")
@pytest.mark.parametrize("side", ["begin", "end"])
@pytest.mark.parametrize("batch", ["random", pytest.param("short", marks=pytest.mark.exhaustive)])
def test_memory_beyond_an_array_is_not_touched(batch, side):
    command = [sys.executable, PROGRAM, batch, side]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    died = f"died of {signal.Signals(-run.returncode).name}" if run.returncode < 0 else "failed"
    last = (run.stdout.splitlines() or ["before the first call"])[-1]
    assert run.returncode == 0, f"{died} at: {last}\n{run.stderr[-3000:]}"
