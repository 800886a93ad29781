"""Functions of tensors, each described once: how ``torch.compile`` knows it, what it returns, and how it runs.

They are custom operators, not those of ``torch.library.triton_op``, which puts the kernels themselves into the graph.
Tried with PyTorch 2.15: the plans see the sizes of a traced graph, which makes a graph of each size, where a custom
operator has one for all; and kernels of Triton's interpreter, by which the tests run, cannot be in a graph.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor

from extremum.gpu.memory import Layout, layout_of, without_gaps

Run = Callable[..., None]
"""Reads the first two arguments of an operator, and writes its results, which come after them."""

Results = Sequence[tuple[Sequence[int], torch.dtype] | None]
"""The shape and the element type of each result; None for one that is not wanted."""


def is_traced(x: torch.Tensor) -> bool:
    """Whether ``torch.compile`` traces the call: a tensor has no elements, and an operator stands for the kernels."""
    return isinstance(x, FakeTensor | FunctionalTensor)


class Prepared:
    """An operator for tensors of certain layouts: all but the memory."""

    __slots__ = ("_allocate", "results", "run")

    def __init__(self, results: list[Any], run: Run) -> None:
        # The layouts; None for what is not wanted.
        self.results = results
        self.run = run
        self._allocate = [None if each is None else each.allocate for each in results]

    def __call__(self, x: Any, other: torch.Tensor | None) -> list[Any]:
        """Return the results for a tensor or several, and for another one."""
        results = [allocate and allocate() for allocate in self._allocate]
        self.run(x, other, *results)
        return results


class Operator:
    """A function of a tensor or several, of one more tensor or None, and of options that decide how it runs."""

    def __init__(self, schema: str, results: Callable[..., Results], plan: Callable[..., Run]) -> None:
        name, parenthesis, types = schema.partition("(")
        self._results = results
        self._plan = plan
        # The layouts and the options decide everything; they are the same again and again.
        self.prepared = functools.lru_cache(maxsize=4096)(self._prepare)
        self._traced = torch.library.custom_op(
            f"extremum::{name}", self._in_graph, mutates_args=(), schema=parenthesis + types
        )
        self._traced.register_fake(self._fake)

    def __call__(self, x: Any, other: torch.Tensor | None, *options: Any) -> Any:
        """Return the results; within a graph, a tensor without elements for what is not wanted."""
        if is_traced(x if isinstance(x, torch.Tensor) else x[0]):
            results = self._traced(x, other, *options)
            return results if isinstance(results, tuple) else (results,)
        return self.prepared(layout_of(x), layout_of(other), *options)(x, other)

    def _prepare(self, x: Any, other: Layout | None, *options: Any) -> Prepared:
        device = (x if isinstance(x, Layout) else x[0]).device
        results = [
            None if each is None else without_gaps(each[1], each[0], device)
            for each in self._results(x, other, *options)
        ]
        return Prepared(results, self._plan(results, x, other, *options))

    def _in_graph(self, x: Any, other: torch.Tensor | None, *options: Any) -> Any:
        options = tuple([tuple(each) if isinstance(each, list) else each for each in options])
        return self._without_none(x, self(x, other, *options))

    def _fake(self, x: Any, other: torch.Tensor | None, *options: Any) -> Any:
        first = x if isinstance(x, torch.Tensor) else x[0]
        results = self._results(x, other, *options)
        made = [None if each is None else first.new_empty(each[0], dtype=each[1]) for each in results]
        return self._without_none(x, made)

    def _without_none(self, x: Any, results: list[Any]) -> Any:
        first = x if isinstance(x, torch.Tensor) else x[0]
        own = tuple([first.new_empty(0) if each is None else each for each in results])
        return own if own[1:] else own[0]


def operator(schema: str, results: Callable[..., Results]) -> Callable[[Callable[..., Run]], Operator]:
    """Make an operator of a function that gets the layouts of the results and of the arguments, and returns what runs.

    `results` takes the same arguments, and tensors as well as layouts.
    """
    return functools.partial(Operator, schema, results)
