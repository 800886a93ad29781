"""Put recorded runs into the documentation: the records, the figures of docs/performance*.md, and the charts.

    python -m benchmarks.publish one/bench.json two/bench.json

The runs are of one machine and differ in their number of threads; the one with the fewest is the one that the tables
show. Overwrites what earlier runs left there; the text of the documents between the figures stays as it is.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import charts, machine, markdown, record

__all__ = ["DOCUMENTS", "name", "publish"]

ROOT = Path(__file__).resolve().parent.parent

# The page that a reader comes to, and the one with everything.
DOCUMENTS = ("performance.md", "performance-tables.md")


def publish(sources: Sequence[Path], root: Path = ROOT) -> list[Path]:
    """Write everything that is made from the ``bench.json`` of some reports, and return the files written."""
    runs = sorted((record.loads(source.read_text(encoding="utf-8")) for source in sources), key=lambda run: run.threads)
    recorded = root / "benchmarks" / "recorded"
    contents = {recorded / name(run): record.dumps(run).encode() for run in runs}
    for page in DOCUMENTS:
        document = root / "docs" / page
        contents[document] = markdown.refresh(document.read_text(encoding="utf-8"), runs).encode()
    contents |= {root / "docs" / "charts" / chart: content for chart, content in charts.draw(runs).items()}
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return list(contents)


def name(run: record.Run) -> str:
    """Return the name of a run's record."""
    return f"{machine.slug(run.machine['processor'])}-threads-{run.threads}.json"


if __name__ == "__main__":
    for written in publish([Path(source) for source in sys.argv[1:]]):
        sys.stdout.write(f"wrote {written.relative_to(ROOT)}\n")
