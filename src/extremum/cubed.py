"""``argmax`` and ``argmin`` of cubed's arrays over any set of axes; parts merge as they do for Dask.

cubed's own argmax takes one axis, and rechunks the whole array to reduce all of them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from extremum.errors import ArgumentError, ArgumentTypeError, required_by

with required_by("extremum.cubed"):
    import cubed
    from cubed.core import reduction

from extremum.interop import Operand
from extremum.partials import Pieces, places
from extremum.reductions import ENDS, Reduction, flag, index_type
from extremum.signatures import ArgKeywords, Axes, like

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["argmax", "argmin"]
__dir__ = __all__.copy

_TEXT = """Index of the {superlative} element of a cubed array over any set of axes; the result is lazy.

    Parameters
    ----------
    x : cubed.Array
        Any chunks.
    axis, keepdims, select_last_index, dtype, nan_policy, default
        As for :func:`extremum.{name}`.
    where, out : None
        A mask or an array to write to is an error.

    Returns
    -------
    cubed.Array
        In the chunks of the remaining axes.

    Raises
    ------
    ArgumentError, AxisError, ElementTypeError
        As in :func:`extremum.{name}`.
    ArgumentTypeError
        `x` is not an array of cubed.

    Examples
    --------
    >>> import cubed
    >>> import cubed.array_api as xp
    >>> import extremum.cubed
    >>> extremum.cubed.{name}(xp.asarray([[1, 5], [7, 0], [7, 9]], chunks=(2, 1)), axis=0).compute()
    {example}
    """


class _Arg(Protocol):
    def __call__(self, x: cubed.Array, /, axis: Axes = None, **options: Unpack[ArgKeywords]) -> cubed.Array: ...


def _arg(function: str, superlative: str, example: str) -> _Arg:
    @like(function, _TEXT.format(name=function, superlative=superlative, example=example))
    def arg(x: cubed.Array, /, axis: Axes = None, **options: Any) -> cubed.Array:
        keepdims, dtype, default = (options.pop(name) for name in ("keepdims", "dtype", "default"))
        if options["where"] is not None or options.pop("out") is not None:
            reason = f"{function}: of a cubed array it takes neither a mask nor an array to be written to"
            raise ArgumentError(reason, remedy="omit where and out")
        if not isinstance(x, cubed.Array):
            raise ArgumentTypeError(f"{function}: {type(x).__qualname__} is no array of cubed's")
        keepdims, index = flag(function, "keepdims", keepdims), index_type(function, dtype)
        # cubed removes the reduced axes itself.
        call = Reduction(function, ENDS[function], axis, True, **options)
        pieces = Pieces.plan(call, x.shape, np.dtype(x.dtype), values=False, index=index, default=default)
        fields = [("i", pieces.part_index), ("v", x.dtype)]
        chunks = tuple((1,) * len(sizes) if at in pieces.axes else sizes for at, sizes in enumerate(x.chunks))
        parts = cubed.map_blocks(partial(_part, pieces=pieces, sizes=x.chunksize), x, dtype=fields, chunks=chunks)
        merge, finish = (partial(step, pieces=pieces) for step in (_merge, _finish))
        about = {"axis": pieces.axes, "intermediate_dtype": fields, "dtype": pieces.types[0], "keepdims": keepdims}
        return reduction(parts, merge, aggregate_func=finish, **about)

    return arg


argmax = _arg("argmax", "largest", "array([1, 2])")
argmin = _arg("argmin", "smallest", "array([0, 1])")


def _part(block: Any, *, pieces: Pieces, sizes: tuple[int, ...], block_id: tuple[int, ...]) -> dict[str, Any]:
    offset = tuple(at * size for at, size in zip(block_id, sizes, strict=True))
    ((values, indices),) = pieces.part(Operand(np.asarray(block)), offset)
    return {"i": indices, "v": values}


def _merge(several: Any, *, pieces: Pieces, **_: Any) -> dict[str, Any]:
    shape = several["i"].shape
    sizes = [1 if axis in pieces.axes else length for axis, length in enumerate(shape)]
    ((values, indices),) = pieces.merge([((several["v"][at], several["i"][at]),) for at in places(shape, sizes)])
    return {"i": indices, "v": values}


def _finish(part: Any, *, pieces: Pieces) -> Any:
    (indices,) = pieces.finish([((part["v"], part["i"]),)], (0,) * len(pieces.shape))
    return indices
