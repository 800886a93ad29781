"""What a call does to tensors, one function after the other: a call like it repeats this, and decides nothing."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch

Function = Callable[..., Sequence[Any]]


class Steps:
    """The functions that a call has run, and which tensors each has taken: arrays of the call, or results of others."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        # All tensors in the order in which they have come; they stay here, so that no two have one identity.
        self._known: list[Any] = [*arrays, None]
        self._steps: list[tuple[Function, list[int]]] = []
        # Of an array that comes twice, nothing tells which of the two a function has taken.
        self._can_repeat = len({id(x) for x in arrays}) == len(arrays)

    def run(self, function: Function, *tensors: Any) -> Sequence[Any]:
        """Return the results of a function of tensors; some of both may be None."""
        results = function(*tensors)
        self._steps.append((function, self._places(tensors)))
        self._known += results
        return results

    def one(self, function: Callable[..., torch.Tensor], *tensors: Any) -> torch.Tensor:
        """Return the result of a function that has one."""
        (result,) = self.run(lambda *given: (function(*given),), *tensors)
        return result

    def forbid(self) -> None:
        """Note that the call has seen elements: a call on others may go on in another way."""
        self._can_repeat = False

    def repeated(self, results: Any) -> Callable[..., Any] | None:
        """Return what answers a call like this one, which has returned `results`; None if that has to be decided."""
        # A tuple has names here.
        kind = type(results) if isinstance(results, tuple) else None
        wanted = self._places([results] if kind is None else results)
        if not self._can_repeat:
            return None
        steps = [(function, _taker(places)) for function, places in self._steps]
        take = _taker(wanted) if kind else operator.itemgetter(*wanted)

        def again(*arrays: Any) -> Any:
            known = [*arrays, None]
            for function, taken in steps:
                known += function(*taken(known))
            return kind(*take(known)) if kind else take(known)

        return again

    def _places(self, tensors: Sequence[Any]) -> list[int]:
        """Return where tensors stand among all."""
        places = []
        for x in tensors:
            place = next((at for at, each in enumerate(self._known) if each is x), None)
            if place is None:
                # It comes from elsewhere, as an array that has been copied.
                self._can_repeat = False
            else:
                places.append(place)
        return places


def _taker(places: list[int]) -> Callable[[list[Any]], Sequence[Any]]:
    """Return what takes the elements of a list at some places."""
    if len(places) > 1:
        return operator.itemgetter(*places)
    return lambda known: [known[at] for at in places]
