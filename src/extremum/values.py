"""``max``, ``min`` and ``minmax`` of what the native module does not know, or with what it does not do by itself.

Decides which way such a call goes, and what the results are called. How they are found is :mod:`extremum.reductions`'.
"""

from __future__ import annotations

from typing import Any

from extremum.errors import ArgumentError
from extremum.interop import frontend
from extremum.out import into
from extremum.policy import in_utc
from extremum.reductions import Reduction, adopted_for, index_type
from extremum.signatures import MinMax, MinMaxIndices, ValuesIndices

__all__ = ["MinMax", "MinMaxIndices", "ValuesIndices", "beyond"]

# Of each function, at which ends of the order it looks: True for the largest.
_ENDS = {"max": (True,), "min": (False,), "minmax": (False, True)}


def beyond(
    function: str,
    x: Any,
    axis: Any,
    keepdims: bool,
    return_index: bool,
    select_last_index: bool,
    nan_policy: Any,
    where: Any,
    default: Any,
    index_dtype: Any,
    out: Any,
) -> Any:
    """Answer a call of ``max``, ``min`` or ``minmax`` that the native module does not answer by itself."""
    largest = _ENDS[function]
    if (own := frontend(function, x)) is not None:
        options: dict[str, Any] = {"keepdims": keepdims, "return_index": return_index, "where": where}
        options |= {"select_last_index": select_last_index, "index_dtype": index_dtype, "default": default}
        options |= {} if function == "minmax" else {"out": out}
        return own(x, axis, nan_policy="propagate" if nan_policy is None else nan_policy, **options)
    adopted = adopted_for(function, x)
    adopted.require_no_zone(out)
    policy = "propagate" if nan_policy is None else nan_policy
    call = Reduction(function, largest, axis, keepdims, select_last_index, policy, where)
    if adopted.array is not x and adopted.present is None and default is None and out is None:
        return call.natively(adopted, return_index=return_index, index_dtype=index_dtype)
    index = index_type(function, index_dtype) if return_index else None
    if out is not None and index is not None:
        raise ArgumentError(f"{function}: out receives values alone", remedy="leave out, or return_index, away")
    defaults = default if function == "minmax" and isinstance(default, tuple) else (default,) * len(largest)
    if len(defaults) != len(largest):
        raise ArgumentError(
            f"{function}: default has {len(defaults)} values", remedy="pass one, or a smallest and a largest"
        )
    defaults = tuple(in_utc(function, each, adopted.zone) for each in defaults)
    ends = call.find(adopted, True, index, None if default is None else defaults)
    if out is not None:
        return into(function, out, ends[0].values)
    values, places = zip(*(call.both(adopted, each.values, each.indices) for each in ends), strict=True)
    if function == "minmax":
        return MinMax(*values) if index is None else MinMaxIndices(*values, *places)
    return values[0] if index is None else ValuesIndices(*values, *places)
