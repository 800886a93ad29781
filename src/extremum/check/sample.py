"""Sample inputs that tell a right rewrite from a wrong one.

Decides the sizes of what the model leaves open, and the values: ties, zeros of either sign, NaN, infinities, the limits
of the type, and plain random ones.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import dtypes
from extremum.graph.sites import Site
from extremum.spec import Family
from extremum.tensors import Dimension, TensorType

__all__ = ["Kind", "draw", "samples"]

# Enough for ties at both ends and in the middle. No rewrite depends on a size.
_LARGEST_SIZE = 7
_OPEN_RANK = 3


class Kind(enum.Enum):
    """What the values of a sample are."""

    RANDOM = "integers of the whole range, normally distributed floats"
    TIES = "few different small values"
    LIMITS = "the limits of the type and what is next to them, infinities and zeros of either sign"
    LOW = "the two least of those"
    MIDDLE = "the two in the middle of those: zeros of either sign for floats"
    HIGH = "the two largest of those"
    NAN = "the limits, and many NaNs where the type has them"
    ALL_NAN = "NaN everywhere, where the type has it"
    HALVES = "integers of 64 bits whose upper halves are equal; nothing for other types"


def samples(site: Site, kinds: Collection[Kind] = tuple(Kind)) -> Iterator[Mapping[str, NDArray[Any]]]:
    """Yield inputs for a node, by name."""
    elementwise = site.schema is not None and site.schema.family in (Family.MAXIMUM, Family.MINIMUM)
    joint = site.output().shape if elementwise else None
    tensors = dict(zip(site.names, site.operands, strict=False))
    lists = {
        name: _list(tensor, site.inputs[0])
        for name, tensor in zip(site.names[len(tensors) :], site.inputs[len(tensors) :], strict=True)
    }
    for seed, kind in enumerate(Kind):
        if kind not in kinds or (kind is Kind.HALVES and site.inputs[0].element not in ("int64", "uint64")):
            continue
        random = np.random.default_rng(seed)
        yield lists | {
            name: draw(random, str(tensor.element), _sizes(tensor, joint), kind) for name, tensor in tensors.items()
        }


def _list(tensor: TensorType, data: TensorType) -> NDArray[Any]:
    """Return what comes as an input in the place of an attribute; the last axis where the model leaves it open."""
    last_axis = () if data.rank == 0 else (-1,)
    return np.array(last_axis if tensor.values is None else tensor.values, np.int64)


def _sizes(tensor: TensorType, joint: tuple[Dimension, ...] | None) -> tuple[int, ...]:
    """Return the sizes of a sample; what is open takes part in broadcasting with whatever it meets."""
    if tensor.shape is None:
        return (_LARGEST_SIZE,) * (_OPEN_RANK if joint is None else len(joint))
    others = joint[len(joint) - len(tensor.shape) :] if joint else (None,) * len(tensor.shape)
    return tuple(
        min(next((size for size in pair if isinstance(size, int)), _LARGEST_SIZE), _LARGEST_SIZE)
        for pair in zip(tensor.shape, others, strict=True)
    )


def draw(random: np.random.Generator, element: str, sizes: tuple[int, ...], kind: Kind) -> NDArray[Any]:
    """Return an array of one kind of values."""
    dtype = dtypes.from_name(element).dtype
    if kind is Kind.RANDOM:
        return _random(random, dtype, sizes)
    values = _values(dtype, kind)
    return np.asarray(values[random.integers(len(values), size=sizes)])


def _random(random: np.random.Generator, dtype: np.dtype[Any], sizes: tuple[int, ...]) -> NDArray[Any]:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.asarray(random.integers(limits.min, limits.max, sizes, dtype, endpoint=True))
    return np.asarray(random.standard_normal(sizes)).astype(dtype)


def _values(dtype: np.dtype[Any], kind: Kind) -> NDArray[Any]:
    if kind is Kind.TIES or dtype.kind == "b":
        return np.arange(4).astype(dtype)
    if kind is Kind.HALVES:
        return np.array([0, 2**31 - 1, 2**31, 2**32 - 1], dtype)
    limits = _limits(dtype)
    middle = len(limits) // 2
    parts = {Kind.LOW: limits[:2], Kind.MIDDLE: limits[middle - 1 : middle + 1], Kind.HIGH: limits[-2:]}
    if kind in parts:
        return parts[kind]
    if kind is Kind.LIMITS or dtype.kind in "iu":
        return limits
    nan = np.full(len(limits), np.nan).astype(dtype)
    return nan if kind is Kind.ALL_NAN else np.concatenate([limits, nan[middle:]])


def _limits(dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the values at the edges of a type, in ascending order."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        middle = limits.max // 2
        return np.array([limits.min, limits.min + 1, middle, middle + 1, limits.max - 1, limits.max], dtype)
    import ml_dtypes

    finfo: Callable[[np.dtype[Any]], Any] = ml_dtypes.finfo
    floats = finfo(dtype)
    least = floats.smallest_subnormal
    values = [-np.inf, floats.min, -least, -0.0, 0.0, least, floats.max, np.inf]
    return np.array([dtype.type(value) for value in values])
