"""``argmax`` and ``argmin`` of what the native module does not know, or with what it does not do by itself.

Decides which way such a call goes: a library's own functions, or an array of another library and back.
"""

from __future__ import annotations

from typing import Any

from extremum.interop import frontend
from extremum.out import into
from extremum.reductions import Reduction, adopted_for, index_type

__all__ = ["arg"]


def arg(
    function: str,
    x: object,
    axis: Any,
    keepdims: bool,
    select_last_index: bool,
    dtype: Any,
    out: Any,
    nan_policy: Any,
    where: Any,
    default: Any,
) -> Any:
    """Answer a call of :func:`extremum.argmax` or ``argmin`` that the native module does not answer by itself."""
    stated: Any = "propagate" if nan_policy is None else nan_policy
    if (own := frontend(function, x)) is not None:
        options = {"keepdims": keepdims, "select_last_index": select_last_index, "dtype": dtype, "out": out}
        return own(x, axis, **options, nan_policy=stated, where=where, default=default)
    adopted = adopted_for(function, x)
    call = Reduction(function, (function == "argmax",), axis, keepdims, select_last_index, stated, where)
    if adopted.array is not x and adopted.present is None:
        return call.natively(adopted, dtype=dtype, out=out, default=default)
    (found,) = call.find(adopted, False, index_type(function, dtype, out), None if default is None else (default,))
    if out is not None:
        return into(function, out, found.indices)
    return call.wrap(adopted, found.indices)
