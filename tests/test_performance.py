"""docs/performance.md shows the recorded run, and publishing a run is what makes it so."""

import re
from pathlib import Path

from benchmarks import machine, markdown, record
from benchmarks.publish import publish

ROOT = Path(__file__).resolve().parent.parent
RECORDED = sorted((ROOT / "benchmarks" / "recorded").glob("*.json"))
DOCUMENT = ROOT / "docs" / "performance.md"


def small_run():
    case = record.CaseRecord(
        "argmax/int8/(1048576)/axis=all/first",
        "full",
        "argmax",
        "int8",
        1 << 20,
        (1 << 20) + 8,
        {"extremum": 2e-5, "numpy": 3e-5},
        1e-5,
    )
    return record.Run(
        "full",
        1,
        "2026-01-01T00:00:00Z",
        60.0,
        {"processor": "A Processor (R)"},
        {"extremum": "0.1", "numpy": "2.4"},
        [case],
    )


def test_the_document_has_a_marker_for_every_section():
    text = DOCUMENT.read_text(encoding="utf-8")
    assert re.findall(r"<!-- bench: ([a-z ]+) -->", text) == list(markdown.SECTIONS)
    assert re.findall(r"<!-- /bench: ([a-z ]+) -->", text) == list(markdown.SECTIONS)


def test_the_document_shows_a_recorded_run_or_no_figure_at_all():
    text = DOCUMENT.read_text(encoding="utf-8")
    shown = [markdown.refresh(text, record.loads(path.read_text(encoding="utf-8"))) for path in RECORDED]
    without = re.sub(r"(<!-- bench: ([a-z ]+) -->\n).*?(<!-- /bench: \2 -->)", r"\1\3", text, flags=re.DOTALL)
    assert text in (shown or [without]), "python -m benchmarks.publish on the recorded run"


def test_every_recorded_run_is_named_after_its_processor():
    for path in RECORDED:
        run = record.loads(path.read_text(encoding="utf-8"))
        assert path.stem == machine.slug(run.machine["processor"])


def test_publishing_writes_the_record_the_document_and_the_charts(tmp_path):
    (tmp_path / "docs").mkdir()
    document = tmp_path / "docs" / "performance.md"
    document.write_text(DOCUMENT.read_text(encoding="utf-8"), encoding="utf-8")
    source = tmp_path / "bench.json"
    source.write_text(record.dumps(small_run()), encoding="utf-8")

    written = {str(path.relative_to(tmp_path)) for path in publish(source, tmp_path)}

    assert written == {
        "benchmarks/recorded/a-processor.json",
        "docs/performance.md",
        *(f"docs/charts/{name}.{kind}" for name in ("speed", "limit") for kind in ("png", "svg")),
    }
    text = document.read_text(encoding="utf-8")
    assert "| argmax/int8/(1048576)/axis=all/first | 20 us | *30 us* | 1.50 | 0.50 |" in text
    assert markdown.refresh(text, small_run()) == text
