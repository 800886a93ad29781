"""The calls of the functions for arrays on a GPU: options, policies and messages are those of the CPU."""

from __future__ import annotations

import math
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch._dynamo import nonstrict_trace

from extremum.arrays import as_element
from extremum.elementwise import (
    NUMBERS,
    at_once,
    broadcast_shape,
    broadcast_with_mask,
    common_type,
    refuse_nan_at,
)
from extremum.errors import ArgumentError
from extremum.gpu.elementwise import extremum
from extremum.gpu.engine import DEVICE, OnDevice
from extremum.gpu.launcher import BITS
from extremum.gpu.operands import (
    BEST,
    WORST,
    mask_of,
    operand_of,
    refuse_out,
    spread_mask_of,
    tensor_type,
)
from extremum.gpu.operators import is_traced
from extremum.gpu.reductions import Prepared, ones, prepared_for, run
from extremum.interop import Operand, common_library
from extremum.reductions import ENDS, Index, Ints, index_type, require_policy, values_then_indices
from extremum.selection import TopKCall


class Known(NamedTuple):
    """What a call over axes turned out to want; a call like it does not decide again."""

    how: Prepared
    # The shape of the results, those of both ends together, and their strides.
    shape: Ints
    strides: Ints
    values: bool
    indices: bool
    index: torch.dtype


_KNOWN: dict[Any, Known] = {}
_MOST_KNOWN = 4096


def _key_of(function: str, x: Any, axis: Any, options: dict[str, Any]) -> Any:
    """Return by what a call without a mask, a policy or a default is known; None for other calls."""
    if type(x) is not torch.Tensor or x.layout is not torch.strided:
        return None
    if x.requires_grad or x.is_neg() or x.is_nested:
        return None
    if options["where"] is not None or options["default"] is not None or options.get("out") is not None:
        return None
    keepdims = options["keepdims"]
    last = options["select_last_index"]
    # 1 and 1.0 are equal to True, and are other options.
    if type(keepdims) is not bool or type(last) is not bool or type(axis) not in (int, NoneType):
        return None
    policy = options["nan_policy"]
    if policy is not None and policy != "propagate":
        return None
    dtype = options["dtype"] if "dtype" in options else options["index_dtype"]
    if not isinstance(dtype, NoneType | str | type | np.dtype):
        return None
    with_index = options.get("return_index", True)
    return function, x.dtype, x.shape, x.stride(), x.device, axis, keepdims, last, dtype, bool(with_index)


def _over_axes(function: str, x: Any, axis: Any, **options: Any) -> tuple[Any, ...]:
    """Answer a call of ``argmax``, ``argmin``, ``max``, ``min`` or ``minmax`` of an array on a GPU."""
    key = _key_of(function, x, axis, options)
    known = _KNOWN.get(key)
    if known is None:
        return _decided(function, x, axis, options, key)
    # PyTorch allocates faster where it is given the strides.
    values = None
    if known.values:
        values = torch.empty_strided(known.shape, known.strides, dtype=x.dtype, device=x.device)
    indices = torch.empty_strided(known.shape, known.strides, dtype=known.index, device=x.device)
    run(known.how, x, None, values, indices)
    results: list[Any] = []
    for result in (values, indices if known.indices else None):
        if result is not None:
            results += [result] if len(ENDS[function]) == 1 else result.unbind()
    return tuple(results)


def _decided(function: str, x: Any, axis: Any, options: dict[str, Any], key: Any) -> tuple[Any, ...]:
    """Answer a call with whatever options; note what it wants if it has a key."""
    refuse_out(function, options.pop("out", None))
    with_index = options.pop("return_index", None)
    dtype = options.pop("dtype" if "dtype" in options else "index_dtype")
    default = options.pop("default")
    values = not function.startswith("arg")
    operand = operand_of(function, x)
    call = OnDevice(function, ENDS[function], axis, engine=DEVICE, **options)
    index = index_type(function, dtype) if with_index or not values else None
    results = values_then_indices(call.find(operand, values, index, default))
    if key is not None and operand.array.size:
        _note(key, x, call, index, values, results[0].shape)
    return tuple(operand.wrap(each, ()) for each in results)


def _note(key: Any, x: torch.Tensor, call: OnDevice, index: Index, values: bool, shape: Ints) -> None:
    """Note what a call wants, unless its array has to be copied first."""
    own = torch.int64 if index is None else tensor_type(index)
    how = prepared_for(x, call.axes(x.ndim), call.largest, call.select_last_index, values, own)
    if how is None:
        return
    if len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.clear()
    shape = (2, *shape) if len(call.largest) == 2 else tuple(shape)
    strides = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
    _KNOWN[key] = Known(how, shape, strides, values, index is not None, own)


