"""What an array of another library becomes here: plain elements, which of them are there, and the way back.

Decides the shape of an adapter's answer. Each adapter is a file of this folder, named after its library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.arrays import as_result, not_there
from extremum.errors import ArgumentError

__all__ = ["Adopted", "Kept", "Wrap", "as_it_is"]

Kept = Callable[[], tuple[int, ...]]
"""Says for each axis of a result which axis of the input it was, or -1."""

Wrap = Callable[[NDArray[Any], Kept], Any]
"""Makes a result an array of the caller's library."""


def as_it_is(result: NDArray[Any], kept: Kept) -> Any:
    """Return a result as NumPy's own functions do."""
    return as_result(result)


@dataclass(slots=True)
class Adopted:
    """An array of another library, as the kernels can read it."""

    array: NDArray[Any]
    wrap: Wrap = as_it_is
    # False where an element is missing; None where all are there.
    present: NDArray[np.bool_] | None = None
    # Whether the caller hid them, as a mask does; nulls are only left out where the NaN policy says so.
    hidden: bool = False
    # Whose array it is; of one call's arrays all have to be of one library.
    library: str = "numpy"
    # What names the places along each axis, where the library has that; equal for all operands of one call.
    labels: tuple[Any, ...] = ()
    # The time zone of elements that are instants: they are in UTC here, and `wrap` gives them their zone back.
    zone: str | None = None

    def require_no_zone(self, out: Any) -> None:
        """Refuse to write instants into an array that cannot say in which zone they are."""
        if out is not None and self.zone:
            raise ArgumentError(
                f"out is NumPy's and has no time zone, and the elements are in the zone {self.zone}",
                remedy="leave out away, or convert the elements to UTC without a zone first",
            )

    def require_all(self, remedy: str, *, given: str) -> None:
        """Refuse an array of which elements are missing."""
        if self.present is not None and (count := int(self.present.size - np.count_nonzero(self.present))):
            raise not_there(count, "masked" if self.hidden else "missing", given=given, remedy=remedy)

    def mask(self, function: str) -> NDArray[Any]:
        """Return the elements of a mask, of which none may be missing: it would be neither True nor False."""
        if self.present is not None and (count := int(self.present.size - np.count_nonzero(self.present))):
            raise ArgumentError(
                f"{function}: where has {count} missing element{'s'[: count > 1]}, neither True nor False",
                remedy="fill them with what they are to mean",
            )
        return self.array
