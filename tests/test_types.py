"""Types for readers of code: a file of user code passes mypy and pyright, and runs."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

CODE = Path(__file__).with_name("user_code.py")


@pytest.mark.parametrize(
    "checker",
    [["mypy", "--strict", "--no-incremental"], ["basedpyright", "--level", "error", "--pythonpath", sys.executable]],
    ids=["mypy", "pyright"],
)
def test_user_code_passes(checker):
    tool = pytest.importorskip(checker[0], reason=f"{checker[0]} is among the lint tools, which make tools installs")
    assert tool
    run = subprocess.run(
        [sys.executable, "-m", *checker, CODE], capture_output=True, text=True, cwd=CODE.parent, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_the_check_can_fail(checker, tmp_path):
    pytest.importorskip(checker, reason=f"{checker} is among the lint tools, which make tools installs")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import numpy as np\nimport extremum as ex\nrow: str = ex.argmax(np.zeros(3), axis=1)\n")
    options = ["--pythonpath", sys.executable] if checker == "basedpyright" else []
    run = subprocess.run(
        [sys.executable, "-m", checker, *options, wrong], capture_output=True, cwd=tmp_path, check=False
    )
    assert run.returncode == 1


def test_user_code_runs():
    runpy.run_path(str(CODE))
