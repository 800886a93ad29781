"""Translates a version of an operator into the core operation that computes it.

Later code knows nothing of ONNX, versions or DirectML. The attributes have passed :func:`extremum.validate.attributes`.
"""

from __future__ import annotations

import numpy as np

from extremum import validate
from extremum.errors import SpecError
from extremum.operations import ArgReduce, Extremum, OneHot, Operation, Order, Reduce, Tie, TopK
from extremum.spec import Family, OperatorVersion
from extremum.validate import Attributes


def operation(schema: OperatorVersion, values: Attributes, rank: int, index: str | None = None) -> Operation:
    """Return the core operation of a version; `index` is the type of indices if the version leaves it open."""
    axes = validate.axes(schema, values, rank)
    if schema.family in (Family.ARGMIN, Family.MINIMUM, Family.SMALLEST):
        order = Order.MIN
    else:
        order = Order.MAX
    # DirectML has no such attribute and keeps the rank.
    keepdims = values.get("keepdims", 1) == 1
    match schema.family:
        case Family.ARGMAX | Family.ARGMIN:
            # ONNX and DirectML have different names for the same choice.
            if values.get("select_last_index") or values.get("axis_direction"):
                tie = Tie.LAST
            else:
                tie = Tie.FIRST
            return ArgReduce(order, axes, keepdims, tie, np.dtype(index or schema.outputs[0].types[0]))
        case Family.HARDMAX:
            return OneHot(axes)
        case Family.MAXIMUM | Family.MINIMUM:
            return Extremum(order)
        case Family.LARGEST | Family.SMALLEST:
            return Reduce(order, axes, keepdims, Tie.FIRST, schema.identity)
        case Family.TOP:
            k = values["k"]
            if not isinstance(k, int):
                raise SpecError(
                    f"the k of {schema} is not known before the model runs",
                    remedy="give it as an initializer or a Constant",
                )
            # DirectML's direction is that of the values: increasing selects the smallest.
            if values.get("largest", values.get("axis_direction", 1)):
                order = Order.MAX
            else:
                order = Order.MIN
            return TopK(order, axes[0], k, values.get("sorted", 1) == 1)
