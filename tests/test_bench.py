"""A run of the benchmark: it never times a wrong answer, and it reads sizes and memory. No time is asserted."""

import json
import re
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from bench_cases import SMALL, prepared_case, run_python
from benchmarks import footprint, machine, peers, record, sizes
from benchmarks.expected import agrees
from benchmarks.inputs import LAYOUTS
from benchmarks.peers.contender import Prepared
from benchmarks.run import WrongResultError, measure, measure_case
from benchmarks.timing import interleave


@pytest.fixture(scope="module")
def numpy_peer():
    return peers.installed(1, ["numpy"])[0]


@pytest.fixture(scope="module")
def ours():
    return peers.installed(1, ["extremum"])[0]


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
def test_we_and_numpy_give_the_expected_answer(case, ours, numpy_peer):
    _, right, arrays = prepared_case(case)
    for contender in (ours, numpy_peer):
        prepared = contender.prepare(case, arrays)
        assert agrees(case, prepared.read(prepared.call()), right)


def test_a_wrong_answer_of_ours_stops_the_run():
    case = SMALL[0]
    numbers, right, _ = prepared_case(case)
    with pytest.raises(WrongResultError, match=re.escape(f"{case.name} gives a wrong result")):
        measure_case(case, numbers, right, [Wrong(record.OURS)], 1e-4)


def test_a_peer_that_is_wrong_or_refuses_is_recorded_and_not_timed(ours):
    case = SMALL[0]
    numbers, right, _ = prepared_case(case)
    found = measure_case(case, numbers, right, [ours, Wrong("wrong"), Refusing()], 1e-4)
    assert found.wrong == ["wrong"]
    assert found.absent == {"refusing": "no kernel for this type"}
    assert list(found.seconds) == [record.OURS]


def test_a_hopeless_contender_leaves_after_the_first_reading_and_we_stay(monkeypatch):
    counts, clock = Counter(), [0.0]
    monkeypatch.setattr("benchmarks.timing.perf_counter", lambda: clock[0])

    def work(name, seconds):
        counts[name] += 1
        clock[0] += seconds

    calls = {
        "ours": partial(work, "ours", 0.02),
        "quick": partial(work, "quick", 0.001),
        "hopeless": partial(work, "hopeless", 0.02),
    }
    times = interleave(calls, 0.2, keep=["ours"])
    assert counts["hopeless"] == 1
    assert counts["ours"] > 1
    assert list(times) == ["ours", "quick", "hopeless"]


def test_every_installed_peer_answers_rightly_or_refuses():
    # A process of its own, as peers set their threads in the environment. OpenVINO's Hardmax takes any of equals.
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1])\n"
        "from bench_cases import SMALL, prepared_case\n"
        "from benchmarks import peers\n"
        "from benchmarks.run import measure_case\n"
        "contenders = (*peers.installed(1, ['extremum']), *peers.installed(1))\n"
        "for case in SMALL:\n"
        "    numbers, right, _ = prepared_case(case)\n"
        "    print(json.dumps([case.operator, measure_case(case, numbers, right, contenders, 1e-3).wrong]))"
    )
    for line in run_python(code, str(Path(__file__).parent)).splitlines():
        operator, wrong = json.loads(line)
        assert wrong == [] or (operator, wrong) == ("hardmax", ["openvino"])


def test_a_library_that_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    assert peers.installed(1, ["numpy", "polars"])[-1].name == "numpy"


def test_the_machine_says_what_it_is():
    assert {"processor", "cores", "system", "instruction set"} <= set(machine.describe())


def test_sizes_double_and_have_every_line():
    points = list(sizes.measure(1 << 21, 1e-4))
    assert [(point.line, point.read) for point in points] == [
        (line, read) for read in (1 << 20, 1 << 21) for line in sizes.LINES
    ]


def test_the_memory_probe_sees_a_copy():
    probe = "from benchmarks.footprint import probe; import numpy as np; print(probe('', 'fortran', {}).extra)"
    lean, copying = (
        int(run_python(probe.format(work)))
        for work in ("lambda x: np.zeros(1)", "lambda x: np.ascontiguousarray(x)[:1, :1, :1].copy()")
    )
    assert lean < 1 << 20
    assert copying > 0.99 * 64 * 512 * 512 * 4


def test_a_run_end_to_end(ours, numpy_peer):
    done = []
    run = measure("two", SMALL[:2], (ours, numpy_peer), 1, 1e-3, 0, done.append)
    assert done == [case.name for case in SMALL[:2]]
    assert run.versions.keys() == {"extremum", "numpy"}
    assert [set(case.seconds) for case in run.cases] == [{"extremum", "numpy"}] * 2
    assert all(case.limit is not None and case.limit > 0 for case in run.cases)
    assert record.loads(record.dumps(run)).machine == run.machine


def test_every_probe_of_memory_names_a_layout():
    assert {layout for layout, _ in footprint.WORK.values()} == set(LAYOUTS)
