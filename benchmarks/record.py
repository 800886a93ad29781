"""What a run of the benchmark leaves behind: every reading, the machine and the versions, as one JSON document.

Holds readings only. Ratios, shares and judgements are worked out from them in `summary`, so that an old record can be
read with a newer rule.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["LIMIT", "OURS", "CaseRecord", "FootprintRecord", "Run", "SizeRecord", "dumps", "loads"]

OURS = "extremum"
LIMIT = "read limit"


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """The readings of one case.

    Attributes
    ----------
    name, kind, operator, element_type : str
        From the case.
    read : int
        Bytes of memory that the inputs reach over.
    moved : int
        The same and the bytes of the output.
    seconds : dict of str to float
        Least time of a call, by contender.
    limit : float or None
        Seconds that reading ``moved`` bytes takes; None where the case is too small for it to mean anything.
    wrong : list of str
        Contenders whose answer was not the right one; they were not timed.
    absent : dict of str to str
        Contenders that could not run the case, with their own words.
    """

    name: str
    kind: str
    operator: str
    element_type: str
    read: int
    moved: int
    seconds: dict[str, float]
    limit: float | None = None
    wrong: list[str] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SizeRecord:
    """One point of cost over size: a line of the chart, bytes read, seconds of a call and of reading as much."""

    line: str
    read: int
    seconds: float
    limit: float


@dataclass(frozen=True, slots=True)
class FootprintRecord:
    """Memory that a whole process needed for one call: bytes of input and output, and the peak beyond both."""

    line: str
    read: int
    written: int
    extra: int


@dataclass(frozen=True, slots=True)
class Run:
    """A run of the benchmark.

    Attributes
    ----------
    matrix : str
        ``full``, ``quick``, or the filter that chose the cases.
    threads : int
        What every contender was held to.
    started : str
        UTC, ISO 8601.
    duration : float
        Seconds.
    machine, versions : dict of str to str
        Processor, caches, memory, system; every library that took part.
    cases : list of CaseRecord
        In the order of the matrix.
    sizes : list of SizeRecord
        Cost over size.
    footprints : list of FootprintRecord
        Peak memory.
    """

    matrix: str
    threads: int
    started: str
    duration: float
    machine: dict[str, str]
    versions: dict[str, str]
    cases: list[CaseRecord]
    sizes: list[SizeRecord] = field(default_factory=list)
    footprints: list[FootprintRecord] = field(default_factory=list)


def dumps(run: Run) -> str:
    """Return a run as JSON, one line per reading."""
    parts = []
    for key, value in asdict(run).items():
        if isinstance(value, list) and value:
            rows = ",\n  ".join(json.dumps(_rounded(row)) for row in value)
            parts.append(f'"{key}": [\n  {rows}\n ]')
        else:
            parts.append(f'"{key}": {json.dumps(_rounded(value))}')
    return "{\n " + ",\n ".join(parts) + "\n}\n"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, Mapping):
        return {key: _rounded(entry) for key, entry in value.items()}
    return value


def loads(text: str) -> Run:
    """Return the run that `dumps` wrote."""
    fields = json.loads(text)
    return Run(
        **{
            **fields,
            "cases": [CaseRecord(**row) for row in fields["cases"]],
            "sizes": [SizeRecord(**row) for row in fields.get("sizes", ())],
            "footprints": [FootprintRecord(**row) for row in fields.get("footprints", ())],
        }
    )
