"""The inputs of ``extremum run``: from files, or drawn at random.

Random floats are normally distributed. Random integers are 0 or 1, which are indices, labels or masks in most models.
The backend checks whether the arrays fit the model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from extremum.cli.array_files import read_array
from extremum.cli.options import FORMS
from extremum.errors import InputError
from extremum.graph.types import DeclaredInput, require_array
from extremum.printable import printable


def gather(
    declared: Iterable[DeclaredInput],
    files: Mapping[str, str],
    sizes: Mapping[str, int],
    ranges: Mapping[str, str],
    seed: int | None,
) -> dict[str, NDArray[Any]]:
    """Read the inputs that come from files and, with a seed, draw the others; refuse a missing input."""
    inputs = {each.name: each for each in declared}
    _refuse_unknown("input", (*files, *ranges), inputs)
    dimensions = {size for each in inputs.values() for size in each.shape or () if isinstance(size, str)}
    _refuse_unknown("symbolic dimension", sizes, sorted(dimensions))
    both = [name for name in ranges if name in files]
    if both:
        raise InputError(f"input {both[0]!r} is given a file and a range", given=files[both[0]])
    arrays = {name: read_array(files[name], each.dtype) for name, each in inputs.items() if name in files}
    set_sizes = _sizes(inputs, arrays, files, sizes)
    for position, (name, each) in enumerate(inputs.items()):
        if name in arrays or (each.optional and name not in ranges):
            continue
        if seed is None:
            raise InputError(
                f"input {name!r} is missing",
                given=f"inputs {', '.join(arrays) or 'none'}",
                remedy=f"pass -i {printable(name)}=FILE, or add --random",
            )
        # The array does not depend on which other inputs come from files.
        arrays[name] = draw(each, set_sizes, ranges.get(name), np.random.default_rng([seed, position]))
    return arrays


def _sizes(
    inputs: Mapping[str, DeclaredInput],
    arrays: Mapping[str, NDArray[Any]],
    files: Mapping[str, str],
    sizes: Mapping[str, int],
) -> dict[str, int]:
    """Return the size of each symbolic dimension that the caller sets or a file has, or refuse two sizes of one."""
    origins = {symbol: (size, "as set") for symbol, size in sizes.items()}
    for name, array in arrays.items():
        shape = inputs[name].shape
        if shape is None or len(shape) != array.ndim:
            # The backend refuses an array of another rank, with a better message.
            continue
        for symbol, size in zip(shape, array.shape, strict=True):
            if not isinstance(symbol, str):
                continue
            here = (size, f"in {files[name]}")
            first = origins.setdefault(symbol, here)
            if first[0] != size:
                raise InputError(
                    f"dimension {symbol!r} has two sizes",
                    given=", ".join(f"{size} {origin}" for size, origin in (first, here)),
                )
    return {symbol: size for symbol, (size, _) in origins.items()}


def _refuse_unknown(noun: str, names: Iterable[str], choices: Collection[str]) -> None:
    for name in names:
        if name not in choices:
            raise InputError(
                f"the model has no {noun} {name!r}",
                remedy=f"it has {', '.join(choices) or f'no {noun} at all'}",
            )


def draw(
    declared: DeclaredInput, sizes: Mapping[str, int], span: str | None, random: np.random.Generator
) -> NDArray[Any]:
    """Return a random array for an input; a span of integers includes its ends, a span of floats is uniform."""
    name = declared.name
    dtype = declared.dtype
    # Strings are an object dtype, and only numbers can be drawn.
    if dtype is None or declared.shape is None or dtype.kind == "O":
        if dtype is not None and declared.shape is None:
            why = "its rank is open"
        else:
            why = "it is not a tensor of numbers"
        raise InputError(
            f"input {name!r} cannot be drawn at random: {why}",
            remedy=f"pass it with -i {name}=file",
        )
    for size in declared.shape:
        if isinstance(size, str) and size not in sizes:
            raise InputError(
                f"dimension {size!r} of input {name!r} has no size", remedy=f"set it: --set {size}=8"
            )
    shape = tuple(sizes[size] if isinstance(size, str) else size for size in declared.shape)
    require_array(shape, dtype, name)
    limits = _limits(dtype)
    if span is None and limits is None:
        return np.asarray(random.standard_normal(shape)).astype(dtype, copy=False)
    low, high = _ends(name, span or "0:1", dtype, limits)
    if limits is not None:
        # The generator has no integers of four bits and no bools.
        wide = dtype if dtype.kind in "iu" else np.int64
        return np.asarray(random.integers(low, high, shape, wide, endpoint=True)).astype(dtype, copy=False)
    parts = random.random(shape)
    # A sum of two products: the difference of the ends may be larger than any float.
    return np.asarray(low * (1 - parts) + high * parts).astype(dtype, copy=False)


def _limits(dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """Return the smallest and the largest integer of a type; None for a type of floats."""
    if dtype.kind == "b":
        return 0, 1
    try:
        info: Any = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    except ValueError:
        return None
    return int(info.min), int(info.max)


def _ends(name: str, span: str, dtype: np.dtype[Any], limits: tuple[int, int] | None) -> tuple[Any, Any]:
    """Return the ends of a span as numbers, if the type holds them."""
    number = int if limits else float
    try:
        low, high = map(number, span.split(":"))
    except ValueError:
        raise InputError(
            f"input {name!r} takes integers",
            given=f"the range {span}",
            remedy=f"write for example {FORMS['name=low:high'][1]}",
        ) from None
    if low > high:
        raise InputError(
            f"the range of input {name!r} is empty", given=span, remedy="write the lower end first"
        )
    if limits:
        fits = limits[0] <= low and high <= limits[1]
    else:
        with np.errstate(over="ignore"):
            fits = np.isfinite(np.array((low, high)).astype(dtype).astype(complex)).all()
    if not fits:
        raise InputError(
            f"the range of input {name!r} does not fit its type", given=f"{span} for {dtype.name}"
        )
    return low, high
