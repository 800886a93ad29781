"""The calls of the functions for arrays on a GPU: options, policies and messages are those of the CPU."""

from __future__ import annotations

import struct
from collections.abc import Callable
from types import NoneType
from typing import Any

import numpy as np
import torch
from torch._C._functorch import is_functorch_wrapped_tensor
from torch._dynamo import nonstrict_trace

from extremum.elementwise import NUMBERS, extremum
from extremum.errors import ArgumentError
from extremum.functions import FUNCTIONS, Kind
from extremum.gpu.engine import Device
from extremum.gpu.operands import operand_of
from extremum.gpu.steps import Steps
from extremum.reductions import beyond, hardmax
from extremum.selection import top_k
from extremum.signatures import result_of

_KNOWN: dict[Any, Callable[..., Any]] = {}
"""What answers calls like those that were answered, by their keys."""
_MOST_KNOWN = 4096
# What a key may have of options and numbers as they are: others may change, or are equal to values of other types.
_SIMPLE = {bool, int, float, str, type, NoneType}


def _key_of(function: str, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return by what a call is known: layouts, numbers and simple options; None for a call with more than these."""
    layouts: list[Any] = []
    simple = [*options.values()]
    for x in given:
        if type(x) is not torch.Tensor:
            layouts.append(None)
            simple.append(x)
            continue
        if x.layout is not torch.strided or x.requires_grad or x.is_neg() or x.is_nested:
            return None
        if is_functorch_wrapped_tensor(x):
            return None
        layouts.append((x.dtype, x.shape, x.stride(), x.device))
    # 1 is equal to True, and is another option.
    kinds = tuple(map(type, simple))
    if not _SIMPLE.issuperset(kinds):
        return None
    if float in kinds:
        # 0 is equal to -0, and NaN is not equal to itself.
        simple = [struct.pack("d", x) if type(x) is float else x for x in simple]
    return function, *layouts, *simple, kinds


def _decided(
    function: str, arrays: tuple[Any, ...], options: dict[str, Any], given: tuple[Any, ...]
) -> tuple[Any, Steps]:
    """Answer a call as on the CPU, but with another engine; return what this has done with what is given."""
    engine = Device(given)
    if options.pop("out", None) is not None:
        raise ArgumentError(f"{function}: results on a GPU are new arrays", remedy="omit out")
    kind = FUNCTIONS[function].kind
    # Python's numbers take the type of the arrays.
    takes_numbers = kind is Kind.ELEMENTWISE and any(type(x) not in NUMBERS for x in arrays)
    operands = tuple(
        [x if takes_numbers and type(x) in NUMBERS else operand_of(function, x, engine) for x in arrays]
    )
    if kind is Kind.ELEMENTWISE:
        results = extremum(function, operands, None, **options)
    elif kind is Kind.ONE_HOT:
        results = hardmax(operands[0], out=None, **options)
    elif kind is Kind.SELECTION:
        results = top_k(operands[0], in_order=options.pop("sorted"), **options)
    else:
        results = beyond(function, operands[0], **options)
    return results, engine.steps


# What stands for None while `torch.compile` traces a call: PyTorch 2.11 takes no None there.
_NONE = "\0"


def _traced(function: str, *arrays: Any, **options: Any) -> Any:
    """Answer a call with tensors that have no elements: by operators, without a graph break."""
    own = {name: None if type(each) is str and each == _NONE else each for name, each in options.items()}
    results, _ = _decided(function, arrays, own, ())
    # PyTorch takes no tuples with names there.
    return tuple(results) if isinstance(results, tuple) else results


# Where the graph breaks nevertheless, nothing in the call is worth tracing.
_alone = torch.compiler.disable(_traced)
_in_graph = nonstrict_trace(lambda *arrays, **options: _alone(*arrays, **options))


def answer(function: str, arrays: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Answer a call of an array function of this name."""
    if torch.compiler.is_compiling():
        named = {name: _constant(name, each) for name, each in options.items()}
        results = _in_graph(function, *arrays, **named)
        return result_of(function, results) if isinstance(results, tuple) else results
    where = options["where"]
    if where is None:
        given = arrays
        key = _key_of(function, given, options)
    else:
        # A mask is one more array.
        given = (*arrays, where)
        key = _key_of(function, given, {**options, "where": True})
    known = _KNOWN.get(key)
    if known is not None:
        return known(*given)
    results, steps = _decided(function, arrays, options, given)
    if key is not None and (again := steps.repeated(results)) is not None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = again
    return results


def _constant(name: str, option: Any) -> Any:
    """Return an option as PyTorch has it among its constants, which are names and no types."""
    if name in ("dtype", "index_dtype") and not isinstance(option, str | None):
        return np.dtype(option).name
    return _NONE if option is None else option
