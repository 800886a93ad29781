"""What the benchmark asks of a library: a name, a version, and per case a call that does the library's own work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.matrix import Case

__all__ = ["Contender", "Prepared"]


class Prepared(NamedTuple):
    """A case made ready by one library.

    Attributes
    ----------
    call : callable
        Does the work once; this is what the clock sees.
    read : callable
        Turns what ``call`` returned into an array, outside the clock.
    """

    call: Callable[[], Any]
    read: Callable[[Any], NDArray[Any]] = np.asarray


class Contender(Protocol):
    """A library in the benchmark."""

    @property
    def name(self) -> str:
        """What the tables call it."""

    @property
    def version(self) -> str:
        """The installed version."""

    def prepare(self, case: Case, arrays: Sequence[NDArray[Any]]) -> Prepared | None:
        """Make a case ready, or return None where the library has no such function; it may also raise."""
