"""A sample of the fuzzing, the same cases every time; and that a finding is one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).with_name("fuzz")


def fuzz(*words, program=None):
    start = [str(FUZZ)] if program is None else ["-c", program]
    return subprocess.run(
        [sys.executable, *start, *words], capture_output=True, text=True, timeout=600, check=False, cwd=FUZZ
    )


def test_nothing_is_found(tmp_path):
    done = fuzz("--cases", "200", "--seconds", "300", "--keep", str(tmp_path))
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "fuzz: 200 cases" in done.stdout
    assert "fuzz: 0 findings" in done.stdout


BAD = {
    "an exception of another kind": ("raise KeyError('no')", "run KeyError at"),
    "a crash": ("import os; os.abort()", "run ended with -6"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="a signal that ends a process has a number elsewhere")
@pytest.mark.parametrize("bad", BAD)
def test_what_is_bad_is_found_and_kept(tmp_path, bad):
    """The child begins with a target that goes wrong; everything else is as it is."""
    statement, kind = BAD[bad]
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys\nsys.path.insert(0, {json.dumps(str(FUZZ))})\n"
        "if '--child' in sys.argv:\n"
        "    import targets\n"
        "    def run(random, folder):\n"
        "        targets.model(random, folder)\n"
        f"        {statement}\n"
        "    targets.TARGETS['run'] = run\n"
    )
    fuzzing = json.dumps(str(FUZZ))
    program = (
        f"import os, sys, runpy; os.environ['PYTHONPATH'] = {json.dumps(str(tmp_path))}; sys.argv[0] = {fuzzing}; "
        f"runpy.run_path({fuzzing}, run_name='__main__')"
    )
    done = fuzz("--cases", "2", "--targets", "run", "--keep", str(tmp_path / "kept"), program=program)
    assert done.returncode == 1, f"{done.stdout}\n{done.stderr}"
    assert kind in done.stdout
    assert (tmp_path / "kept" / "run-1-0" / "model.onnx").stat().st_size
