"""``maximum`` and ``minimum``, broadcast by the names of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import xarray as xr
from numpy.typing import NDArray

import extremum as ex
from extremum.errors import ArgumentError, ArgumentTypeError, ExtremumError
from extremum.groups import refuse_groups
from extremum.interop import labels_of
from extremum.signatures import like
from extremum.xarray.dimensions import require_labelled

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from extremum.signatures import HardmaxOptions

_Bare = NDArray[Any] | float


@overload
def maximum(*arrays: xr.DataArray | _Bare, **options: Unpack[HardmaxOptions]) -> xr.DataArray: ...
@overload
def maximum(*arrays: xr.Dataset | xr.DataArray | _Bare, **options: Unpack[HardmaxOptions]) -> xr.Dataset: ...  # type: ignore[overload-cannot-match]
@like("maximum", without=["out"])
def maximum(*arrays: Any, **options: Any) -> Any:
    """Elementwise largest, broadcast by the names of dimensions.

    Parameters
    ----------
    *arrays : xarray.DataArray, xarray.Dataset, array_like or number
        At least one is xarray's; shared dimensions must have equal labels.
    where : xarray.DataArray or array_like of bool, optional
        The positions to compare; its labels have to be equal, too. Elsewhere the result has the elements of the
        first operand.

    Returns
    -------
    xarray.DataArray or xarray.Dataset
        In the type of ``numpy.result_type``, with the attributes that the operands share.

    Raises
    ------
    ArgumentError, ElementTypeError
        The labels differ, or as in :func:`extremum.maximum`.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> row, column = xr.DataArray([1, 5], dims="x"), xr.DataArray([3, 6], dims="y")
    >>> extremum.xarray.maximum(row, column).values.tolist()
    [[3, 6], [5, 6]]
    """
    return _extremum("maximum", arrays, **options)


@overload
def minimum(*arrays: xr.DataArray | _Bare, **options: Unpack[HardmaxOptions]) -> xr.DataArray: ...
@overload
def minimum(*arrays: xr.Dataset | xr.DataArray | _Bare, **options: Unpack[HardmaxOptions]) -> xr.Dataset: ...  # type: ignore[overload-cannot-match]
@like("minimum", after=[maximum], without=["out"])
def minimum(*arrays: Any, **options: Any) -> Any:
    """Elementwise smallest, broadcast by the names of dimensions.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> row, column = xr.DataArray([1, 5], dims="x"), xr.DataArray([3, 6], dims="y")
    >>> extremum.xarray.minimum(row, column).values.tolist()
    [[1, 1], [3, 5]]
    """
    return _extremum("minimum", arrays, **options)


def _extremum(name: str, arrays: tuple[Any, ...], where: Any = None, **options: Any) -> Any:
    refuse_groups(name, *arrays)
    if not any(isinstance(x, xr.DataArray | xr.Dataset) for x in arrays):
        require_labelled(name, arrays[0] if arrays else None)
    # Align the mask with the operands as they align with each other.
    several = arrays if where is None else (*arrays, where)
    for each in several:
        _require_named(name, each)

    def call(*data: Any) -> Any:
        mask = None if where is None else data[-1]
        return getattr(ex, name)(*data[: len(arrays)], where=mask, **options)

    try:
        return xr.apply_ufunc(call, *several, dask="allowed", join="exact", keep_attrs=True)
    except ExtremumError:
        raise
    except ValueError as error:
        raise ArgumentError(
            f"{name}: the operands differ in their labels: {str(error).splitlines()[0]}",
            remedy="align them first, as xarray.align(x, y) does",
        ) from None


def _require_named(name: str, x: Any) -> None:
    """Refuse an array with labels of another library: they belong to no dimension with a name."""
    if labels_of(x) and not isinstance(x, xr.DataArray | xr.Dataset):
        library = type(x).__module__.partition(".")[0]
        raise ArgumentTypeError(
            f"{name}: arrays of {library} and of xarray in one call",
            remedy="convert them to arrays of one library first, as xarray.DataArray(y) does",
        )
