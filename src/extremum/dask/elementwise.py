"""``maximum`` and ``minimum`` of Dask arrays, NumPy's and numbers: one task for each chunk of the result."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np

from extremum import elementwise, reductions
from extremum.arrays import class_name
from extremum.dask.chunks import element_type, probe_shape, require_chunked, require_equal, sharing_unknown
from extremum.dask.processors import share
from extremum.dask.tasks import META
from extremum.errors import ArgumentTypeError, within
from extremum.groups import refuse_groups
from extremum.interop import Operand, as_operand, common_library
from extremum.signatures import like

if TYPE_CHECKING:
    from dask.array import Array
    from typing_extensions import Unpack

    from extremum.signatures import HardmaxOptions


@like("maximum")
def maximum(*arrays: Any, out: None = None, **options: Unpack[HardmaxOptions]) -> Array:
    """Elementwise largest of Dask arrays, NumPy's and numbers; the result is lazy.

    Parameters
    ----------
    *arrays : dask.array.Array, array_like or number
        At least one is Dask's. They are broadcast, and cut wherever one of them has a chunk boundary.
    out : None
        A lazy result cannot be written to an array: pass it to ``dask.array.store``.
    where : array_like of bool, optional
        The positions to compare, Dask's or NumPy's. Elsewhere the result has the elements of the first operand.

    Returns
    -------
    dask.array.Array
        In the type of ``numpy.result_type``.

    Raises
    ------
    ArgumentError, ElementTypeError
        At once, as in :func:`extremum.maximum`, and if chunks of unknown size meet chunks of known size or a different
        number of chunks. When the result is computed, for NaN under ``raise``.
    ArgumentTypeError
        An array is of another library, or no operand is Dask's.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> extremum.dask.maximum(da.arange(4, chunks=2), 2).compute()
    array([2, 2, 2, 3])
    """
    return _extremum("maximum", arrays, out, **options)


@like("minimum", after=[maximum])
def minimum(*arrays: Any, out: None = None, **options: Unpack[HardmaxOptions]) -> Array:
    """Elementwise smallest of Dask arrays, NumPy's and numbers; the result is lazy.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> extremum.dask.minimum(da.arange(4, chunks=2), 2).compute()
    array([0, 1, 2, 2])
    """
    return _extremum("minimum", arrays, out, **options)


def _extremum(
    function: str, arrays: tuple[Any, ...], out: Any, nan_policy: str = "propagate", where: Any = None
) -> Any:
    reductions.require_policy(function, nan_policy)
    dask_arrays = [x for x in arrays if isinstance(x, da.Array)]
    if not dask_arrays:
        refuse_groups(function, *arrays)
        raise ArgumentTypeError(
            f"{function}: no operand is a Dask array", remedy=f"call extremum.{function}, or pass one"
        )
    require_chunked(function, dask_arrays[0], out)
    operands = [_operand(function, x) for x in arrays]
    # A call on one element of each operand gives the element type of the result, and the errors about types.
    # A list is whole in it, because its type depends on its elements.
    sequences = [at for at, x in enumerate(arrays) if isinstance(x, Sequence)]
    probes = [
        np.ones((1,) * x.ndim, element_type(function, x)) if hasattr(x, "ndim") else x for x in operands
    ]
    for at in sequences:
        probes[at] = arrays[at]
    dtype = np.asarray(elementwise.extremum(function, tuple(probes), None, "propagate")).dtype
    for at in sequences:
        operands[at] = operands[at].astype(dtype, copy=False)
    # For shapes and chunks, a mask is one more operand.
    operands.append(None if where is None else _mask(function, where))
    shapes = [probe_shape(x) for x in operands if hasattr(x, "ndim")]
    unknown = sharing_unknown(function, operands, builtins.max(map(len, shapes)))
    # Each operand goes with its axes in the result, numbers with None.
    rank = len(elementwise.broadcast_shape(function, shapes))
    axes = tuple(range(rank))
    pairs: list[Any] = []
    for x in operands:
        pairs += [x, axes[rank - x.ndim :] if hasattr(x, "ndim") else None]
    kernel = partial(_compare, function, nan_policy, unknown)
    return da.blockwise(kernel, axes, *pairs, token=f"extremum-{function}", dtype=dtype, meta=META)


def _operand(function: str, x: Any) -> Any:
    """Return an operand as Dask takes it, or refuse it."""
    if isinstance(x, bool | int | float):
        return x
    if isinstance(x, da.Array):
        # Dask would repeat each chunk of such an axis, even a chunk without elements.
        return x.rechunk(
            {axis: 1 for axis, sizes in enumerate(x.chunks) if sum(sizes) == 1 and len(sizes) > 1}
        )
    with within(function):
        operand = as_operand(x)
        common_library([Operand(operand.array, library="dask"), operand])
        return operand.whole(class_name(x))


def _mask(function: str, where: Any) -> Any:
    if not isinstance(where, da.Array):
        return reductions.as_mask(function, where)
    reductions.as_mask(function, np.ones((), element_type(function, where)))
    return _operand(function, where)


def _compare(function: str, nan_policy: str, unknown: dict[int, list[int]], *blocks: Any) -> Any:
    """Compare the chunks at one place; the last block is the mask."""
    require_equal(function, unknown, blocks)
    with share():
        return elementwise.extremum(function, blocks[:-1], None, nan_policy, blocks[-1])
