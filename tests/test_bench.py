"""The benchmarks run end to end on small arrays, and never time a wrong answer. No time is asserted."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import peers, record
from benchmarks.expected import answer
from benchmarks.inputs import arrays, draw
from benchmarks.matrix import Case
from benchmarks.peers.contender import Prepared
from benchmarks.run import WrongResultError, measure_case

ROOT = Path(__file__).resolve().parent.parent


def test_a_run_compares_answers_and_writes_a_report(tmp_path):
    words = ["--filter", "argmax/(float32|int8)/.1024./axis=all/first", "--time-per-case", "0.001", "--json"]
    command = [sys.executable, "-m", "benchmarks", *words, "-o", tmp_path / "out"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    names = [case["name"] for case in found["cases"]]
    assert names == [f"argmax/{element}/(1024)/axis=all/first" for element in ("float32", "int8")]
    assert (tmp_path / "out" / "bench.md").exists()


class Wrong:
    """A contender whose answers are off by one."""

    version = "0"

    def __init__(self, name):
        self.name = name

    def prepare(self, case, arrays):
        return Prepared(lambda: np.argmax(arrays[0]) + 1)


def test_a_wrong_answer_stops_the_run_or_leaves_the_peer_out():
    case = Case("full", "argmax", "float32", (257,))
    numbers = draw(case)
    assert arrays(case, numbers)
    with pytest.raises(WrongResultError, match="gives a wrong result"):
        measure_case(case, numbers, answer(case, numbers), [Wrong(record.OURS)], 1e-4)
    contenders = [*peers.installed(1, ["extremum"]), Wrong("wrong")]
    found = measure_case(case, numbers, answer(case, numbers), contenders, 1e-4)
    assert (found.wrong, list(found.seconds)) == (["wrong"], [record.OURS])
