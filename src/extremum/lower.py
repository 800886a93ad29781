"""From an operator's version to the core operation that computes it.

Decides which of the operations is meant, over which axes and with which tie. After this step nothing says ONNX,
version or DirectML any more. The attributes have passed :func:`extremum.validate.attributes`.
"""

from __future__ import annotations

import numpy as np

from extremum import validate
from extremum.operations import ArgReduce, Extremum, OneHot, Operation, Order, Reduce, Tie
from extremum.spec import Family, OperatorVersion
from extremum.validate import Attributes

__all__ = ["operation"]


def operation(schema: OperatorVersion, values: Attributes, rank: int, index: str | None = None) -> Operation:
    """Return the core operation that a version means; `index` is for one that leaves the type of indices open."""
    axes = validate.axes(schema, values, rank)
    # DirectML has no such attribute and keeps the rank.
    keepdims = values.get("keepdims", 1) == 1
    match schema.family:
        case Family.ARGMAX | Family.ARGMIN:
            # The two names under which the documents speak of the same choice.
            last = values.get("select_last_index") or values.get("axis_direction")
            return ArgReduce(
                order=Order.MAX if schema.family is Family.ARGMAX else Order.MIN,
                axes=axes,
                keepdims=keepdims,
                tie=Tie.LAST if last else Tie.FIRST,
                index=np.dtype(index or schema.output.types[0]),
            )
        case Family.HARDMAX:
            return OneHot(axes)
        case Family.MAXIMUM:
            return Extremum(Order.MAX)
        case Family.MINIMUM:
            return Extremum(Order.MIN)
        case Family.LARGEST | Family.SMALLEST:
            return Reduce(
                order=Order.MAX if schema.family is Family.LARGEST else Order.MIN,
                axes=axes,
                keepdims=keepdims,
                tie=Tie.FIRST,
                identity=schema.identity,
            )
