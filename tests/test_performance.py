"""The page of figures has the sections that runs fill, and publishing runs fills them."""

import re
from dataclasses import replace
from pathlib import Path

from benchmarks import markdown, publish, record

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
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


def test_every_section_of_the_page_is_one_that_a_run_fills():
    text = PAGE.read_text(encoding="utf-8")
    opened, closed = ([name for slash, name in MARKER.findall(text) if slash == each] for each in ("", "/"))
    assert opened == closed
    assert set(opened) == set(markdown.SECTIONS) - {"every case", "share of the read limit"}


def test_publishing_writes_the_page_and_the_charts_that_pages_show(tmp_path):
    (tmp_path / "docs").mkdir()
    for page in ("performance.md", "index.md"):
        (tmp_path / "docs" / page).write_text((PAGE.parent / page).read_text(encoding="utf-8"), encoding="utf-8")
    runs = [small_run(), replace(small_run(), threads=2)]
    sources = [tmp_path / f"{run.threads}.json" for run in runs]
    for source, run in zip(sources, runs, strict=True):
        source.write_text(record.dumps(run), encoding="utf-8")

    written = {str(path.relative_to(tmp_path / "docs")) for path in publish.publish(sources[::-1], tmp_path)}

    assert written == {
        "performance.md",
        *(f"charts/{name}" for name in ("speed.png", "speed.svg", "speed-threads-2.svg", "limit.svg")),
    }
    text = (tmp_path / "docs" / "performance.md").read_text(encoding="utf-8")
    assert "| full, first index | 1 | 1.5 | 1.50 | 0 | 1.5 | 1.50 | 0 |" in text
    assert markdown.refresh(text, runs) == text


def test_every_chart_is_shown_by_a_page():
    pages = "".join(page.read_text(encoding="utf-8") for page in (*PAGE.parent.glob("*.md"), ROOT / "README.md"))
    assert [each.name for each in (PAGE.parent / "charts").iterdir() if f"charts/{each.name}" not in pages] == []
