"""Ranks: small floats, none of them NaN, whose largest are where the extremum of other floats is.

Decides how NaN is made to win with operators that do not know it: an element that equals the extremum has rank 1, any
other number 0, and NaN 2. So it does not matter what a reduction makes of a NaN.
"""

from __future__ import annotations

from collections.abc import Sequence

from extremum.fix.fragment import Fragment

__all__ = ["CARRIERS", "carried", "ranks"]

CARRIERS = {"bfloat16": "float32", "float16": "float32", "float32": "float32", "float64": "float64"}
"""For each floating type one that holds its values and that onnxruntime and DirectML compare and reduce."""


def carried(fragment: Fragment, x: str, element: str) -> str:
    """Append what makes a tensor one of its carrier, if anything, and return the name."""
    return x if CARRIERS[element] == element else fragment.cast(x, CARRIERS[element])


def ranks(fragment: Fragment, x: str, axes: Sequence[int], *, element: str, largest: bool) -> str:
    """Append the ranks of a tensor of an element type, as it is carried, and return their name."""
    if CARRIERS[element] == "float64" and len(axes) == 1:
        # DirectML reduces no doubles.
        extremum = fragment.largest(x if largest else fragment.add("Neg", x), axes[0])
        extremum = extremum if largest else fragment.add("Neg", extremum)
    else:
        extremum = fragment.reduce("ReduceMax" if largest else "ReduceMin", x, axes)
    beaten = fragment.add("Less" if largest else "Greater", x, extremum)
    unbeaten = fragment.cast(fragment.add("Not", beaten), "float32")
    return fragment.add("Add", unbeaten, fragment.cast(fragment.add("IsNaN", x), "float32"))
