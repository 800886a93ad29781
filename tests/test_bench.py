"""The benchmarks run end to end on small arrays, and never time a wrong answer. No time is asserted."""

import json
import os
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import extremum as ex
from benchmarks import (
    __main__,
    answers,
    instruction_sets,
    matrix,
    memory,
    peers,
    publish,
    record,
    report,
    saturation,
    scaling,
    sessions,
    sizes,
    summary,
)
from benchmarks.expected import agrees, answer
from benchmarks.inputs import LAYOUTS, arrays, draw
from benchmarks.matrix import Case
from benchmarks.peers.contender import Prepared
from benchmarks.run import WrongResultError, measure_case
from extremum import _native

ROOT = Path(__file__).resolve().parent.parent

SMALL = (
    Case("full", "argmax", "float32", (257,)),
    Case("full", "argmin", "uint8", (257,)),
    Case("long rows", "argmax", "int16", (9, 70), (1,), last=True),
    Case("non-last axis", "argmax", "bfloat16", (9, 70), (0,)),
    Case("several axes", "argmax", "float16", (6, 5, 4), (0, 2)),
    Case("several axes", "argmax", "float64", (6, 5, 4), (0, 2), last=True),
    *(Case("views", "argmax", "int32", (6, 5, 4), (2,), layout=layout) for layout in LAYOUTS),
    Case("elementwise", "max", "float16", (6, 5), operands=3, broadcast="row"),
    Case("elementwise", "max", "uint64", (6, 5), operands=4, broadcast="column"),
    Case("elementwise", "min", "float32", (6, 5), operands=8, broadcast="scalar"),
    Case("views", "max", "float32", (6, 5), operands=3, layout="fortran"),
    Case("hardmax", "hardmax", "float32", (6, 5), (0,)),
    Case("hardmax", "hardmax", "bfloat16", (6, 5, 4), (1, 2), opset=11),
)


def prepared_case(case):
    numbers = draw(case)
    return numbers, answer(case, numbers), arrays(case, numbers)


class Wrong:
    """A contender whose answers are off by one."""

    version = "0"

    def __init__(self, name):
        self.name = name

    def prepare(self, case, arrays):
        return Prepared(lambda: np.argmax(arrays[0]) + 1)


class Refusing:
    name = "refusing"
    version = "0"

    def prepare(self, case, arrays):
        raise RuntimeError("no kernel\nfor this type")


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_we_and_numpy_give_the_expected_answer(case):
    _, right, operands = prepared_case(case)
    for contender in (*peers.installed(1, ["extremum"]), *peers.installed(1, ["numpy"])):
        prepared = contender.prepare(case, operands)
        assert agrees(case, prepared.read(prepared.call()), right)


def test_a_wrong_answer_of_ours_stops_the_run():
    numbers, right, _ = prepared_case(SMALL[0])
    with pytest.raises(WrongResultError, match=re.escape(f"{SMALL[0].name} gives a wrong result")):
        measure_case(SMALL[0], numbers, right, [Wrong(record.OURS)], 1e-4)


def test_a_peer_that_is_wrong_or_refuses_is_recorded_and_not_timed():
    numbers, right, _ = prepared_case(SMALL[0])
    contenders = [*peers.installed(1, ["extremum"]), Wrong("wrong"), Refusing()]
    found = measure_case(SMALL[0], numbers, right, contenders, 1e-4)
    assert found.wrong == ["wrong"]
    assert found.absent == {"refusing": "no kernel for this type"}
    assert list(found.seconds) == [record.OURS]


def test_the_matrices_have_every_element_type_and_names_of_their_own():
    for cases, number in ((matrix.full(), 1164), (matrix.quick(), 222)):
        assert len({case.name for case in cases}) == len(cases) == number
    assert {case.kind for case in matrix.full()} == set(matrix.KINDS)
    assert {case.layout for case in matrix.full()} == set(LAYOUTS)
    assert {case.element_type for case in matrix.full()} == set(matrix.ELEMENT_TYPES)


def test_the_summary_counts_what_is_lost():
    def case(name, ours, numpy):
        return record.CaseRecord(name, "full", "argmax", "int8", 1 << 21, 1 << 21, {"extremum": ours, "numpy": numpy})

    overall = summary.speed([case("a", 2e-4, 3e-4), case("b", 4e-4, 2e-4)])
    assert (overall.judged, overall.lost, overall.worst, overall.worst_name) == (2, 1, 0.5, "b")
    assert overall.mean == pytest.approx(0.75**0.5)


def test_a_run_in_a_process_of_its_own_is_held_to_its_instruction_set_and_writes_a_report(tmp_path):
    # The peers set their threads in the environment, and NumPy reads at import what it may not use.
    name = next(
        name for name, (*_, ours) in instruction_sets.SETS.items() if set(ours) & set(_native.instruction_sets())
    )
    pattern = "argmax/(float32|int8)/.1024./axis=all/first"
    words = ["--filter", pattern, "--time-per-case", "0.001", "--json", "-o", tmp_path / "out"]
    command = [sys.executable, "-m", "benchmarks", "--instruction-set", name, *words]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    assert [case["name"] for case in found["cases"]] == [
        f"argmax/{element}/(1024)/axis=all/first" for element in ("float32", "int8")
    ]
    assert found["machine"]["instruction set"] in instruction_sets.SETS[name][2]
    assert (tmp_path / "out" / "bench.md").exists()
    with pytest.raises(FileExistsError, match=re.escape("bench.json exists and is not overwritten")):
        report.require_free(tmp_path / "out")


