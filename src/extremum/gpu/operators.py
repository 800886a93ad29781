"""Functions of tensors as operators, by which ``torch.compile`` knows them.

They are custom operators, not those of ``torch.library.triton_op``, which puts the kernels themselves into the graph.
Tried with PyTorch 2.15: the plans see the sizes of a traced graph, which makes a graph of each size, where a custom
operator has one for all; and kernels of Triton's interpreter, by which the tests run, cannot be in a graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor

Function = TypeVar("Function", bound=Callable[..., Any])


def is_traced(x: torch.Tensor) -> bool:
    """Whether ``torch.compile`` traces the call: a tensor has no elements, and an operator stands for the kernels."""
    return isinstance(x, FakeTensor | FunctionalTensor)


def operator(schema: str, results: Callable[..., Any]) -> Callable[[Function], Function]:
    """Make a function of tensors an operator of this name and types where it is traced; elsewhere it stays as it is.

    `results` makes the results without their elements. The first argument is a tensor or a list of them.
    """
    name, parenthesis, types = schema.partition("(")

    def decorate(function: Function) -> Function:
        own = torch.library.custom_op(
            f"extremum::{name}", function, mutates_args=(), schema=parenthesis + types
        )
        own.register_fake(results)

        @functools.wraps(function)
        def call(first: Any, *given: Any) -> Any:
            traced = is_traced(first if isinstance(first, torch.Tensor) else first[0])
            return own(first, *given) if traced else function(first, *given)

        return cast(Function, call)

    return decorate