def _hardmax(x: Any, axis: Any, out: object = None, nan_policy: str = "propagate", where: Any = None) -> Any:
    """Answer a call of ``hardmax`` of an array on a GPU."""
    refuse_out("hardmax", out)
    operand = operand_of("hardmax", x)
    elements: Any = operand.array
    call = OnDevice(
        "hardmax", (True,), axis, keepdims=True, nan_policy=nan_policy, where=where, engine=DEVICE
    )
    (best,) = call.find(operand, False, np.dtype(np.int64), -1)
    return operand.wrap(ones(elements.tensor, best.indices, call.axes(elements.ndim)), ())


def _maximum(
    function: str, operands: tuple[Any, ...], out: Any = None, nan_policy: Any = None, where: Any = None
) -> Any:
    """Answer a call of ``maximum`` or ``minimum`` of arrays on a GPU."""
    nan_policy = "propagate" if nan_policy is None else nan_policy
    require_policy(function, nan_policy)
    return at_once(function, operands, out, nan_policy, where, _extremum)


def _extremum(function: str, operands: tuple[Any, ...], out: Any, nan_policy: str, where: Any) -> Any:
    refuse_out(function, out)
    numbers = [x for x in operands if type(x) in NUMBERS]
    by_place = {at: operand_of(function, x) for at, x in enumerate(operands) if type(x) not in NUMBERS}
    several = list(by_place.values())
    own = common_library(several)
    dtype = common_type(function, several, numbers)
    tensors = _of_one_type(operands, by_place, dtype)
    mask = None
    if where is not None:
        mask = mask_of(function, where, tensors[0].device)
    if not is_traced(tensors[0]):
        # Sizes that are not known yet are PyTorch's to compare.
        shape = broadcast_shape(function, [tuple(each.shape) for each in tensors])
        if mask is not None:
            broadcast_with_mask(function, shape, mask.shape)
    nan = WORST if nan_policy == "omit" else BEST
    there = None if mask is None else mask.tensor
    result = extremum(tensors, function == "maximum", nan, there)
    if nan_policy == "raise":
        nans = DEVICE.is_nan(result)
        refuse_nan_at(DEVICE.first(nans if there is None else nans & there))
    return own.wrap(result, ())


def _of_one_type(
    operands: tuple[Any, ...], by_place: dict[int, Operand], dtype: np.dtype[Any]
) -> list[torch.Tensor]:
    """Return the operands as tensors of one element type on one device, or refuse them."""
    arrays: list[Any] = [each.array for each in by_place.values()]
    devices = {each.tensor.device: None for each in arrays}
    if len(devices) > 1:
        raise ArgumentError(
            f"the operands are on the devices {' and '.join(map(str, devices))}",
            remedy="move them to one device first",
        )
    (device,) = devices
    own = tensor_type(dtype)
    tensors = []
    for at, x in enumerate(operands):
        if at in by_place:
            elements: Any = by_place[at].array
            tensors.append(elements.tensor.to(own))
        else:
            number = as_element(x, dtype)
            bits = int(number.view(f"i{number.itemsize}"))
            tensors.append(torch.full((), bits, dtype=BITS[number.itemsize], device=device).view(own))
    return tensors


def _top_k(
    x: Any,
    k: Any,
    axis: Any,
    *,
    mode: Any,
    sorted: Any,
    nan_policy: Any,
    where: Any = None,
    default: Any = None,
    index_dtype: Any = None,
) -> Any:
    """Answer a call of ``top_k`` of an array on a GPU."""
    mode = "largest" if mode is None else mode
    sorted = True if sorted is None else sorted
    nan_policy = "propagate" if nan_policy is None else nan_policy
    operand = operand_of("top_k", x)
    elements: Any = operand.array
    call = TopKCall.of(elements, k, axis, mode, sorted, nan_policy, default, index_dtype, DEVICE)
    there: Any = spread_mask_of("top_k", where, elements)
    best = call.finish(elements, call.select(elements, there), is_whole=there is None)
    return tuple(operand.wrap(each, ()) for each in best)


# What stands for None while `torch.compile` traces a call: PyTorch 2.11 takes no None there.
_NONE = "\0"


def _traced(call: Any) -> Any:
    """Let ``torch.compile`` trace a call with tensors that have no elements: to operators, without a graph break."""
    # Where the graph breaks nevertheless, nothing in the call is worth tracing.
    alone = torch.compiler.disable(call)

    def with_none(*given: Any, **options: Any) -> Any:
        return alone(*map(_or_none, given), **{name: _or_none(each) for name, each in options.items()})

    inner = nonstrict_trace(with_none)

    def outer(*given: Any, **options: Any) -> Any:
        if not torch.compiler.is_compiling():
            return call(*given, **options)
        for name in ("dtype", "index_dtype"):
            # PyTorch has names among its constants, and no types.
            if not isinstance(options.get(name), str | None):
                options[name] = np.dtype(options[name]).name
        for name, each in options.items():
            if each is None:
                options[name] = _NONE
        return inner(*[_NONE if each is None else each for each in given], **options)

    return outer


def _or_none(option: Any) -> Any:
    return None if type(option) is str and option == _NONE else option


over_axes = _traced(_over_axes)
hardmax = _traced(_hardmax)
maximum = _traced(_maximum)
top_k = _traced(_top_k)
