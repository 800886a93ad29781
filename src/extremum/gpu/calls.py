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
from extremum.gpu import plans
from extremum.gpu.elementwise import extremum
from extremum.gpu.engine import DEVICE, OnDevice
from extremum.gpu.memory import BITS, Layout, layouts_of
from extremum.gpu.operands import (
    BEST,
    WORST,
    mask_of,
    operand_of,
    spread_mask_of,
    tensor_type,
)
from extremum.gpu.operators import is_traced
from extremum.gpu.reductions import Search, ones, reduce
from extremum.gpu.selection import select
from extremum.interop import Operand, common_library
from extremum.reductions import ENDS, Index, Ints, index_type, require_policy, values_then_indices
from extremum.selection import TopKCall

_INT64 = np.dtype(np.int64)


# What stands for an option that a key may have: others may change, or are equal to values of other types.
_SIMPLE = {bool, int, str, type, NoneType}

Answer = tuple[Any, Any]
"""The results of a call; and if all that it does is known, what returns a function for calls like it, else False."""

Layouts = tuple[Layout, ...]

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


def _over_axes(
    function: str, x: Any, axis: Any, default: Any, return_index: bool = True, **options: Any
) -> Answer:
    """Answer a call of ``argmax``, ``argmin``, ``max``, ``min`` or ``minmax`` of an array on a GPU."""
    dtype = options.pop("dtype" if "dtype" in options else "index_dtype")
    values = not function.startswith("arg")
    operand = operand_of(function, x)
    call = OnDevice(function, ENDS[function], axis, engine=DEVICE, **options)
    index = index_type(function, dtype) if return_index else None
    results = values_then_indices(call.find(operand, values, index, default))
    own = tuple(operand.wrap(each, ()) for each in results)
    return own, _is_plain(call, operand) and (lambda: _search(call, layouts_of([x, None]), values, index))


def _is_plain(call: OnDevice, operand: Operand) -> bool:
    """Whether a reduction searches all elements, and does nothing else."""
    has_nan = operand.array.dtype.kind not in "biu"
    ignores_nan = call.nan_policy == "propagate" or (call.nan_policy == "omit" and not has_nan)
    return call.where is None and ignores_nan and operand.array.size > 0


def _search(call: OnDevice, arrays: Layouts, values: bool, index: Index) -> Callable[..., Any]:
    """Return what answers plain reductions."""
    own = torch.int64 if index is None else tensor_type(index)
    axes = call.axes(len(arrays[0].shape))
    last, keepdims = call.select_last_index, call.keepdims
    search = reduce.prepared(arrays, *Search(axes, call.largest, BEST, last, keepdims, values, own))
    wanted = slice(0 if values else 1, 1 if index is None else 2)
    if len(call.largest) == 1:
        return lambda x: search(x, None)[wanted]
    return lambda x: [end for each in search(x, None)[wanted] for end in each.unbind()]


def _hardmax(function: str, x: Any, axis: Any, **options: Any) -> Answer:
    """Answer a call of ``hardmax`` of an array on a GPU."""
    operand = operand_of(function, x)
    elements: Any = operand.array
    call = OnDevice(function, (True,), axis, keepdims=True, engine=DEVICE, **options)
    (best,) = call.find(operand, False, _INT64, -1)
    axes = call.axes(elements.ndim)
    (result,) = ones((elements.tensor, best.indices), axes)
    return operand.wrap(result, ()), _is_plain(call, operand) and (lambda: _mark(layouts_of([x, None]), axes))


def _mark(arrays: Layouts, axes: Ints) -> Callable[..., Any]:
    """Return what answers plain calls of ``hardmax``."""
    search = reduce.prepared(arrays, *Search(axes, (True,), values=False))
    mark = ones.prepared((arrays[0], search.results[1]), axes)
    return lambda x: mark(x, search(x, None)[1])[0]


def _maximum(function: str, *operands: Any, nan_policy: Any = None, where: Any = None) -> Answer:
    """Answer a call of ``maximum`` or ``minimum`` of arrays on a GPU."""
    nan_policy = "propagate" if nan_policy is None else nan_policy
    require_policy(function, nan_policy)
    answer: Answer = at_once(function, operands, None, nan_policy, where, _extremum)
    return answer


