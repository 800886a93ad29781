"""Ways to cut arrays into chunks: even and uneven ones, of one element, and of none."""

from math import prod

from hypothesis import strategies as st


@st.composite
def chunkings(draw, length):
    """The sizes of the chunks along one axis."""
    cuts = sorted(draw(st.lists(st.integers(0, length), max_size=6)))
    return tuple(stop - start for start, stop in zip([0, *cuts], [*cuts, length], strict=True))


@st.composite
def grids(draw, shape, most=24):
    """The sizes of the chunks along every axis, in no more than so many chunks."""
    sizes = [draw(chunkings(length)) for length in shape]
    for axis in draw(st.permutations(range(len(shape)))):
        if prod(map(len, sizes)) > most:
            sizes[axis] = (shape[axis],)
    return tuple(sizes)
