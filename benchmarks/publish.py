"""Put a recorded run into the documentation: the record itself, the figures of docs/performance.md, and the charts.

    python -m benchmarks.publish out/bench.json

Overwrites what an earlier run left there; the text of the document between the figures stays as it is.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import charts, machine, markdown, record

__all__ = ["publish"]

ROOT = Path(__file__).resolve().parent.parent


def publish(source: Path, root: Path = ROOT) -> list[Path]:
    """Write everything that is made from the ``bench.json`` of a report, and return the files written."""
    run = record.loads(source.read_text(encoding="utf-8"))
    document = root / "docs" / "performance.md"
    recorded = root / "benchmarks" / "recorded" / f"{machine.slug(run.machine['processor'])}.json"
    contents = {
        recorded: record.dumps(run).encode(),
        document: markdown.refresh(document.read_text(encoding="utf-8"), run).encode(),
        **{root / "docs" / "charts" / name: content for name, content in charts.draw(run).items()},
    }
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return list(contents)


if __name__ == "__main__":
    for written in publish(Path(sys.argv[1])):
        sys.stdout.write(f"wrote {written.relative_to(ROOT)}\n")