def _extremum(function: str, operands: tuple[Any, ...], out: Any, nan_policy: str, where: Any) -> Answer:
    numbers = [x for x in operands if type(x) in NUMBERS]
    by_place = {at: operand_of(function, x) for at, x in enumerate(operands) if type(x) not in NUMBERS}
    several = list(by_place.values())
    own = common_library(several)
    tensors = _of_one_type(operands, by_place, common_type(function, several, numbers))
    there = None if where is None else mask_of(function, where, tensors[0].device).tensor
    if not is_traced(tensors[0]):
        # Sizes that are not known yet are PyTorch's to compare.
        shape = broadcast_shape(function, [tuple(each.shape) for each in tensors])
        if there is not None:
            broadcast_with_mask(function, shape, tuple(there.shape))
    order = (function == "maximum", WORST if nan_policy == "omit" else BEST)
    first, *others = tensors
    while len(others) >= plans.MOST_OPERANDS:
        best = extremum([*others[: plans.MOST_OPERANDS], None], *order)
        others = [*best, *others[plans.MOST_OPERANDS :]]
    (result,) = extremum([first, *others, there], *order)
    if nan_policy == "raise":
        nans = DEVICE.is_nan(result)
        refuse_nan_at(DEVICE.first(nans if there is None else nans & there))
    is_plain = nan_policy != "raise" and len(tensors) <= plans.MOST_OPERANDS
    is_plain = is_plain and len({each.array.dtype for each in several}) == 1
    return own.wrap(result, ()), is_plain and (lambda: _compare(layouts_of([*operands, None]), *order))


def _compare(arrays: Layouts, largest: bool, nan: int) -> Callable[..., Any]:
    """Return what answers plain calls of ``maximum``."""
    compare = extremum.prepared(arrays, largest, nan)
    return lambda *operands: compare(*operands, None)[0]


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
    function: str,
    x: Any,
    k: Any,
    axis: Any,
    mode: Any,
    sorted: Any,
    nan_policy: Any,
    where: Any = None,
    default: Any = None,
    index_dtype: Any = None,
) -> Answer:
    """Answer a call of ``top_k`` of an array on a GPU."""
    operand = operand_of(function, x)
    elements: Any = operand.array
    call = TopKCall.of(elements, k, axis, mode, sorted, nan_policy, default, index_dtype, DEVICE)
    there: Any = spread_mask_of(function, where, elements)
    best = call.finish(elements, call.select(elements, there), is_whole=there is None)
    results = tuple([operand.wrap(each, ()) for each in best])
    is_plain = call.axis is not None and call.nan_policy == "propagate" and call.index == _INT64
    return results, is_plain and (lambda: _select(layouts_of([x, None]), call))


def _select(arrays: Layouts, call: TopKCall) -> Callable[..., Any]:
    """Return what answers plain calls of ``top_k``."""
    prepared = select.prepared(arrays, call.k, call.axis, call.largest, BEST)
    return lambda x: prepared(x, None)


# What stands for None while `torch.compile` traces a call: PyTorch 2.11 takes no None there.
_NONE = "\0"


def _callable(answer: Callable[..., Answer]) -> Callable[..., Any]:
    """Make a function of arrays and options of one that answers calls, and remember how it does."""

    def decided(function: str, *arrays: Any, **options: Any) -> Answer:
        options = {name: None if _is_none(each) else each for name, each in options.items()}
        if options.pop("out", None) is not None:
            raise ArgumentError(f"{function}: results on a GPU are new arrays", remedy="omit out")
        return answer(function, *arrays, **options)

    # `torch.compile` traces it with tensors that have no elements: to operators, without a graph break. Where the graph
    # breaks nevertheless, nothing in the call is worth tracing.
    alone = torch.compiler.disable(lambda *arrays, **options: decided(*arrays, **options)[0])
    traced = nonstrict_trace(lambda *arrays, **options: alone(*arrays, **options))

    def call(function: str, *arrays: Any, **options: Any) -> Any:
        if torch.compiler.is_compiling():
            return traced(
                function, *arrays, **{name: _constant(name, each) for name, each in options.items()}
            )
        key = _key_of(function, arrays, *options.values())
        known = _KNOWN.get(key)
        if known is not None:
            return known(*arrays)
        results, find = decided(function, *arrays, **options)
        if key is not None and find:
            if len(_KNOWN) >= _MOST_KNOWN:
                _KNOWN.clear()
            _KNOWN[key] = find()
        return results

    return call


def _constant(name: str, option: Any) -> Any:
    """Return an option as PyTorch has it among its constants, which are names and no types."""
    if name in ("dtype", "index_dtype") and not isinstance(option, str | None):
        return np.dtype(option).name
    return _NONE if option is None else option


def _is_none(option: Any) -> bool:
    return type(option) is str and option == _NONE


over_axes = _callable(_over_axes)
hardmax = _callable(_hardmax)
maximum = _callable(_maximum)
top_k = _callable(_top_k)
