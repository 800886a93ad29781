"""What the benchmark writes: the record, the figures read out of it, the tables and the charts."""

import json
import re
from dataclasses import replace

import pytest

from benchmarks import charts, markdown, record, report, summary


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
    assert overall.ceiling == pytest.approx((1.5 / 0.9 * 2) ** 0.5)
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
    overall = summary.speed([case])
    assert overall.lost == 1
    assert overall.ceiling == overall.mean


def test_the_tables_show_every_case_and_mark_the_lost_ones():
    text = markdown.render(recorded())
    rows = [line for line in text.split("## Every case")[1].splitlines() if line.startswith("| argmax/")]
    assert rows == [
        "| argmax/float32/(4096,1024)/axis=1/first | 200 us | *300 us* |  | 9 ms | 1.50 | 0.90 |",
        "| argmax/int8/(4096,1024)/axis=0/first | 400 us | *200 us* |  | wrong | **0.50** | 0.25 |",
        "| argmax/float32/(8)/axis=all/first | 100 ns | 800 ns | *100 ns* |  | 1.00 |  |",
    ]
    assert "| argmax/(4096,1024)/axis=1/first | 0.90 | - |" in text
    assert "| 2 MB | 30 us (x3.00) |" in text
    assert "| contiguous, axis 1 | 64.0 | 0.2 | 0.50 |" in text


def test_refreshing_a_document_changes_only_what_stands_between_markers():
    document = "before\n<!-- bench: peak memory -->\nold\n<!-- /bench: peak memory -->\nafter\n"
    once = markdown.refresh(document, [recorded()])
    assert once.startswith("before\n<!-- bench: peak memory -->\n| layout and work")
    assert once.endswith("<!-- /bench: peak memory -->\nafter\n")
    assert "old" not in once
    assert markdown.refresh(once, [recorded()]) == once


def test_charts_are_drawn_from_readings_and_only_from_readings():
    files = charts.draw([recorded()])
    assert sorted(files) == ["limit.png", "limit.svg", "size.png", "size.svg", "speed.png", "speed.svg"]
    assert all(content.startswith(b"\x89PNG") for name, content in files.items() if name.endswith("png"))
    assert b"fastest peer" in files["speed.svg"]
    # The figure stands with the name: there a phone shows it.
    assert re.search(rb">long rows, first index +\d+\.\dx<", files["speed.svg"])
    assert charts.draw([record.Run("quick", 1, "", 1.0, {}, {}, [])]) == {}


def test_charts_say_where_when_beside_whom_and_which_way():
    text = charts.draw([recorded()])["speed.svg"].decode()
    for words in ("A processor, 1 thread, 2026-01-01; beside numpy 2.4, jax 0.10", "slower", "faster"):
        assert words in text
    for name in ("limit.svg", "size.svg"):
        text = charts.draw([recorded()])[name].decode()
        assert "A processor, 1 thread, 2026-01-01" in text
        assert "faster" in text


def test_runs_with_more_threads_stand_beside_the_first():
    two = replace(recorded(), threads=2)
    assert sorted(charts.draw([recorded(), two]))[-4:] == [
        "speed-threads-2.png",
        "speed-threads-2.svg",
        "speed.png",
        "speed.svg",
    ]
    table = markdown.SECTIONS["speed over the fastest peer"]([recorded(), two])
    assert "| non-last axis, first index | 1 | 0.5 | 0.50 | 1 | 0.5 | 0.50 | 1 |" in table
    lost = markdown.SECTIONS["lost cases"]([recorded(), two]).splitlines()
    assert lost[2:] == [
        f"| argmax/int8/(4096,1024)/axis=0/first | {threads} | 400 us | numpy 200 us | 0.50 |" for threads in (1, 2)
    ]


def test_a_report_is_never_written_over(tmp_path):
    folder = tmp_path / "report"
    assert len(report.write(recorded(), folder)) == 8
    before = (folder / "bench.md").read_bytes()
    with pytest.raises(FileExistsError, match=re.escape("bench.json exists and is not overwritten")):
        report.write(recorded(), folder)
    assert (folder / "bench.md").read_bytes() == before
