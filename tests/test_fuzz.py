"""A sample of the fuzzing, the same cases every time; and fuzzing reports what is bad."""

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).with_name("fuzz")


def fuzz(folder, *words):
    command = [sys.executable, str(FUZZ), "--keep", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, f"{done.stdout}\n{done.stderr}"


def test_nothing_is_found(tmp_path):
    status, text = fuzz(tmp_path, "--cases", "120", "--seconds", "300")
    assert status == 0, text
    assert "fuzz: 120 cases" in text
    assert "fuzz: 0 findings" in text


@pytest.mark.skipif(sys.platform == "win32", reason="a signal that ends a process has a number elsewhere")
@pytest.mark.parametrize(
    ("target", "kind"), [("raising", "raising KeyError at"), ("aborting", "aborting ended with -6")]
)
def test_what_is_bad_is_found_and_kept(tmp_path, target, kind):
    status, text = fuzz(tmp_path, "--cases", "2", "--targets", target)
    assert status == 1, text
    assert f"FOUND {kind}" in text
    assert "fuzz: 2 cases" in text
    assert (tmp_path / f"{target}-1-0" / "model.onnx").stat().st_size
