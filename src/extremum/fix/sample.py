"""Sample inputs that tell a right rewrite from a wrong one.

Decides the sizes of what the model leaves open and the values: ties, both zeros, NaN, infinities, the limits of the
type, and plain random ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import dtypes
from extremum.backend.sites import Site
from extremum.spec import Family
from extremum.tensors import Dimension, TensorType

__all__ = ["draw", "samples"]

# Enough for ties at both ends and in the middle. No rewrite depends on a size.
_LARGEST_SIZE = 7
_OPEN_RANK = 3


def samples(site: Site) -> Iterator[Mapping[str, NDArray[Any]]]:
    """Yield inputs for a node, by name.

    Parameters
    ----------
    site : Site
        A node that keeps the promise of its version.

    Yields
    ------
    mapping of str to numpy.ndarray
        The same every time.
    """
    output = site.output()
    elementwise = site.row is not None and site.row.family in (Family.MAXIMUM, Family.MINIMUM)
    joint = output.shape if elementwise else None
    for kind in range(6):
        random = np.random.default_rng(kind)
        arrays = {}
        for name, tensor in zip(site.node.input, site.inputs, strict=True):
            if name not in arrays:
                arrays[name] = draw(random, str(tensor.element), _sizes(tensor, joint), kind)
        yield arrays


def _sizes(tensor: TensorType, joint: tuple[Dimension, ...] | None) -> tuple[int, ...]:
    """Return the sizes of a sample; what is open takes part in broadcasting with whatever it meets."""
    if tensor.shape is None:
        return (_LARGEST_SIZE,) * (_OPEN_RANK if joint is None else len(joint))
    others = joint[len(joint) - len(tensor.shape) :] if joint else (None,) * len(tensor.shape)
    return tuple(
        min(next((size for size in pair if isinstance(size, int)), _LARGEST_SIZE), _LARGEST_SIZE)
        for pair in zip(tensor.shape, others, strict=True)
    )


def draw(random: np.random.Generator, element: str, sizes: tuple[int, ...], kind: int) -> NDArray[Any]:
    """Return an array of one of six kinds of values.

    Parameters
    ----------
    random : numpy.random.Generator
        Where the values come from.
    element : str
        The element type.
    sizes : tuple of int
        The shape.
    kind : int
        0 random; 1 few different values; 2 the limits and what is next to them; 3 the same, with NaN; 4 only zeros, of
        either sign; 5 the extremum everywhere, which is NaN for a floating type.

    Returns
    -------
    numpy.ndarray
        Of the element type.

    Examples
    --------
    >>> import numpy as np
    >>> from extremum.fix.sample import draw
    >>> draw(np.random.default_rng(0), "int16", (3,), kind=5).tolist()
    [32767, 32767, 32767]
    """
    dtype = dtypes.from_name(element).dtype
    if kind == 0:
        return _random(random, dtype, sizes)
    small = np.array([-1, 0, 1, 2] if dtype.kind != "u" else [0, 1, 2, 3]).astype(dtype)
    chosen = (small, _limits(dtype), _limits(dtype), np.array([0.0, -0.0]).astype(dtype), _limits(dtype)[-1:])[kind - 1]
    if kind in (3, 5) and dtype.kind not in "iu":
        nan = np.array([np.nan]).astype(dtype)
        chosen = nan if kind == 5 else np.concatenate([chosen, nan])
    return chosen[random.integers(len(chosen), size=sizes)]


def _random(random: np.random.Generator, dtype: np.dtype[Any], sizes: tuple[int, ...]) -> NDArray[Any]:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, sizes, dtype, endpoint=True)
    return random.standard_normal(sizes).astype(dtype)


def _limits(dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the values at the edges of a type, the largest last."""
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
