"""The labels along the axes of a source, and whether those of several sources agree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ArgumentError
from extremum.large.formats import Source
from extremum.large.formats.decoding import Decoding, decoding_of
from extremum.large.formats.stored import Description, as_text
from extremum.partials import Place

# What libraries, and this package, write where an axis has no name.
_NO_NAME = re.compile(r"(phony_)?dim_\d+")


def labels_along(source: Source, axis: int) -> tuple[NDArray[Any], Decoding] | None:
    """Return the labels of an axis and how they were decoded, or None if it has none."""
    if source.dims is None:
        return None
    dim = source.dims[axis]
    own = [each for each in source.coordinates if each.name == dim and each.dims == (dim,)]
    if not own:
        return None
    values, attrs = source.whole(own[0].path)

    def read(place: Place) -> NDArray[Any]:
        return np.asarray(values[place])

    decoding = decoding_of(Description(values.shape, values.dtype, own[0].path, attrs=attrs), read)
    whole = tuple(slice(0, length) for length in values.shape)
    return decoding.restore(decoding.decode(read, whole)), decoding


def require_aligned(function: str, sources: Sequence[Source]) -> None:
    """Refuse arrays whose dimensions or labels differ, where elements are compared by place."""
    named = [each for each in sources if each.dims is not None]
    for one, other in combinations(named, 2):
        # The last axes of both meet, and so on to the first axis of the shorter one.
        count = min(len(one.shape), len(other.shape))
        for back in range(1, count + 1):
            _require_alike(function, one, len(one.shape) - back, other, len(other.shape) - back)


def _require_alike(function: str, one: Source, axis: int, other: Source, other_axis: int) -> None:
    """Refuse two axes that meet each other if their names or their labels differ."""
    assert one.dims is not None
    assert other.dims is not None
    name = one.dims[axis]
    other_name = other.dims[other_axis]
    remedy = "align the arrays first, as xarray.align does, or write them as .npy files, which have no labels"
    if name != other_name and not (_NO_NAME.fullmatch(name) or _NO_NAME.fullmatch(other_name)):
        raise ArgumentError(
            f"{function}: dimension {name!r} of {one.path!r} meets dimension {other_name!r} of {other.path!r}",
            remedy=remedy,
        )
    if one.shape[axis] != other.shape[other_axis]:
        # One element meets all elements of the other axis, whatever their labels.
        return
    labels = labels_along(one, axis)
    others = labels_along(other, other_axis)
    if labels is not None and others is not None and not _are_equal(labels[0], others[0]):
        raise ArgumentError(
            f"{function}: {one.path!r} and {other.path!r} differ in their labels along dimension {name!r}, and "
            "elements are compared by place",
            remedy=remedy,
        )


def _are_equal(labels: NDArray[Any], others: NDArray[Any]) -> bool:
    """Whether two axes have the same labels, in the narrower type if both have floating-point numbers."""
    kinds = {labels.dtype.kind, others.dtype.kind}
    if kinds == {"f"}:
        narrow = min(labels.dtype, others.dtype, key=lambda each: each.itemsize)
        return np.array_equal(labels.astype(narrow), others.astype(narrow), equal_nan=True)
    if kinds & set("OSTU"):
        return _texts(labels) == _texts(others)
    is_times = [each.dtype.kind in "mM" for each in (labels, others)]
    if len(kinds) > 1 and any(is_times):
        return False
    return np.array_equal(labels, others, equal_nan=True)


def _texts(labels: NDArray[Any]) -> list[str]:
    """Return labels as texts; characters that a file keeps along one more axis are put together."""
    if labels.ndim > 1:
        rows = [b"".join(row) for row in labels.tolist()]
    else:
        rows = labels.tolist()
    return [as_text(each) for each in rows]
