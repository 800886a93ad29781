"""What a run says: speed over the fastest peer, shares of the read limit, the lines that were promised, and the rules.

Works on the readings of a record only; how it is shown is `markdown` and `charts`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.matrix import CALL, KINDS
from benchmarks.record import OURS, CaseRecord, Run

__all__ = [
    "GROUPS",
    "LARGE",
    "NOISE",
    "Promise",
    "Speed",
    "fastest_peer",
    "group",
    "judged_ratio",
    "lost",
    "promises",
    "ratio",
    "share",
    "shares",
    "speed",
]

# Two equal calls differ by this much on a quiet machine: a ratio from here on is not a loss.
NOISE = 0.95
# Shares are judged from this many bytes of input on: below, a call's fixed cost is seen and not the memory.
LARGE = 1_000_000
# Calls shorter than this are all overhead, which the calls on 8 elements judge.
_SHORT = 1e-6


_ENDS = {"first": ", first index", "last": ", last index"}

# Kinds of cases, those that find an index apart by which of equals they find: many peers know the first one alone.
GROUPS = tuple(
    f"{kind}{words}"
    for kind in KINDS
    for words in {
        "elementwise": ("",),
        "hardmax": ("",),
        "views": (*_ENDS.values(), ", elementwise"),
    }.get(kind, _ENDS.values())
)


@dataclass(frozen=True, slots=True)
class Speed:
    """Speed over the fastest peer over many cases.

    Attributes
    ----------
    judged, lost : int
        Cases that count, and those below `NOISE`.
    worst : float
        Least ratio, NaN where no case counts.
    worst_name : str
        Its case.
    mean : float
        Geometric mean of the ratios.
    ceiling : float
        The same if every case of 1 MB and more took no longer than its read limit: what kernels can reach at most.
    """

    judged: int
    lost: int
    worst: float
    worst_name: str
    mean: float
    ceiling: float


@dataclass(frozen=True, slots=True)
class Promise:
    """One promised figure: what it is, its value in this run (None: not measured), and the bound it has to keep to."""

    what: str
    value: float | None
    bound: float
    upper: bool = False

    @property
    def kept(self) -> bool | None:
        """Whether the value keeps to the bound; None where it was not measured."""
        if self.value is None or math.isnan(self.value):
            return None
        return self.value <= self.bound if self.upper else self.value >= self.bound


def group(case: CaseRecord) -> str:
    """Return which of `GROUPS` a case belongs to."""
    if case.operator.startswith("arg"):
        parts = case.name.split("/")
        return case.kind + _ENDS["last" if "last" in parts else "first"]
    return f"{case.kind}, elementwise" if case.kind == "views" else case.kind


def lost(cases: Iterable[CaseRecord]) -> list[tuple[float, CaseRecord]]:
    """Return the cases in which a peer is faster, and the ratios over it, the least first."""
    judged = ((times, case) for case in cases if (times := judged_ratio(case)) is not None and times < NOISE)
    return sorted(judged, key=lambda pair: pair[0])


def fastest_peer(case: CaseRecord) -> str | None:
    """Return the name of the fastest peer of a case, or None if it has none."""
    peers = {name: seconds for name, seconds in case.seconds.items() if name != OURS}
    return min(peers, key=peers.__getitem__) if peers else None


def ratio(case: CaseRecord, peer: str | None = None) -> float | None:
    """Return how many times faster this package is than a peer, by default the fastest one."""
    name = peer or fastest_peer(case)
    return case.seconds[name] / case.seconds[OURS] if name in case.seconds else None


def judged_ratio(case: CaseRecord) -> float | None:
    """Return the ratio over the fastest peer of a case that is more than overhead."""
    peer = fastest_peer(case)
    if peer is None or max(case.seconds[OURS], case.seconds[peer]) < _SHORT:
        return None
    return ratio(case, peer)


def share(case: CaseRecord) -> float | None:
    """Return the share of the read limit that a case reaches, its output counted as traffic."""
    if case.limit is None or case.read < LARGE:
        return None
    return case.limit / case.seconds[OURS]


def speed(cases: Iterable[CaseRecord]) -> Speed:
    """Sum up the ratios of the cases that have a peer and are not all overhead."""
    judged = [(times, case) for case in cases if (times := judged_ratio(case)) is not None]
    if not judged:
        return Speed(0, 0, math.nan, "", math.nan, math.nan)
    worst, slowest = min(judged, key=lambda pair: pair[0])
    at_limit = (times / min(share(case) or 1, 1) for times, case in judged)
    lost = sum(times < NOISE for times, _ in judged)
    mean = statistics.geometric_mean(times for times, _ in judged)
    return Speed(len(judged), lost, worst, slowest.name, mean, statistics.geometric_mean(at_limit))


def shares(cases: Sequence[CaseRecord], kind: str) -> dict[str, CaseRecord]:
    """Return the case with the least share of the read limit for every element type."""
    worst: dict[str, CaseRecord] = {}
    for case in cases:
        reached = share(case) if case.kind == kind else None
        if reached is not None:
            held = worst.get(case.element_type)
            if held is None or reached < (share(held) or math.inf):
                worst[case.element_type] = case
    return worst


def promises(run: Run) -> list[Promise]:
    """Return every promised figure with the value of this run."""
    by_name = {case.name: case for case in run.cases}
    overall = speed(run.cases)

    def over(name: str, peer: str | None = None) -> float | None:
        return ratio(by_name[name], peer) if name in by_name else None

    segmentation = "argmax/float32/(8,21,512,512)/axis=1/first"
    found = [
        Promise("worst speed over the fastest peer", overall.worst, NOISE),
        Promise("geometric mean over the fastest peer", overall.mean, 5),
        Promise(f"{segmentation} over onnxruntime", over(segmentation, "onnxruntime"), 3),
        Promise(f"{segmentation} over numpy", over(segmentation, "numpy"), 12),
        Promise("max of 4 float32 operands of 1M over the fastest peer", over("max/float32/(1048576)/operands=4"), 1.3),
        *(
            Promise(
                f"hardmax/float32/(4096,1024)/axis={axis} over onnxruntime",
                over(f"hardmax/float32/(4096,1024)/axis={axis}/opset=13", "onnxruntime"),
                3,
            )
            for axis in (0, 1)
        ),
        Promise("8 elements, over np.argmax", over("argmax/float32/(8)/axis=all/first", "numpy"), 2),
        Promise("8 elements, over the method a.argmax", over("argmax/float32/(8)/axis=all/first", "method"), 0.5),
    ]
    for kind, bound in KINDS.items():
        if bound is not None and kind != CALL:
            least = [reached for case in shares(run.cases, kind).values() if (reached := share(case)) is not None]
            found.append(Promise(f"share of the read limit, {kind}, worst", min(least, default=None), bound))
    extra = max((held.extra for held in run.footprints), default=None)
    found.append(Promise("peak memory beyond the output, MiB", None if extra is None else extra / 2**20, 1, upper=True))
    return found
