"""bfloat16 arrays into sessions of onnxruntime and out of them.

NumPy has no such type of its own, so onnxruntime refuses these arrays. It takes and gives the bits as an OrtValue.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum import dtypes
from extremum.onnxruntime.library import onnxruntime

__all__ = ["has_bfloat16", "run"]

_BFLOAT16, _TYPE = onnx.TensorProto.BFLOAT16, "tensor(bfloat16)"


def has_bfloat16(session: Any) -> bool:
    """Return whether an input or an output of a session is bfloat16."""
    return any(each.type == _TYPE for each in (*session.get_inputs(), *session.get_outputs()))


def run(
    session: Any,
    plain: Callable[..., Sequence[Any]],
    names: Sequence[str] | None,
    feed: Mapping[str, Any],
    options: Any = None,
) -> Sequence[Any]:
    """Run a session as its own method ``plain`` does, with bfloat16 arrays going in and coming out."""
    feed = {name: _value(x) if _is_bfloat16(x) else x for name, x in feed.items()}
    types = {each.name: each.type for each in session.get_outputs()}
    wanted = names or list(types)
    kinds = {types.get(name, "") for name in wanted}
    # A binding takes tensors of numbers, and gives tensors.
    is_bound = all(kind.startswith("tensor(") for kind in kinds) and all(map(_is_bound, feed.values()))
    if _TYPE not in kinds or not is_bound:
        return plain(names, feed, options)
    binding = session.io_binding()
    for name, x in feed.items():
        if isinstance(x, np.ndarray):
            binding.bind_cpu_input(name, np.require(x, requirements="C"))
        else:
            binding.bind_ortvalue_input(name, x)
    for name in wanted:
        binding.bind_output(name)
    session.run_with_iobinding(binding, options)
    arrays = dict(zip(dict.fromkeys(wanted), map(_array, binding.get_outputs()), strict=True))
    return [arrays[name] for name in wanted]


def _is_bfloat16(x: object) -> bool:
    # Types that NumPy does not know are of kind V.
    return isinstance(x, np.ndarray) and x.dtype.kind == "V" and x.dtype.name == "bfloat16"


def _is_bound(x: object) -> bool:
    return isinstance(x, onnxruntime.OrtValue) or (isinstance(x, np.ndarray) and x.dtype.kind not in "OSUT")


def _value(x: NDArray[Any]) -> Any:
    # It holds on to the array whose memory it is.
    bits = np.ascontiguousarray(x).view(np.uint16).reshape(x.shape)
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, _BFLOAT16)


def _array(value: Any) -> NDArray[Any]:
    if value.element_type() != _BFLOAT16:
        array: NDArray[Any] = value.numpy()
        return array
    shape = tuple(value.shape())
    bits = np.empty(shape, np.uint16)
    if bits.size:
        ctypes.memmove(bits.ctypes.data, value.data_ptr(), 2 * math.prod(shape))
    return bits.view(dtypes.from_name("bfloat16").dtype)
