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

from extremum.gpu.memory import Layout, bits_of, layouts_of, without_gaps

Results = Sequence[tuple[Sequence[int], torch.dtype] | None]
"""The shape and the element type of each result; None for one that is not wanted."""

Run = Callable[..., None]
"""Gets the arrays of an operator and memory for its results, and writes these."""

Plan = tuple[Run, Sequence[Layout | None]]
"""What runs, and the layouts that it takes for all that it gets: memory in other layouts is copied."""


def is_traced(x: torch.Tensor) -> bool:
    """Whether ``torch.compile`` traces the call: a tensor has no elements, and an operator stands for the kernels."""
    return isinstance(x, FakeTensor | FunctionalTensor)


class Prepared:
    """An operator for arrays of certain layouts: all but the memory."""

    __slots__ = ("_allocate", "run")

    def __init__(self, results: list[Any], run: Run) -> None:
        """`results` are the layouts; None for what is not wanted."""
        self.run = run
        self._allocate = [None if each is None else each.allocate for each in results]

    def __call__(self, *arrays: torch.Tensor | None) -> list[Any]:
        """Return the results for the arrays that the operator takes."""
        results = [allocate and allocate() for allocate in self._allocate]
        self.run(*arrays, *results)
        return results


class Operator:
    """A function of arrays, some of which may be None, and of options that decide how it runs."""

    def __init__(self, schema: str, results: Callable[..., Results], plan: Callable[..., Plan]) -> None:
        name, _, options = schema.partition("(")
        self._results = results
        self._plan = plan
        # The layouts and the options decide everything; they are the same again and again.
        self.prepared = functools.lru_cache(maxsize=4096)(self._prepare)
        self._traced = torch.library.custom_op(
            f"extremum::{name}",
            self._in_graph,
            mutates_args=(),
            schema=f"(Tensor?[] arrays, {options} -> Tensor[]",
        )
        self._traced.register_fake(self._fake)

    def like(self, arrays: Sequence[Any], *options: Any) -> Callable[..., Sequence[Any]]:
        """Return what answers for arrays like these; within a graph, without elements for what is not wanted."""
        if is_traced(arrays[0]):
            return lambda *arrays: self._traced(arrays, *options)
        return self.prepared(layouts_of(arrays), *options)

    def __call__(self, arrays: Sequence[Any], *options: Any) -> Sequence[Any]:
        """Return the results."""
        return self.like(arrays, *options)(*arrays)

    def _prepare(self, arrays: tuple[Layout | None, ...], *options: Any) -> Prepared:
        device = arrays[0].device  # type: ignore[union-attr]
        results = [
            None if each is None else without_gaps(each[1], each[0], device)
            for each in self._results(arrays, *options)
        ]
        if all(0 in each.shape for each in results if each is not None):
            return Prepared(results, lambda *memory: None)
        run, wanted = self._plan(results, arrays, *options)
        given = [*arrays, *results]
        return Prepared(results, run if given == wanted else _fitted(run, given, wanted, len(arrays)))

    def _in_graph(self, arrays: Sequence[Any], *options: Any) -> list[Any]:
        own = [tuple(each) if isinstance(each, list) else each for each in options]
        return [arrays[0].new_empty(0) if each is None else each for each in self(arrays, *own)]

    def _fake(self, arrays: Sequence[Any], *options: Any) -> list[Any]:
        x = arrays[0]
        results = self._results(arrays, *options)
        return [x.new_empty(0) if each is None else x.new_empty(each[0], dtype=each[1]) for each in results]


def operator(schema: str, results: Callable[..., Results]) -> Callable[[Callable[..., Plan]], Operator]:
    """Make an operator of a function that plans it: it gets the layouts of the results and of the arrays, and options.

    `schema` has the name and the options. `results` gets tensors or layouts, and the options.
    """
    return functools.partial(Operator, schema, results)


def _fitted(run: Run, given: Sequence[Layout | None], wanted: Sequence[Any], inputs: int) -> Run:
    """Return what runs on copies of memory that lies in other layouts than is wanted; the first are inputs."""

    def fitted(*memory: Any) -> None:
        own = list(memory)
        for at, layout in enumerate(wanted):
            if layout != given[at]:
                own[at] = layout.copy(memory[at]) if at < inputs else layout.allocate()
        run(*own)
        for each, result in zip(own[inputs:], memory[inputs:], strict=True):
            if each is not result:
                bits_of(result).copy_(bits_of(each))

    return fitted
