"""PyArrow's arrays: elements in place where there is no null, which is missing."""

from __future__ import annotations

from typing import Any

import pyarrow
import pyarrow.compute
from numpy.typing import NDArray

from extremum.arrays import as_array
from extremum.interop.adopted import Adopted, Kept, as_it_is

__all__ = ["adopt"]


def adopt(x: Any) -> Adopted | None:
    """Return the elements, and which of them are there; None for PyArrow's other objects."""
    if not isinstance(x, pyarrow.Array | pyarrow.ChunkedArray):
        return None
    present = None
    if x.null_count:
        present = x.is_valid().to_numpy(zero_copy_only=False)
        valid = x.drop_null()
        # Any element will do in the place of a null: its own is not read.
        x = pyarrow.compute.fill_null(x, valid[0]) if len(valid) else pyarrow.array([0] * len(x))
    array = x.to_numpy() if isinstance(x, pyarrow.ChunkedArray) else x.to_numpy(zero_copy_only=False)

    def back(result: NDArray[Any], kept: Kept) -> Any:
        return pyarrow.array(result) if kept() == (0,) else as_it_is(result, kept)

    return Adopted(as_array(array), back, present, library="pyarrow")
