"""The benchmark: what it measures, that it never times a wrong answer, and what it writes. No figure is asserted."""

import json
import re
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from extremum.bench import charts, footprint, machine, markdown, matrix, peers, record, report, sizes, summary
from extremum.bench.expected import agrees, answer
from extremum.bench.inputs import LAYOUTS, draw, place, span, typed
from extremum.bench.matrix import Case
from extremum.bench.peers.contender import Prepared
from extremum.bench.run import WrongResultError, measure, measure_case
from extremum.bench.timing import interleave
from extremum.cli.bench import bench
from extremum.errors import ArgumentError

SMALL = (
    Case("full", "argmax", "float32", (257,)),
    Case("full", "argmin", "uint8", (257,)),
    Case("long rows", "argmax", "int16", (9, 70), (1,), last=True),
    Case("non-last axis", "argmax", "bfloat16", (9, 70), (0,)),
    Case("several axes", "argmax", "float16", (6, 5, 4), (0, 2)),
    Case("several axes", "argmax", "float64", (6, 5, 4), (0, 2), last=True),
    Case("full", "argmax", "float32", (6, 5, 4), last=True),
    *(Case("views", "argmax", "int32", (6, 5, 4), (2,), layout=layout) for layout in LAYOUTS),
    Case("elementwise", "max", "int64", (40,), operands=2),
    Case("elementwise", "max", "float16", (6, 5), operands=3, broadcast="row"),
    Case("elementwise", "max", "uint64", (6, 5), operands=4, broadcast="column"),
    Case("elementwise", "min", "float32", (6, 5), operands=8, broadcast="scalar"),
    Case("hardmax", "hardmax", "float32", (6, 5), (0,)),
    Case("hardmax", "hardmax", "bfloat16", (6, 5, 4), (1, 2), opset=11),
)


@pytest.fixture(scope="module")
def numpy_peer():
    return peers.installed(1, ["numpy"])[0]


@pytest.fixture(scope="module")
def ours():
    return peers.installed(1, ["extremum"])[0]


def prepared_case(case):
    numbers = draw(case)
    return numbers, answer(case, numbers), [place(typed(n, case.element_type), case.layout) for n in numbers]


def run_python(code, *arguments):
    return subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True).stdout


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


def test_case_names_are_unique_and_readable():
    cases = matrix.full()
    assert len({case.name for case in cases}) == len(cases)
    for name in (
        "argmax/float32/(8)/axis=all/first",
        "argmax/bfloat16/(8,21,512,512)/axis=1/last",
        "argmax/uint64/(64,256,256)/axis=(0,2)/first",
        "argmax/int8/(4096,1024)/axis=1/last/fortran",
        "max/float32/(1048576)/operands=4",
        "max/int16/(4096,1024)/operands=2/column",
        "hardmax/float16/(64,256,256)/axis=(1,2)/opset=11",
    ):
        assert name in {case.name for case in cases}


def test_the_matrix_has_every_element_type_and_tie_on_every_reduction():
    cases = matrix.full()
    counts = Counter((case.shape, case.axes, case.layout) for case in cases if case.operator == "argmax")
    assert len(counts) == 33
    assert set(counts.values()) == {2 * len(matrix.ELEMENT_TYPES)}
    assert len(matrix.ELEMENT_TYPES) == 12
    assert len(cases) == 1056
    assert {case.kind for case in cases} == set(matrix.KINDS)
    assert {case.layout for case in cases} == set(LAYOUTS)


def test_the_quick_matrix_holds_every_case_of_a_promise():
    names = {case.name for case in matrix.quick()}
    assert names < {case.name for case in matrix.full()}
    everything = [record.CaseRecord(name, "", "", "", 1, 1, {record.OURS: 1.0, "numpy": 1.0}) for name in names]
    run = record.Run("quick", 1, "", 1.0, {}, {}, everything)
    over_numpy = [promise for promise in summary.promises(run) if "numpy" in promise.what or "np." in promise.what]
    assert all(promise.value == 1.0 for promise in over_numpy)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_changes_neither_shape_nor_values(layout):
    values = np.broadcast_to(np.arange(20).reshape(1, 4, 5), (3, 4, 5))
    placed = place(values, layout)
    assert placed.shape == values.shape
    np.testing.assert_array_equal(placed, values)


