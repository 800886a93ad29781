"""What the laws are tested on: arrays of every element type, rank and layout with a set of axes, and operands."""

from dataclasses import dataclass
from math import prod

import numpy as np
from hypothesis import strategies as st

import twins
from agreement import find
from cases import broadcastable
from extremum import reference
from extremum.operations import Extremum
from layouts import LAYOUTS
from strategies import BEYOND_BUFFERS, axes_sets, element_types, sample

# Short sides, and those around the widths of vectors, blocks and narrow indices.
_SIDES = st.one_of(st.integers(1, 5), st.sampled_from([7, 8, 15, 16, 17, 31, 33, 64, 65, 127, 129, 255, 256, 257, 300]))


@dataclass
class Laid:
    """An array and the whole memory that it lies in, to check that no byte changes."""

    array: np.ndarray

    def __post_init__(self):
        memory = self.array
        while isinstance(memory.base, np.ndarray):
            memory = memory.base
        self._memory = memory
        self._before = memory.tobytes()

    @property
    def untouched(self):
        return self._memory.tobytes() == self._before


@st.composite
def shapes(draw, least=1, most=3000):
    """Rank 0 to 8, at most `most` elements, or some more than 8,192; with `least` 0, some shapes have no elements."""
    if most >= 3000 and draw(st.sampled_from([False, False, False, True])):
        return draw(st.sampled_from(BEYOND_BUFFERS))
    sides = draw(st.lists(_SIDES if least else st.one_of(_SIDES, st.just(0)), max_size=8))
    for axis in range(len(sides)):
        # A side of 0 counts as 1: memory around an empty array is not empty.
        if prod(max(each, 1) for each in sides[: axis + 1]) > most:
            sides[axis] = 1
    return tuple(sides)


def _laid_out(draw, rng, dtype, shape):
    return draw(st.sampled_from(LAYOUTS))(sample(rng, dtype, shape), rng)


@st.composite
def arrays(draw, shape=shapes(), dtypes=element_types()):  # noqa: B008
    """An array of any type, shape and layout; no side is 0 unless `shape` gives such shapes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(dtypes)
    return _laid_out(draw, rng, dtype, draw(shape))


@st.composite
def arrays_and_axes(draw, least_axes=0, dtypes=element_types(), most=3000):  # noqa: B008
    """An array without empty axes, and some of its axes in any order."""
    x = draw(arrays(shapes(most=most).filter(lambda shape: len(shape) >= least_axes), dtypes))
    axes = draw(axes_sets(x.ndim).filter(lambda axes: len(axes) >= least_axes))
    return x, axes


@st.composite
def operands(draw, most=3000):
    """One to five arrays of one type that broadcast to the shape of the first."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(element_types())
    shape = draw(shapes(least=0, most=most))
    others = [broadcastable(rng, shape) for _ in range(draw(st.integers(0, 4)))]
    return [_laid_out(draw, rng, dtype, each) for each in (shape, *others)]


@st.composite
def chunkings(draw, length):
    """The sizes of the chunks along one axis."""
    cuts = sorted(draw(st.lists(st.integers(0, length), max_size=6)))
    return tuple(stop - start for start, stop in zip([0, *cuts], [*cuts, length], strict=True))


@st.composite
def grids(draw, shape, most=24):
    """The sizes of the chunks along every axis; at most `most` chunks in total."""
    sizes = [draw(chunkings(length)) for length in shape]
    for axis in draw(st.permutations(range(len(shape)))):
        if prod(map(len, sizes)) > most:
            sizes[axis] = (shape[axis],)
    return tuple(sizes)


def search(x, *arguments, **options):
    """Values and indices from the reference where it is fast enough, from its twin elsewhere."""
    return (find if x.size <= 3000 else twins.find)(x, *arguments, **options)


def oracle(operation, *inputs):
    """The reference where it is fast enough, its twin elsewhere."""
    small = sum(x.size for x in inputs) <= 64 and not isinstance(operation, Extremum)
    return (reference if small else twins).run(operation, *inputs)
