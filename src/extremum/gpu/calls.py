"""The calls of the functions for arrays on a GPU: options, policies and messages are those of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Any

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
from extremum.gpu.memory import BITS, Layout, layout_of
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
from extremum.gpu.reductions import ones, reduce
from extremum.gpu.selection import select
from extremum.interop import Operand, common_library
from extremum.reductions import ENDS, Index, index_type, require_policy, values_then_indices
from extremum.selection import TopKCall

_INT64 = np.dtype(np.int64)


# What stands for an option that a key may have: others may change, or are equal to values of other types.
_SIMPLE = {bool, int, str, type, NoneType}

_KNOWN: dict[Any, Callable[..., Any]] = {}
"""For calls of plain tensors with plain options, by their key: what answers a call like one that was answered."""
_MOST_KNOWN = 4096


def _key_of(function: str, arrays: tuple[Any, ...], *options: Any) -> Any:
    """Return by what a call is known: layouts and simple options; None for a call with more than these."""
    layouts = []
    for x in arrays:
        if type(x) is not torch.Tensor or x.layout is not torch.strided:
            return None
        if x.requires_grad or x.is_neg() or x.is_nested:
            return None
        layouts.append((x.dtype, x.shape, x.stride(), x.device))
    # 1 is equal to True, and is another option.
    kinds = tuple(map(type, options))
    if not _SIMPLE.issuperset(kinds):
        return None
    return function, *layouts, options, kinds


def _note(key: Any, answer: Callable[..., Any]) -> None:
    """Note what answers calls of a key."""
    if len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.clear()
    _KNOWN[key] = answer


def _over_axes(function: str, x: Any, axis: Any, **options: Any) -> Any:
    """Answer a call of ``argmax``, ``argmin``, ``max``, ``min`` or ``minmax`` of an array on a GPU."""
    key = _key_of(function, (x,), axis, *options.values())
    known = _KNOWN.get(key)
    if known is not None:
        return known(x)
    refuse_out(function, options.pop("out", None))
    with_index = options.pop("return_index", True)
    dtype = options.pop("dtype" if "dtype" in options else "index_dtype")
    default = options.pop("default")
    values = not function.startswith("arg")
    operand = operand_of(function, x)
    call = OnDevice(function, ENDS[function], axis, engine=DEVICE, **options)
    index = index_type(function, dtype) if with_index else None
    results = values_then_indices(call.find(operand, values, index, default))
    if key is not None and _is_plain(call, operand):
        _note(key, _search(call, layout_of(x), values, index))
    return tuple(operand.wrap(each, ()) for each in results)


def _is_plain(call: OnDevice, operand: Operand) -> bool:
    """Whether a reduction searches, and nothing else."""
    has_nan = operand.array.dtype.kind not in "biu"
    takes_all = call.where is None and operand.array.size > 0
    return takes_all and (call.nan_policy == "propagate" or (call.nan_policy == "omit" and not has_nan))


def _search(call: OnDevice, x: Layout, values: bool, index: Index) -> Callable[..., Any]:
    """Return what answers plain reductions."""
    own = torch.int64 if index is None else tensor_type(index)
    axes = call.axes(len(x.shape))
    last, keepdims = call.select_last_index, call.keepdims
    search = reduce.prepared(x, None, axes, call.largest, last, BEST, keepdims, values, own)
    wanted = slice(0 if values else 1, 1 if index is None else 2)
    if len(call.largest) == 1:
        return lambda x: search(x, None)[wanted]
    return lambda x: [end for each in search(x, None)[wanted] for end in each.unbind()]


def _hardmax(x: Any, axis: Any, **options: Any) -> Any:
    """Answer a call of ``hardmax`` of an array on a GPU."""
    key = _key_of("hardmax", (x,), axis, *options.values())
    known = _KNOWN.get(key)
    if known is not None:
        return known(x)
    refuse_out("hardmax", options.pop("out", None))
    operand = operand_of("hardmax", x)
    elements: Any = operand.array
    call = OnDevice("hardmax", (True,), axis, keepdims=True, engine=DEVICE, **options)
    (best,) = call.find(operand, False, _INT64, -1)
    (result,) = ones(elements.tensor, best.indices, call.axes(elements.ndim))
    if key is not None and _is_plain(call, operand):
        _note(key, _mark(call, layout_of(x)))
    return operand.wrap(result, ())


def _mark(call: OnDevice, x: Layout) -> Callable[..., Any]:
    """Return what answers plain calls of ``hardmax``."""
    axes = call.axes(len(x.shape))
    search = reduce.prepared(x, None, axes, (True,), False, BEST, True, False, torch.int64)
    mark = ones.prepared(x, search.results[1], axes)
    return lambda x: mark(x, search(x, None)[1])[0]


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
    (result,) = extremum(tensors, there, function == "maximum", nan)
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
    mode: Any,
    sorted: Any,
    nan_policy: Any,
    where: Any,
    default: Any,
    index_dtype: Any,
) -> Any:
    """Answer a call of ``top_k`` of an array on a GPU."""
    key = _key_of("top_k", (x,), k, axis, mode, sorted, nan_policy, where, default, index_dtype)
    known = _KNOWN.get(key)
    if known is not None:
        return known(x)
    operand = operand_of("top_k", x)
    elements: Any = operand.array
    call = TopKCall.of(elements, k, axis, mode, sorted, nan_policy, default, index_dtype, DEVICE)
    there: Any = spread_mask_of("top_k", where, elements)
    best = call.finish(elements, call.select(elements, there), is_whole=there is None)
    plain = (
        there is None and call.axis is not None and call.nan_policy == "propagate" and call.index == _INT64
    )
    if key is not None and plain:
        select_best = select.prepared(layout_of(x), None, call.k, call.axis, call.largest, BEST)
        _note(key, lambda x: select_best(x, None))
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