def test_a_span_counts_the_memory_reached_over():
    dtype = np.dtype(np.int32)
    spans = {layout: span(empty((4, 6, 8), dtype)) for layout, empty in LAYOUTS.items()}
    dense = 4 * 6 * 8 * 4
    assert spans == {
        "contiguous": dense,
        "transposed": dense,
        "fortran": dense,
        "strided": 2 * dense - 4,
        "reversed": dense,
        "broadcast": 6 * 8 * 4,
    }


def test_numbers_keep_their_order_in_every_element_type():
    numbers = np.arange(-127, 128, dtype=np.int8)
    for element in matrix.ELEMENT_TYPES:
        values = typed(numbers, element)
        assert values.dtype.name == element
        assert (values[1:] > values[:-1]).all()


def test_answers_worked_out_by_hand():
    numbers = np.array([[3, 1, 3], [0, 5, 5]], np.int8)
    by_hand = {
        Case("", "argmax", "int8", (2, 3)): 4,
        Case("", "argmax", "int8", (2, 3), last=True): 5,
        Case("", "argmin", "int8", (2, 3)): 3,
        Case("", "argmax", "int8", (2, 3), (1,)): [0, 1],
        Case("", "argmax", "int8", (2, 3), (1,), last=True): [2, 2],
        Case("", "argmin", "int8", (2, 3), (0,)): [1, 0, 0],
        Case("", "hardmax", "int8", (2, 3), (1,)): [[1, 0, 0], [0, 1, 0]],
        Case("", "hardmax", "int8", (2, 3), (0,)): [[1, 0, 0], [0, 1, 1]],
        Case("", "hardmax", "int8", (2, 3), (0, 1), opset=11): [[0, 0, 0], [0, 1, 0]],
    }
    for case, right in by_hand.items():
        np.testing.assert_array_equal(answer(case, [numbers]), right)
    pair = [np.array([1, 7], np.int8), np.array([2, 2], np.int8)]
    np.testing.assert_array_equal(answer(Case("", "max", "int8", (2,), operands=2), pair), [2, 7])
    np.testing.assert_array_equal(answer(Case("", "min", "int8", (2,), operands=2), pair), [1, 2])


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case.name)
def test_we_and_numpy_give_the_expected_answer(case, ours, numpy_peer):
    _, right, arrays = prepared_case(case)
    for contender in (ours, numpy_peer):
        prepared = contender.prepare(case, arrays)
        assert agrees(case, prepared.read(prepared.call()), right)


def test_a_value_or_a_shape_that_is_off_does_not_agree():
    case = SMALL[2]
    _, right, _ = prepared_case(case)
    assert agrees(case, right.astype(np.int32), right)
    assert not agrees(case, right[:, None], right)
    right_but_one = right.copy()
    right_but_one[3] += 1
    assert not agrees(case, right_but_one, right)


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


def test_a_hopeless_contender_leaves_after_the_first_reading_and_we_stay():
    counts = Counter()

    def work(name, seconds):
        counts[name] += 1
        time.sleep(seconds)

    calls = {
        "ours": partial(work, "ours", 0.02),
        "quick": partial(work, "quick", 0.0),
        "hopeless": partial(work, "hopeless", 0.02),
    }
    times = interleave(calls, 0.2, keep=["ours"])
    assert counts["hopeless"] == 1
    assert counts["ours"] > 1
    assert list(times) == ["ours", "quick", "hopeless"]


