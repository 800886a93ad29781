"""The tests are tested: each mutant is one wrong line, planted in a copy, and some test must turn red.

`make test-the-tests` plants all of them, one at a time; `tests/test_planted.py` a few of those in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutant:
    """One wrong line: what it does, where it stands, and the tests that are asked first because they should see it."""

    says: str
    path: str
    text: str
    replacement: str
    tests: Sequence[str]

    def plant(self, source: Path) -> None:
        """Write the wrong line into the copy of its file."""
        original = source.read_text(encoding="utf-8")
        found = original.count(self.text)
        if found != 1:
            raise ValueError(f"{self.path}: {self.text!r} is there {found} times, not once: state {self.says!r} anew")
        source.write_text(original.replace(self.text, self.replacement), encoding="utf-8")
