"""Our own package, called as its users call it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

import extremum
from benchmarks import instruction_sets
from benchmarks.matrix import Case
from benchmarks.peers.contender import Prepared

__all__ = ["Extremum", "connect"]


class Extremum:
    """extremum.argmax and its siblings."""

    name = "extremum"
    version = extremum.__version__

    def prepare(self, case: Case, arrays: Sequence[NDArray[Any]]) -> Prepared:
        """Bind the arrays and the arguments that differ from their defaults."""
        if case.elementwise:
            elementwise = extremum.maximum if case.operator == "max" else extremum.minimum
            return Prepared(partial(elementwise, *arrays))
        if case.operator == "hardmax":
            return Prepared(partial(extremum.hardmax, arrays[0], case.reduced))
        options: dict[str, Any] = {}
        if case.axes is not None:
            options["axis"] = case.axes[0] if len(case.axes) == 1 else case.axes
        if case.last:
            options["select_last_index"] = True
        pick = extremum.argmax if case.operator == "argmax" else extremum.argmin
        return Prepared(partial(pick, arrays[0], **options))


def connect(threads: int) -> Extremum:
    """Set the number of threads and the instruction set, and return the adapter."""
    instruction_sets.hold()
    extremum.set_num_threads(threads)
    return Extremum()
