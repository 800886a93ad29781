"""A sample of the random calls that sanitizers watch; in a process of its own, which a crash may end."""

import subprocess
import sys
from pathlib import Path

DRIVER = Path(__file__).with_name("random_calls.py")


def test_random_calls_agree_with_the_reference():
    words = [str(DRIVER), "--sessions", "--compared", "0.5", "--calls", "2000"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "2000 calls in" in done.stdout


def test_a_wrong_answer_is_found_and_names_its_call():
    program = """
import extremum, numpy as np, random_calls
extremum.hardmax = lambda x, *_, **given: np.zeros(x.shape, x.dtype)
random_calls.main()
"""
    words = ["-c", program, "--compared", "1", "--calls", "200"]
    done = subprocess.run(
        [sys.executable, *words], cwd=DRIVER.parent, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 1
    assert "of seed 1 failed" in done.stdout
    assert "WrongError" in done.stderr