def test_every_installed_peer_answers_rightly_or_refuses():
    # A process of its own, as peers set their threads in the environment. OpenVINO's Hardmax takes any of equals.
    code = (
        "import sys, json; sys.path.insert(0, sys.argv[1]); from test_bench import *\n"
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


def recorded():
    cases = [
        record.CaseRecord(
            "argmax/float32/(4096,1024)/axis=1/first",
            "long rows",
            "argmax",
            "float32",
            16_777_216,
            16_809_984,
            {"extremum": 2e-4, "numpy": 3e-4, "jax": 9e-3},
            1.8e-4,
        ),
        record.CaseRecord(
            "argmax/int8/(4096,1024)/axis=0/first",
            "non-last axis",
            "argmax",
            "int8",
            4_194_304,
            4_202_496,
            {"extremum": 4e-4, "numpy": 2e-4},
            1e-4,
            ["jax"],
        ),
        record.CaseRecord(
            "argmax/float32/(8)/axis=all/first",
            "call",
            "argmax",
            "float32",
            32,
            40,
            {"extremum": 1e-7, "numpy": 8e-7, "method": 1e-7},
        ),
    ]
    points = [
        record.SizeRecord("argmax of everything", 1 << 20, 1e-5, 9e-6),
        record.SizeRecord("argmax of everything", 1 << 21, 3e-5, 2e-5),
    ]
    return record.Run(
        "full",
        1,
        "2026-01-01T00:00:00Z",
        120.0,
        {"processor": "A processor"},
        {"extremum": "0.1", "numpy": "2.4", "method": "2.4", "jax": "0.10"},
        cases,
        points,
        [record.FootprintRecord("contiguous, axis 1", 1 << 26, 1 << 18, 1 << 19)],
    )


def test_a_record_survives_its_file():
    run = recorded()
    text = record.dumps(run)
    assert record.loads(text) == run
    assert json.loads(text)["cases"][1]["wrong"] == ["jax"]
    assert text.count("\n") == 20


def test_the_summary_of_a_record():
    run = recorded()
    overall = summary.speed(run.cases)
    assert (overall.judged, overall.lost) == (2, 1)
    assert overall.worst == 0.5
    assert overall.worst_name == "argmax/int8/(4096,1024)/axis=0/first"
    assert overall.mean == pytest.approx(0.75**0.5)
    promises = {promise.what: promise for promise in summary.promises(run)}
    assert promises["8 elements, over np.argmax"].value == pytest.approx(8)
    assert promises["8 elements, over np.argmax"].kept is True
    assert promises["worst speed over the fastest peer"].kept is False
    assert promises["share of the read limit, long rows, worst"].value == pytest.approx(0.9)
    assert promises["share of the read limit, non-last axis, worst"].kept is False
    assert promises["share of the read limit, short rows, worst"].kept is None
    assert promises["peak memory beyond the output, MiB"].kept is True


def test_a_slow_call_of_ours_beside_a_short_one_of_a_peer_counts():
    case = record.CaseRecord("a", "full", "argmax", "int8", 8, 16, {"extremum": 2e-6, "numpy": 5e-7})
    assert summary.speed([case]).lost == 1


def test_the_tables_show_every_case_and_mark_the_lost_ones():
    text = markdown.render(recorded())
    rows = [line for line in text.split("## Every case")[1].splitlines() if line.startswith("| argmax/")]
    assert rows == [
        "| argmax/float32/(4096,1024)/axis=1/first | 200 us | *300 us* |  | 9 ms | 1.50 | 0.90 |",
        "| argmax/int8/(4096,1024)/axis=0/first | 400 us | *200 us* |  | wrong | **0.50** | 0.25 |",
        "| argmax/float32/(8)/axis=all/first | 100 ns | 800 ns | *100 ns* |  | 1.00 |  |",
    ]
    assert "| 2 MB | 30 us (x3.00) |" in text
    assert "| contiguous, axis 1 | 64.0 | 0.2 | 0.50 |" in text


def test_refreshing_a_document_changes_only_what_stands_between_markers():
    document = "before\n<!-- bench: peak memory -->\nold\n<!-- /bench: peak memory -->\nafter\n"
    once = markdown.refresh(document, recorded())
    assert once.startswith("before\n<!-- bench: peak memory -->\n| layout and work")
    assert once.endswith("<!-- /bench: peak memory -->\nafter\n")
    assert "old" not in once
    assert markdown.refresh(once, recorded()) == once


def test_charts_are_drawn_from_readings_and_only_from_readings():
    files = charts.draw(recorded())
    assert sorted(files) == ["limit.png", "limit.svg", "size.png", "size.svg", "speed.png", "speed.svg"]
    assert all(content.startswith(b"\x89PNG") for name, content in files.items() if name.endswith("png"))
    assert b"fastest peer" in files["speed.svg"]
    assert charts.draw(record.Run("quick", 1, "", 1.0, {}, {}, [])) == {}


def test_a_report_is_never_written_over(tmp_path):
    folder = tmp_path / "report"
    assert len(report.write(recorded(), folder)) == 8
    before = (folder / "bench.md").read_bytes()
    with pytest.raises(ArgumentError, match=re.escape("bench.json exists and is not overwritten")):
        report.write(recorded(), folder)
    assert (folder / "bench.md").read_bytes() == before


def test_the_machine_says_what_it_is():
    assert {"processor", "cores", "system", "instruction set"} <= set(machine.describe())


def test_sizes_double_and_have_every_line():
    points = list(sizes.measure(1 << 21, 1e-4))
    assert [(point.line, point.read) for point in points] == [
        (line, read) for read in (1 << 20, 1 << 21) for line in sizes.LINES
    ]


def test_the_memory_probe_sees_a_copy():
    probe = "from extremum.bench.footprint import probe; import numpy as np; print(probe('', 'fortran', {}).extra)"
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


def test_the_command_lists_the_cases():
    result = CliRunner().invoke(bench, ["--list", "--quick", "--filter", "^hardmax/float32/.*opset=11"])
    assert result.exit_code == 0
    assert result.output == "hardmax/float32/(64,256,256)/axis=(1,2)/opset=11\n"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [("nothing", "no case matches --filter"), ("(", "--filter is not a regular expression: missing ), unterminated")],
)
def test_the_command_refuses_a_filter_that_chooses_nothing(pattern, message):
    result = CliRunner().invoke(bench, ["--list", "--filter", pattern])
    assert isinstance(result.exception, ArgumentError)
    assert result.exception.one_line().startswith(message)


