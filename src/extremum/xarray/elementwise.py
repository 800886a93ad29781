"""``hardmax``, ``maximum`` and ``minimum``: results that have the dimensions of what they are of.

Decides how operands meet: by the names of their dimensions, with equal labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

import xarray as xr
from numpy.typing import NDArray

import extremum as ex
from extremum.errors import ArgumentError, ExtremumError
from extremum.signatures import HardmaxOptions, NanPolicy, like
from extremum.xarray.labelled import Dims, each_variable, mask, named, require_labelled

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["hardmax", "maximum", "minimum"]

X = TypeVar("X", xr.DataArray, xr.Dataset)


@like("hardmax", without=("out",))
def hardmax(x: X, dim: Dims, **options: Unpack[HardmaxOptions]) -> X:
    """Ones at the first maximum along the dimensions that are named, zeros elsewhere.

    Parameters
    ----------
    x, where
        As for :func:`extremum.xarray.argmax`.
    dim : hashable or sequence of hashable
        The dimensions along which there is one 1.
    nan_policy : str, default "propagate"
        As for :func:`extremum.hardmax`.

    Returns
    -------
    xarray.DataArray or xarray.Dataset
        With all coordinates and attributes.

    Raises
    ------
    ArgumentError, ElementTypeError
        As :func:`extremum.xarray.argmax`.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> extremum.xarray.hardmax(xr.DataArray([[1, 5], [7, 0]], dims=("day", "hour")), "hour").values
    array([[0, 1],
           [1, 0]])
    """
    require_labelled("hardmax", x)
    if isinstance(x, xr.Dataset):
        return each_variable(x, "hardmax", dim, lambda each, own: (hardmax(each, own, **options),))[0]
    axes = tuple(map(x.get_axis_num, named("hardmax", dim, x)))
    options["where"] = mask("hardmax", options["where"], x)
    return x.copy(data=ex.hardmax(x.data, axes, **options))


_TEXT = """Elementwise {superlative}, broadcast by the names of dimensions.

    Parameters
    ----------
    *arrays : xarray.DataArray, xarray.Dataset, array_like or number
        At least one of xarray's; the labels of dimensions that they share have to be equal.
    nan_policy : str, default "propagate"
        As for :func:`extremum.{name}`.
    where : xarray.DataArray or array_like of bool, optional
        Positions that are compared; its labels have to be equal, too. Elsewhere the result has the elements of the
        first operand.

    Returns
    -------
    xarray.DataArray or xarray.Dataset
        In the type of ``numpy.result_type``, with the attributes that the operands share.

    Raises
    ------
    ArgumentError, ElementTypeError
        The labels differ, or as :func:`extremum.{name}`.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> row, column = xr.DataArray([1, 5], dims="x"), xr.DataArray([3, 6], dims="y")
    >>> extremum.xarray.{name}(row, column).values
    {example}
    """


class _Elementwise(Protocol):
    @overload
    def __call__(
        self, *arrays: xr.DataArray | NDArray[Any] | float, **options: Unpack[HardmaxOptions]
    ) -> xr.DataArray: ...
    @overload
    def __call__(  # type: ignore[overload-cannot-match]
        self, *arrays: xr.Dataset | xr.DataArray | NDArray[Any] | float, **options: Unpack[HardmaxOptions]
    ) -> xr.Dataset: ...


def _elementwise(name: str, superlative: str, example: str) -> _Elementwise:
    """Make ``maximum`` or ``minimum``."""

    @like(name, _TEXT.format(name=name, superlative=superlative, example=example), without=("out",))
    def function(*arrays: Any, nan_policy: NanPolicy = "propagate", where: Any = None) -> Any:
        if not any(isinstance(x, xr.DataArray | xr.Dataset) for x in arrays):
            require_labelled(name, arrays[0] if arrays else None)
        # A mask meets the operands as they meet each other.
        several = arrays if where is None else (*arrays, where)

        def call(*found: Any) -> Any:
            own, rest = found[: len(arrays)], found[len(arrays) :]
            return getattr(ex, name)(*own, nan_policy=nan_policy, where=rest[0] if rest else None)

        try:
            return xr.apply_ufunc(call, *several, dask="allowed", join="exact", keep_attrs=True)
        except ExtremumError:
            raise
        except ValueError as error:
            raise ArgumentError(
                f"{name}: the operands differ in their labels: {str(error).splitlines()[0]}",
                remedy="align them first, as xarray.align(x, y) does",
            ) from None

    return function


maximum = _elementwise(
    "maximum",
    "largest",
    """array([[3, 6],
           [5, 6]])""",
)
minimum = _elementwise(
    "minimum",
    "smallest",
    """array([[1, 1],
           [3, 5]])""",
)
