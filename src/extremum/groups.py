"""Groups and windows of an array, such as ``x.groupby("day")``: the call that works for them.

Such an object holds no elements. Its library applies a function to each group, or makes the windows an axis of their
own; this file knows how, and refuses the object itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from extremum.arrays import class_name
from extremum.errors import ArgumentTypeError
from extremum.functions import FUNCTIONS, Kind, of_kind

_SHAPE_STAYS = of_kind(Kind.ONE_HOT, Kind.ELEMENTWISE)
"""Functions whose result has the shape of the array."""

_SELECTIONS = of_kind(Kind.SELECTION)
"""Functions whose result has as many elements as the caller asks for."""


def _call(function: str, array: str, *options: str) -> str:
    """Return the call of an array function as text, with one of its results if it has several."""
    row = FUNCTIONS.get(function)
    own = [row.argument] if row is not None and row.argument else []
    # A library takes one result of each group.
    field = f".{row.main_field}" if row is not None and row.main_field else ""
    return f"{function}({', '.join([array, *own, *options])}){field}"


def _each_labelled(function: str, x: Any) -> str:
    return f"x.map(lambda group: extremum.xarray.{_call_by_name(function, 'group', 'dim')})"


def _each_dataset(function: str, x: Any) -> str:
    return f"x.map_over_datasets(lambda each: extremum.xarray.{_call_by_name(function, 'each', 'dim')})"


def _call_by_name(function: str, array: str, dim: str) -> str:
    """Return the call of a function of ``extremum.xarray`` as text."""
    if function in of_kind(Kind.ELEMENTWISE):
        return _call(function, array)
    if function == "idxtop_k":
        return f"idxtop_k({array}, k, {dim})"
    return _call(function, array, dim)


def _labelled_windows(function: str, x: Any) -> str:
    # A window is not a dimension of the array, so it has no labels: the index counts from its start.
    function = {"idxmax": "argmax", "idxmin": "argmin", "idxtop_k": "top_k"}.get(function, function)
    names: dict[Any, Any] = {}
    for name in getattr(x, "windows", None) or x.dim:
        window = f"{name}_window"
        names[name] = (name, window) if hasattr(x, "windows") else window
    new = [f"{name}_window" for name in names]
    dim = repr(new[0] if len(new) == 1 else new)
    return f"extremum.xarray.{_call_by_name(function, f'x.construct({names})', dim)}"


def _each_group(function: str, x: Any) -> str:
    if function in _SHAPE_STAYS:
        return f"x.transform(lambda group: extremum.{_call(function, 'group')})"
    if function in _SELECTIONS:
        group = "group" if x.ndim == 1 else "group[column]"
        return f"[extremum.{function}({group}, k) for name, group in x]"
    return f"x.agg(lambda group: extremum.{_call(function, 'group')})"


def _each_window(function: str, x: Any) -> str:
    if function in (*_SELECTIONS, *_SHAPE_STAYS):
        windows = "numpy.lib.stride_tricks.sliding_window_view(x.obj, length, 0)"
        return f"extremum.{_call(function, windows)}"
    return f"x.agg(lambda window: extremum.{_call(function, 'window')})"


def _each_frame(function: str, x: Any) -> str:
    if function in (*_SELECTIONS, *_SHAPE_STAYS):
        one = _call(function, "group[column]")
    else:
        one = f"{function}(group, axis=0)"
    return f"{{name: extremum.{one} for name, group in x}}"


_WAYS: dict[tuple[str, str], Callable[[str, Any], str]] = {
    ("xarray", "GroupBy"): _each_labelled,
    ("xarray", "DataTree"): _each_dataset,
    ("xarray", "Rolling"): _labelled_windows,
    ("xarray", "Coarsen"): _labelled_windows,
    ("pandas", "BaseGroupBy"): _each_group,
    ("pandas", "BaseWindow"): _each_window,
    ("polars", "GroupBy"): _each_frame,
    ("polars", "DynamicGroupBy"): _each_frame,
    ("polars", "RollingGroupBy"): _each_frame,
}
"""The call that works, as text in which `x` is the object, by the package and name of its class."""

CLASSES = tuple(_WAYS)
"""The classes that hold groups or windows."""


def refuse_groups(function: str, *values: Any, **_: Any) -> None:
    """Refuse values that hold groups or windows of an array."""
    for value in values:
        if (way := _way_of(type(value))) is not None:
            raise ArgumentTypeError(
                f"{function}: {class_name(value)} holds parts of an array, and no elements itself",
                remedy=f"call {way(function, value)}",
            )


def _way_of(cls: type) -> Callable[[str, Any], str] | None:
    keys = ((base.__module__.partition(".")[0], base.__name__) for base in cls.__mro__)
    return next((_WAYS[key] for key in keys if key in _WAYS), None)


BY_AXIS = {name: partial(refuse_groups, name) for name in FUNCTIONS}
"""The array functions for such a class: each of them refuses it."""