def test_numpy_and_xla_are_held_by_what_their_process_finds():
    held = instruction_sets.environment("x86-64-v2", {"XLA_FLAGS": "--a"}, {"X86_V3": True, "X86_V4": False})
    assert held["NPY_DISABLE_CPU_FEATURES"] == "X86_V3"
    assert held["XLA_FLAGS"] == "--a --xla_cpu_max_isa=SSE4_2"


def test_the_command_refuses_a_filter_that_chooses_nothing():
    result = CliRunner().invoke(__main__.bench, ["--list", "--filter", "nothing"])
    assert result.exit_code == 2
    assert result.output.endswith("Error: no case matches --filter 'nothing'; see the names with --list\n")


def test_a_table_by_processor_keeps_the_rows_of_others(tmp_path):
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "performance.md"
    old = "| processor | case | int8 |\n| --- | ---: | ---: |\n| B | max | 0.80 |\n| A | max | 0.10 |\n"
    page.write_text(f"before\n<!-- memory -->\n{old}<!-- /memory -->\nafter\n", encoding="utf-8")
    publish.publish_rows(
        "memory", ("processor", "case", "int8"), [["A", "max", "0.90"], ["A", "min", "0.70"]], tmp_path
    )
    new = old.split("| B")[0] + "| A | max | 0.90 |\n| A | min | 0.70 |\n| B | max | 0.80 |\n"
    assert page.read_text(encoding="utf-8") == f"before\n<!-- memory -->\n{new}<!-- /memory -->\nafter\n"


@pytest.mark.parametrize("element", memory.TYPES)
def test_memory_is_measured_after_answers_are_compared(element, monkeypatch):
    found = list(memory.measure(element, 1 << 18, 1 << 17, 1))
    assert [name for name, *_ in found] == list(memory.CASES)
    assert all(over > 0 and share > 0 for _, over, share in found)
    monkeypatch.setitem(memory.CASES, "max", (np.min, np.max))
    with pytest.raises(AssertionError, match=f"{element} max"):
        list(memory.measure(element, 1 << 18, 1 << 17, 1))


def test_sizes_double_and_have_every_line():
    points = list(sizes.measure(1 << 21, 1e-4))
    assert [(point.line, point.read) for point in points] == [
        (line, read) for read, line in product((1 << 20, 1 << 21), sizes.LINES)
    ]


@pytest.fixture
def keep_processors():
    """Put back the processors that a benchmark leaves to this process; the tests after it have threads."""
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    yield
    if before is not None:
        os.sched_setaffinity(0, before)


@pytest.mark.usefixtures("keep_processors")
def test_answers_with_masks_and_policies_are_compared_and_timed(monkeypatch):
    case = answers.Case("float32", 0, "columns")
    monkeypatch.setitem(answers.LAYOUTS, "columns", (lambda _: (20, 20), 0))
    monkeypatch.setattr(answers, "CASES", [case])
    result = CliRunner().invoke(answers.answers, ["--filter", "columns", "--seconds", "0.01", "--every"])
    assert result.exit_code == 0, result.output
    assert "float32 0 MB, columns: where, half: where / all" in result.output
    monkeypatch.setattr(ex, "max", lambda *arguments, **_: np.max(*arguments[:2]) + 1)
    with pytest.raises(AssertionError, match=r"float32 0 MB, columns: max"):
        answers.contenders(case)


def test_threads_are_compared_and_timed(set_threads, monkeypatch):
    set_threads(1)
    monkeypatch.setattr(scaling, "SIZES", (8, 64))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    result = CliRunner().invoke(scaling.scaling, ["--filter", "maximum", "--seconds", "0.001"])
    assert result.exit_code == 0, result.output
    assert "| maximum with a row |" in result.output
    monkeypatch.setattr(ex, "argmax", lambda *_: ex.get_num_threads())
    with pytest.raises(AssertionError, match="argmax of everything, 8 KB, 2 threads"):
        scaling._speeds("argmax of everything", 8, 2, 0.01)


def test_more_threads_than_memory_feeds_are_not_worth_it():
    kind = saturation.Kind("argmax", one=30e9, handover=0.0, measured=1.9)
    assert kind.speedup(16, 1e8, 100e9) == pytest.approx(10 / 3)
    assert kind.best(1e8, 100e9) == 4


def test_a_node_is_compared_and_timed_in_both_sessions(monkeypatch):
    assert all(each > 0 for each in sessions.seconds(sessions.node("Max", "float16", "(2,3) (3)"), 1, 0.01))

    class WrongSession(ex.onnxruntime.InferenceSession):
        def run(self, *arguments):
            return [output + 1 for output in super().run(*arguments)]

    monkeypatch.setattr(ex.onnxruntime, "InferenceSession", WrongSession)
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        sessions.seconds(sessions.node("ArgMax<axis=1>", "float", "(2,3)"), 1, 0.01)


def test_chunks_are_timed_with_both():
    pytest.importorskip("distributed")
    from benchmarks import large

    rows = list(large.matrix(1, [((40, 30), (10, 7), "float32", 0, "argmax")]))
    assert [row[5] for row in rows] == ["synchronous", "threads"]
    assert all(float(row[6]) > 0 for row in rows)
