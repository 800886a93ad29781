"""Every answer of one pass beside the plain one: values, indices, both ends, masks and NaN left out.

    python -m benchmarks.answers                            everything, in some five minutes
    python -m benchmarks.answers --filter 'float32 16 MB'   the cases whose name matches
    python -m benchmarks.answers --calls                    what a call on eight elements costs, PyTorch's tensors too

Each result is compared with NumPy's before it is timed; the contenders of a case take turns in an order drawn anew,
and the least time of each counts. Beside a figure that misses what is wanted stands the same ratio of bare loops, which
take turns with the calls, read the same arrays and fill as many bytes of results: where that is missed by less than a
tenth, more cannot be had.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from math import isqrt
from typing import Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

import extremum as ex
from benchmarks import machine
from benchmarks.timing import interleave
from extremum import _native
from extremum.printable import markdown_table

__all__ = ["CASES", "DEMANDS", "Case", "Contender", "Demand", "contenders", "measure"]

Array = NDArray[Any]

TYPES = ("float32", "float64", "float16", "int8", "int32")
# From a number of elements to a shape, and the axis that is reduced.
LAYOUTS: dict[str, tuple[Callable[[int], tuple[int, ...]], int | None]] = {
    "one row": (lambda n: (n,), None),
    "columns": (lambda n: (isqrt(n), isqrt(n)), 0),
    "2 columns": (lambda n: (n // 2, 2), 0),
    "3 columns": (lambda n: (n // 3, 3), 0),
    "rows of 2000": (lambda n: (n // 2000, 2000), 1),
    "rows of 40": (lambda n: (n // 40, 40), 1),
    "rows of 10": (lambda n: (n // 10, 10), 1),
    "rows of 4": (lambda n: (n // 4, 4), 1),
    "middle axis": (lambda n: (n // 20000, 100, 200), 1),
}
# Shares of elements that take part, and of elements that are NaN.
MASKS = {"half": 0.5, "all": 1.0, "1 %": 0.01}
MISSING = {"no NaN": 0.0, "5 % NaN": 0.05, "one NaN": 1e-12}
# What a slice gives in which nothing takes part.
NOTHING = -1
# What share of the ratio of bare loops is as good as that.
NEAR = 0.9


class Case(NamedTuple):
    """An array to be reduced."""

    element: str
    megabytes: int
    layout: str

    @property
    def name(self) -> str:
        """What a filter is compared with."""
        return f"{self.element} {self.megabytes} MB, {self.layout}"

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return LAYOUTS[self.layout][0](self.megabytes * 10**6 // np.dtype(self.element).itemsize)

    @property
    def axis(self) -> int | None:
        """The axis that is reduced, None for all."""
        return LAYOUTS[self.layout][1]


CASES = tuple(
    Case(element, megabytes, layout)
    for megabytes in (4, 16, 64)
    for element in TYPES
    for layout in LAYOUTS
    if megabytes < 64 or element == "float32"
)


class Demand(NamedTuple):
    """How long some contenders may take beside another one, or at least has that one to take beside them."""

    words: str
    ours: re.Pattern[str]
    over: str
    limit: float
    least: bool = False

    def met(self, ratio: float) -> bool:
        """Whether a ratio is what is wanted."""
        return ratio >= self.limit if self.least else ratio <= self.limit


DEMANDS = (
    Demand("value and index / index", re.compile("^max, index$"), "argmax", 1.15),
    Demand("np.max / max", re.compile("^max$"), "np.max", 0.95, least=True),
    Demand("max / index", re.compile("^max$"), "argmax", 1.0),
    Demand("minmax / max", re.compile("^minmax$"), "max", 1.2),
    Demand("omit / propagate", re.compile("^omit"), "argmax", 1.3),
    Demand("np.nanargmax / omit", re.compile("^omit, 5 % NaN"), "np.nanargmax", 5.0, least=True),
    Demand("bottleneck / omit", re.compile("^omit, 5 % NaN"), "bottleneck", 3.0, least=True),
    Demand("where / all", re.compile("^where"), "argmax", 2.0),
)


def draw(case: Case) -> tuple[Array, dict[str, Array], dict[str, Array]]:
    """Return the array of a case, the same with NaN for some elements, and masks, by name."""
    random = np.random.default_rng(14)
    shape, dtype = case.shape, np.dtype(case.element)
    numbers = random.standard_normal(shape, np.float32)
    # (Far from the largest int8, at which a search may stop.)
    x = (numbers if dtype.kind == "f" else numbers * 20).astype(dtype)
    drawn = random.random(shape, np.float32)
    missing = {}
    for words, share in MISSING.items() if dtype.kind == "f" else ():
        # (Where nothing is NaN it is the array itself: a copy may lie in another cache.)
        missing[words] = np.where(drawn < share, dtype.type(np.nan), x) if share else x
        if words == "one NaN":
            missing[words].flat[x.size // 2] = np.nan
        # One number in each slice: the peers refuse a slice without any.
        first = (0,) * x.ndim if case.axis is None else (slice(None),) * case.axis + (0,)
        missing[words][first] = x[first]
    masks = {words: drawn < share for words, share in MASKS.items()}
    if case.axis is not None:
        # Made anew, as a user has them: a view of the whole mask would lie as far apart as that does.
        masks["by the last axis"] = np.broadcast_to(masks["half"][(0,) * (x.ndim - 1)].copy(), shape)
        whole = masks["half"][(slice(None), *(slice(0, 1),) * (x.ndim - 1))].copy()
        masks["by the first axis"] = np.broadcast_to(whole, shape)
    return x, missing, masks


def expected(x: Array, axis: int | None, there: Array | None) -> tuple[Array, Array]:
    """Return the values and the indices of the largest elements that take part, as NumPy finds them."""
    if there is None:
        return np.asarray(np.max(x, axis)), np.asarray(np.argmax(x, axis))
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    values = np.max(x, axis, initial=lowest, where=there)
    wide = values if axis is None else np.expand_dims(values, axis)
    found = (x == wide) & there
    return values, np.asarray(np.where(found.any(axis), found.argmax(axis), NOTHING))


class Contender(NamedTuple):
    """A call, and a bare loop that reads the arrays that it reads and fills as many bytes with results."""

    run: Callable[[], Any]
    bare: Callable[[], None]


def contenders(case: Case) -> dict[str, Contender]:
    """Return the calls of a case by name, each of which has given the right result."""
    x, missing, masks = draw(case)
    axis = case.axis
    calls: dict[str, Contender] = {}

    def add(name: str, run: Callable[[], Any], right: tuple[Array, ...], *read: Array) -> None:
        result = run()
        results = result if isinstance(result, tuple) else (result,)
        for one, other in zip(results, right, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"{case.name}: {name}")
        calls[name] = Contender(run, partial(_loop, read, [np.asarray(each) for each in results]))

    largest, index = expected(x, axis, None)
    add("argmax", partial(ex.argmax, x, axis), (index,), x)
    add("max", partial(ex.max, x, axis), (largest,), x)
    add("max, index", partial(ex.max, x, axis, return_index=True), (largest, index), x)
    add("minmax", partial(ex.minmax, x, axis), (np.min(x, axis), largest), x)
    add("np.max", partial(np.max, x, axis), (largest,), x)
    for words, data in missing.items():
        place = expected(data, axis, ~np.isnan(data))[1]
        add(f"omit, {words}", partial(ex.argmax, data, axis, nan_policy="omit"), (place,), data)
        if words == "5 % NaN":
            add("np.nanargmax", partial(np.nanargmax, data, axis), (place,), data)
            if find_spec("bottleneck") and x.dtype.itemsize >= 4:
                add("bottleneck", partial(import_module("bottleneck").nanargmax, data, axis), (place,), data)
    for words, mask in masks.items():
        masked = partial(ex.argmax, x, axis, where=mask, default=NOTHING)
        # (A mask that is broadcast stays in the cache.)
        read = (x, mask) if mask.flags.c_contiguous else (x,)
        add(f"where, {words}", masked, (expected(x, axis, mask)[1],), *read)
    return calls


def _loop(read: tuple[Array, ...], results: list[Array]) -> None:
    for array in read:
        _native.read_bandwidth(array)
    # All results are there at once, as a call's are: one after the other would be written to the same memory.
    for result in [np.empty_like(result) for result in results]:
        result.fill(0)


class Figure(NamedTuple):
    """How a demand comes out, and the same ratio of bare loops."""

    demand: Demand
    name: str
    ratio: float
    bound: float

    @property
    def met(self) -> bool:
        """Whether the ratio is what is wanted, or what bare loops have but for a tenth."""
        if self.demand.met(self.ratio):
            return True
        return self.ratio >= NEAR * self.bound if self.demand.least else self.bound >= NEAR * self.ratio

    def __str__(self) -> str:
        near = ", near enough" * (self.met and not self.demand.met(self.ratio))
        return f"{self.name}: {self.demand.words} {self.ratio:.2f} (bare loops {self.bound:.2f}{near})"


def measure(case: Case, budget: float) -> Iterator[Figure]:
    """Time the contenders of a case, and yield its figures.

    Bare loops take turns with the calls: which arrays are in which cache is the same for both.
    """
    calls = contenders(case)
    ours = [name for name in calls if not re.match(r"np\.|bottleneck", name)]
    bare = {f"bare {name}": calls[name].bare for name in ours}
    best = interleave({name: call.run for name, call in calls.items()} | bare, budget, keep=[*ours, *bare])
    for demand in DEMANDS:
        for name in filter(demand.ours.search, calls):
            if demand.over not in best or (demand.words == "np.max / max" and case.layout != "one row"):
                continue
            over, mine, loop = best[demand.over], best[name], best[f"bare {name}"]
            if demand.least:
                yield Figure(demand, name, over / mine, over / loop)
            else:
                yield Figure(demand, name, mine / over, loop / best[f"bare {demand.over}"])


def cost_of_calls(budget: float) -> dict[str, float]:
    """Return the least seconds of calls on eight elements."""
    x = np.arange(8, dtype=np.float32)
    calls: dict[str, Callable[[], Any]] = {"argmax": partial(ex.argmax, x), "np.argmax": partial(np.argmax, x)}
    if find_spec("torch"):
        tensor = import_module("torch").from_numpy(x)
        assert int(ex.argmax(tensor)) == 7
        calls["argmax of a tensor"] = partial(ex.argmax, tensor)
        calls["max of a tensor"] = partial(ex.max, tensor)
        calls["max"] = partial(ex.max, x)
    return interleave(calls, budget, keep=calls)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--filter", "pattern", metavar="REGEX", default="", help="Only the cases whose name matches.")
@click.option("--calls", "calls", is_flag=True, help="What a call on eight elements costs, and nothing else.")
@click.option(
    "--seconds",
    "budget",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="For a case of 4 MB; larger ones have more.",
)
@click.option("--every", is_flag=True, help="Every figure, not only the worst of each kind.")
def answers(pattern: str, calls: bool, budget: float, every: bool) -> None:
    """Time every answer of one pass beside the plain one, on one thread."""
    machine.hold(1)
    ex.set_num_threads(1)
    if calls:
        rows = [[name, f"{seconds * 1e9:.0f} ns"] for name, seconds in cost_of_calls(budget).items()]
        click.echo(markdown_table(["call on eight elements", "time"], rows, figures=True))
        return
    wanted = [f"{each.words} ({'>=' if each.least else '<='} {each.limit})" for each in DEMANDS]
    rows, missed, count, open_ = [], [], 0, 0
    for case in CASES:
        if not re.search(pattern, case.name):
            continue
        # Large arrays take more than a few runs to come from the cache that they fit.
        figures = list(measure(case, budget * max(1, case.megabytes // 4)))
        row = [case.name]
        for demand in DEMANDS:
            mine = sorted((each for each in figures if each.demand is demand), key=lambda each: each.ratio)
            worst = mine[0 if demand.least else -1 :][:1]
            row.append("".join(f"{each.ratio:.2f}" for each in worst))
        rows.append(row)
        missed += [(case, each) for each in figures if every or not each.demand.met(each.ratio)]
        count += len(figures)
        open_ += sum(not each.met for each in figures)
    click.echo(markdown_table(["case", *wanted], rows, figures=True))
    for case, figure in missed:
        click.echo(f"{case.name}: {figure}")
    click.echo(f"{count} figures, {open_} of them neither as wanted nor near their bare loops")


if __name__ == "__main__":
    answers(prog_name="python -m benchmarks.answers")
