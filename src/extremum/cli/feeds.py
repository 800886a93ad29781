"""What a model is fed: the inputs it declares, each from a file or at random.

Decides how symbolic dimensions get their sizes. How a file becomes an array is :mod:`extremum.cli.array_file`'s, what
is drawn at random :mod:`extremum.cli.drawing`'s, whether the arrays fit the model is :mod:`extremum.backend`'s to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from extremum.cli.array_file import read_array
from extremum.cli.drawing import Drawing
from extremum.errors import InputError
from extremum.graph.inputs import DeclaredInput
from extremum.printable import printable

__all__ = ["gather", "parse_assignments", "parse_sizes", "require_all"]

# ONNX states sizes as int64.
_LARGEST_SIZE = (1 << 63) - 1


def parse_assignments(assignments: Iterable[str]) -> dict[str, str]:
    """Split ``name=file`` texts into a mapping."""
    result: dict[str, str] = {}
    for text in assignments:
        name, _, value = text.partition("=")
        if not name or not value:
            raise InputError(f"{text!r} is not of the form name=file", remedy="write for example -i input=scores.npy")
        if name in result:
            raise InputError(f"input {name!r} is given twice", given=f"{result[name]} and {value}")
        result[name] = value
    return result


def parse_sizes(assignments: Iterable[str]) -> dict[str, int]:
    """Split ``dimension=size`` texts into a mapping."""
    result: dict[str, int] = {}
    for text in assignments:
        # The last equals sign: an exporter may put one into the name of a dimension, a size has none.
        name, _, size = text.rpartition("=")
        if not name or not (size.isascii() and size.isdigit()):
            raise InputError(f"{text!r} is not of the form dimension=size", remedy="write for example --set batch=8")
        size = size.lstrip("0") or "0"
        # By the digits first: Python converts no text of thousands of them.
        if len(size) > len(str(_LARGEST_SIZE)) or int(size) > _LARGEST_SIZE:
            raise InputError(
                f"the size of dimension {name!r} is too large",
                given=size,
                remedy="a size is below 2**63",
            )
        if result.setdefault(name, int(size)) != int(size):
            raise InputError(f"dimension {name!r} is given two sizes", given=f"{result[name]} and {size}")
    return result


def gather(
    declared: Iterable[DeclaredInput],
    files: Mapping[str, str],
    sizes: Mapping[str, int],
    drawing: Drawing | None = None,
) -> dict[str, NDArray[Any]]:
    """Read the inputs that come from files and draw the others at random."""
    inputs = {each.name: each for each in declared}
    _refuse_unknown("input", files, inputs)
    _refuse_unknown("symbolic dimension", sizes, sorted(set().union(*(each.symbols() for each in inputs.values()))))

    arrays = {name: read_array(files[name], each.dtype) for name, each in inputs.items() if name in files}
    origin = dict.fromkeys(sizes, "as set")
    bound = dict(sizes)
    for name, array in arrays.items():
        for symbol, size in _symbol_sizes(inputs[name], array):
            if bound.setdefault(symbol, size) != size:
                raise InputError(
                    f"dimension {symbol!r} has two sizes",
                    given=f"{bound[symbol]} {origin[symbol]}, {size} in {files[name]}",
                )
            origin.setdefault(symbol, f"in {files[name]}")
    if drawing is not None:
        _refuse_unknown("input", drawing.ranges, inputs)
        for name in drawing.ranges:
            if name in files:
                raise InputError(f"input {name!r} is given a file and a range", given=files[name])
        for position, (name, each) in enumerate(inputs.items()):
            if name not in arrays and (not each.optional or name in drawing.ranges):
                arrays[name] = drawing.draw(each, bound, position)
    return arrays


def require_all(declared: Iterable[DeclaredInput], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse to run without an input that a model has to have."""
    for each in declared:
        if each.name not in arrays and not each.optional:
            raise InputError(
                f"input {each.name!r} is missing",
                given=f"inputs {', '.join(arrays) or 'none'}",
                remedy=f"pass -i {printable(each.name)}=FILE, or add --random",
            )


def _refuse_unknown(noun: str, given: Iterable[str], known: Iterable[str]) -> None:
    for name in given:
        if name not in known:
            choices = ", ".join(known)
            raise InputError(
                f"the model has no {noun} {name!r}",
                remedy=f"it has {choices}" if choices else f"it has no {noun} at all",
            )


def _symbol_sizes(declared: DeclaredInput, array: NDArray[Any]) -> Iterator[tuple[str, int]]:
    # An array of another rank is refused by the backend, which says so better.
    if declared.shape is not None and len(declared.shape) == array.ndim:
        yield from (
            (name, size) for name, size in zip(declared.shape, array.shape, strict=True) if isinstance(name, str)
        )
