"""``top_k`` over dimensions by name."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

import xarray as xr

import extremum as ex
from extremum.errors import ArgumentError
from extremum.reductions import as_mask
from extremum.signatures import ValuesIndices, like
from extremum.xarray.dimensions import dims_of, each_variable, mask, reduced, require_labelled
from extremum.xarray.reductions import argmax

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from extremum.signatures import TopKOptions
    from extremum.xarray.dimensions import Dims, X

_NEW = "k"
"""The dimension of a result over several dimensions."""


@like("top_k", after=[argmax])
def top_k(x: X, k: SupportsIndex, dim: Dims = None, **options: Unpack[TopKOptions]) -> ValuesIndices[X, X]:
    """Largest or smallest k elements over the dimensions that are named, with their indices.

    Parameters
    ----------
    k : int
        How many elements are wanted, from 0 to the number of elements over the dimensions.
    dim : hashable or sequence of hashable, optional
        The dimensions over which they are wanted; all of them by default.

    Returns
    -------
    ValuesIndices of two xarray.DataArray or xarray.Dataset
        One dimension stays, with length `k` and without its coordinates, because each slice has its own order. Several
        dimensions become a new last one, named ``k``, and the indices count row-major over them, in the order of the
        array. The coordinates of the other dimensions stay. :func:`idxtop_k` gives the labels.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={"hour": [6, 12, 18]})
    >>> best = extremum.xarray.top_k(x, 2, "hour")
    >>> best.values.values
    array([[5, 5],
           [7, 7]])
    >>> x.hour[best.indices].values
    array([[12, 18],
           [ 6, 18]])
    >>> extremum.xarray.top_k(x, 3).values.values
    array([7, 7, 5])
    """
    require_labelled("top_k", x)
    dims = dims_of("top_k", dim, x)
    # Of a Dataset, variables that have only one of several dimensions get the new one too.
    new = () if len(dims) == 1 else (_NEW,)
    if new:
        _require_free(x, dims)
    select = partial(_select, k=k, new=new, **options)
    if isinstance(x, xr.Dataset):
        best = each_variable(x, "top_k", dims, select)
    else:
        best = select(x, dims)
    return cast("ValuesIndices[X, X]", best)


def _require_free(x: xr.DataArray | xr.Dataset, dims: Sequence[Hashable]) -> None:
    """Refuse an array in which something that stays has the name of the new dimension."""
    names = {name: "coordinate" for name, coord in x.coords.items() if not set(coord.dims) & set(dims)}
    names |= dict.fromkeys(set(x.dims).difference(dims), "dimension")
    if isinstance(x, xr.Dataset):
        names |= dict.fromkeys(x.data_vars, "variable")
    if _NEW in names:
        raise ArgumentError(
            f"top_k: there is a {names[_NEW]} {_NEW!r}, and the result needs a dimension of that name",
            remedy=f"rename it: x.rename({_NEW}=...)",
        )


def _select(
    x: xr.DataArray, dims: Sequence[Hashable], *, k: Any, new: tuple[str, ...], where: Any, **options: Any
) -> Any:
    """Select the k best over some dimensions, along the one that stays or a new one."""
    plain_mask = mask("top_k", where, x)
    if not new:
        axis = x.get_axis_num(dims[0])
        return reduced(x, dims, ex.top_k(x.data, k, axis, where=plain_mask, **options), keepdims=True)
    most = math.prod(x.sizes[name] for name in dims)
    if isinstance(k, int) and k > most:
        raise ArgumentError(
            f"top_k: k is {k}, and there are {most} elements over {', '.join(map(repr, dims))}",
            given=f"sizes {dict(x.sizes)}",
            remedy=f"pass k from 0 to {most}",
        )
    if hasattr(x.data, "dask"):
        from extremum.dask.selection import top_k_over

        axes = x.get_axis_num(dims)
        return reduced(x, dims, top_k_over(x.data, k, axes, where=plain_mask, **options), new=new)
    if plain_mask is not None:
        plain_mask = _in_a_row(x, dims, as_mask("top_k", plain_mask, x.shape))
    return reduced(x, dims, ex.top_k(_in_a_row(x, dims, x.data), k, -1, where=plain_mask, **options), new=new)


def _in_a_row(x: xr.DataArray, dims: Sequence[Hashable], data: Any) -> Any:
    """Return an array in the shape of `x` with the elements over some dimensions along its last axis, row-major."""
    others = [name for name in x.dims if name not in dims]
    # The lengths are written out: NumPy cannot infer one beside a length of 0.
    lengths = [*(x.sizes[name] for name in others), math.prod(x.sizes[name] for name in dims)]
    return xr.Variable(x.dims, data).transpose(*others, *dims).data.reshape(lengths)
