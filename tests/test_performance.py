"""The pages of figures show the recorded runs, and publishing runs is what makes it so."""

import re
from dataclasses import replace
from pathlib import Path

from benchmarks import markdown, publish, record

ROOT = Path(__file__).resolve().parent.parent
RECORDED = sorted((ROOT / "benchmarks" / "recorded").glob("*.json"))
DOCUMENTS = [ROOT / "docs" / page for page in publish.DOCUMENTS]
MARKER = re.compile(r"<!-- (/?)bench: ([a-z ]+) -->")


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


def test_every_section_stands_on_one_of_the_pages():
    texts = [document.read_text(encoding="utf-8") for document in DOCUMENTS]
    for closing in ("", "/"):
        found = [name for text in texts for slash, name in MARKER.findall(text) if slash == closing]
        assert sorted(found) == sorted(markdown.SECTIONS)


def test_the_pages_show_the_recorded_runs():
    runs = sorted((record.loads(path.read_text(encoding="utf-8")) for path in RECORDED), key=lambda run: run.threads)
    assert [run.threads for run in runs] == [1, 2]
    assert len({run.machine["processor"] for run in runs}) == 1
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        assert text == markdown.refresh(text, runs), "python -m benchmarks.publish on the recorded runs"


def test_every_recorded_run_is_named_after_its_processor_and_threads():
    for path in RECORDED:
        assert path.name == publish.name(record.loads(path.read_text(encoding="utf-8")))


def test_publishing_writes_the_records_the_pages_and_the_charts(tmp_path):
    (tmp_path / "docs").mkdir()
    for document in DOCUMENTS:
        (tmp_path / "docs" / document.name).write_text(document.read_text(encoding="utf-8"), encoding="utf-8")
    runs = [small_run(), replace(small_run(), threads=2)]
    sources = [tmp_path / f"{run.threads}.json" for run in runs]
    for source, run in zip(sources, runs, strict=True):
        source.write_text(record.dumps(run), encoding="utf-8")

    written = {str(path.relative_to(tmp_path)) for path in publish.publish(sources[::-1], tmp_path)}

    assert written == {
        *(f"benchmarks/recorded/a-processor-threads-{threads}.json" for threads in (1, 2)),
        *(f"docs/{page}" for page in publish.DOCUMENTS),
        *(f"docs/charts/{name}.{kind}" for name in ("speed", "speed-threads-2", "limit") for kind in ("png", "svg")),
    }
    text = (tmp_path / "docs" / publish.DOCUMENTS[1]).read_text(encoding="utf-8")
    assert "| argmax/int8/(1048576)/axis=all/first | 20 us | *30 us* | 1.50 | 0.50 |" in text
    assert markdown.refresh(text, runs) == text