def test_the_command_measures_and_writes_a_report(tmp_path):
    code = (
        "from extremum.cli.bench import bench; "
        "bench(['--filter', 'argmax/(float32|int8)/.1024./axis=all/first', '--time-per-case', '0.001', '--json', "
        f"'-o', {str(tmp_path / 'out')!r}])"
    )
    found = json.loads(run_python(code))
    assert [case["name"] for case in found["cases"]] == [
        "argmax/float32/(1024)/axis=all/first",
        "argmax/int8/(1024)/axis=all/first",
    ]
    assert (tmp_path / "out" / "bench.md").exists()
    assert json.loads((tmp_path / "out" / "bench.json").read_text()) == found


def test_the_command_says_what_charts_need():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from extremum.cli.bench import bench\n"
        "from extremum.errors import ArgumentError\n"
        "try:\n    bench(['-o', 'nowhere'])\nexcept ArgumentError as error:\n    print(error.one_line())"
    )
    assert run_python(code) == "--output needs matplotlib; help: pip install 'extremum[bench]'\n"


def test_the_command_refuses_a_folder_with_a_report_before_measuring(tmp_path):
    report.write(recorded(), tmp_path)
    code = (
        "import sys\nfrom extremum.cli.bench import bench\nfrom extremum.errors import ArgumentError\n"
        "try:\n    bench(['-o', sys.argv[1]])\nexcept ArgumentError as error:\n    print(error.one_line())"
    )
    assert "bench.json exists and is not overwritten" in run_python(code, str(tmp_path))


def test_every_probe_of_memory_names_a_layout():
    assert {layout for layout, _ in footprint.WORK.values()} == set(LAYOUTS)
