"""The calls of the functions for arrays on a GPU: options, policies and messages are those of the CPU."""

from __future__ import annotations

import functools
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
from extremum.functions import FUNCTIONS, Kind
from extremum.gpu.engine import Device
from extremum.gpu.memory import BITS
from extremum.gpu.operands import BEST, WORST, mask_of, operand_of, tensor_type
from extremum.gpu.operators import is_traced
from extremum.interop import Operand, common_library
from extremum.reductions import beyond, hardmax, require_policy
from extremum.selection import top_k
from extremum.signatures import result_of

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


def _decided(function: str, arrays: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Device]:
    """Answer a call as on the CPU, but with another engine; return this too."""
    engine = Device()
    if options.pop("out", None) is not None:
        raise ArgumentError(f"{function}: results on a GPU are new arrays", remedy="omit out")
    kind = FUNCTIONS[function].kind
    if kind is Kind.ELEMENTWISE:
        return _compared(function, arrays, engine, **options), engine
    operand = operand_of(function, arrays[0], engine)
    if kind is Kind.ONE_HOT:
        results = hardmax(operand, out=None, **options)
    elif kind is Kind.SELECTION:
        results = top_k(operand, in_order=options.pop("sorted"), **options)
    else:
        results = beyond(function, operand, **options)
    return results, engine


def _compared(
    function: str, operands: tuple[Any, ...], engine: Device, nan_policy: Any = None, where: Any = None
) -> Any:
    """Answer a call of ``maximum`` or ``minimum``."""
    nan_policy = "propagate" if nan_policy is None else nan_policy
    require_policy(function, nan_policy)
    return at_once(function, operands, None, nan_policy, where, functools.partial(_extremum, engine))


def _extremum(
    engine: Device, function: str, operands: tuple[Any, ...], out: Any, nan_policy: str, where: Any
) -> Any:
    numbers = [x for x in operands if type(x) in NUMBERS]
    by_place = {
        at: operand_of(function, x, engine) for at, x in enumerate(operands) if type(x) not in NUMBERS
    }
    several = list(by_place.values())
    own = common_library(several)
    tensors = _of_one_type(operands, by_place, common_type(function, several, numbers))
    there = None if where is None else mask_of(function, where, tensors[0].device).tensor
    if not is_traced(tensors[0]):
        # Sizes that are not known yet are PyTorch's to compare.
        shape = broadcast_shape(function, [tuple(each.shape) for each in tensors])
        if there is not None:
            broadcast_with_mask(function, shape, tuple(there.shape))
    nan = WORST if nan_policy == "omit" else BEST
    result = engine.extremum(tensors, there, function == "maximum", nan)
    if any(own is not given for own, given in zip(tensors, operands, strict=True)):
        # Operands are converted first.
        engine.answer = None
    if nan_policy == "raise":
        nans = engine.is_nan(result)
        refuse_nan_at(engine.first(nans if there is None else nans & there))
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


# What stands for None while `torch.compile` traces a call: PyTorch 2.11 takes no None there.
_NONE = "\0"


def _traced(function: str, *arrays: Any, **options: Any) -> Any:
    """Answer a call with tensors that have no elements: by operators, without a graph break."""
    own = {name: None if type(each) is str and each == _NONE else each for name, each in options.items()}
    results, _ = _decided(function, arrays, own)
    # PyTorch takes no tuples with names there.
    return tuple(results) if isinstance(results, tuple) else results


# Where the graph breaks nevertheless, nothing in the call is worth tracing.
_alone = torch.compiler.disable(_traced)
_in_graph = nonstrict_trace(lambda *arrays, **options: _alone(*arrays, **options))


def answer(function: str, *arrays: Any, **options: Any) -> Any:
    """Answer a call of an array function of this name."""
    if torch.compiler.is_compiling():
        named = {name: _constant(name, each) for name, each in options.items()}
        results = _in_graph(function, *arrays, **named)
        return result_of(function, results) if isinstance(results, tuple) else results
    key = _key_of(function, arrays, *options.values())
    known = _KNOWN.get(key)
    if known is not None:
        return known(*arrays)
    results, engine = _decided(function, arrays, options)
    if key is not None and engine.answer is not None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = engine.answer
    return results


def _constant(name: str, option: Any) -> Any:
    """Return an option as PyTorch has it among its constants, which are names and no types."""
    if name in ("dtype", "index_dtype") and not isinstance(option, str | None):
        return np.dtype(option).name
    return _NONE if option is None else option
