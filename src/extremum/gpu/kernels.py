"""The Triton kernels. Each sees elements as the integers of their bits, and compares keys: integers in their order.

A key has 32 bits, or 64 for elements of 64 bits. NaN has a key above or below every number, as the caller says; the two
zeros have the same key. The element itself is read once more by its index, so that a result has its bits.

The programs of :func:`reduce` hold a tile of slices by elements and go along the slices: each place of the tile keeps
the best key that it has seen and in which round. Only at the end do the places of a slice exchange what they have.
Where the threads lie across the slices, a slice belongs to one thread and there is nothing to exchange.
"""

import triton
import triton.language as tl


@triton.jit
def _lowest(WIDE: tl.constexpr):
    """Return the smallest integer of a type of keys."""
    return -(2 ** (WIDE.primitive_bitwidth - 1))


@triton.jit
def _is_number(bits, INFINITY: tl.constexpr):
    MAGNITUDE: tl.constexpr = 2 ** (bits.dtype.primitive_bitwidth - 1) - 1
    return (bits & MAGNITUDE) <= INFINITY


@triton.jit
def _key(
    bits,
    WIDE: tl.constexpr,
    KIND: tl.constexpr,
    INFINITY: tl.constexpr,
    LARGEST: tl.constexpr,
    NAN: tl.constexpr,
):
    """Return integers whose order is that of the elements, the best the greatest; NAN is 1 if NaN is best, else -1."""
    MAGNITUDE: tl.constexpr = 2 ** (bits.dtype.primitive_bitwidth - 1) - 1
    key = bits.to(WIDE)
    if KIND == "unsigned":
        key = key ^ (-1 - MAGNITUDE)
    if KIND == "float":
        magnitude = key & MAGNITUDE
        key = tl.where(key < 0, key ^ MAGNITUDE, key)
        key = tl.where(magnitude == 0, 0, key)
    if not LARGEST:
        key = -1 - key
    if KIND == "float":
        FURTHEST: tl.constexpr = 2 ** (WIDE.primitive_bitwidth - 1)
        EDGE: tl.constexpr = FURTHEST - 1 if NAN > 0 else -FURTHEST
        key = tl.where(magnitude > INFINITY, EDGE, key)
    return key


@triton.jit
def _slice_of(outer, inner, KEPT: tl.constexpr, BY_ROWS: tl.constexpr):
    """Return the place of each slice of this program in both dimensions, and whether there is such a slice."""
    lane = tl.arange(0, KEPT)
    if BY_ROWS:
        at = tl.program_id(0).to(tl.int64) * KEPT + lane
        return at // inner, at % inner, at // inner < outer
    blocks = tl.cdiv(inner, KEPT)
    first = tl.program_id(0) // blocks
    second = (tl.program_id(0) % blocks).to(tl.int64) * KEPT + lane
    return tl.zeros((KEPT,), tl.int64) + first, second, second < inner


@triton.jit
def _answer(x, x_n, slot, index, there, indices, values, VALUES: tl.constexpr):
    """Write the index of each slice, -1 if nothing takes part, and the element at it."""
    tl.store(indices + slot, index.to(indices.dtype.element_ty), mask=there)
    if VALUES:
        element = tl.load(x + index * x_n, mask=there & (index >= 0), other=0)
        tl.store(values + slot, element, mask=there)


@triton.jit
def _round(
    best, rounds, bits, present, number,
    KIND: tl.constexpr, INFINITY: tl.constexpr, LARGEST: tl.constexpr, LAST: tl.constexpr, OMIT: tl.constexpr,
    SOME: tl.constexpr,
):  # fmt: skip
    """Return the best keys and the rounds in which they came, with one more tile of elements."""
    key = _key(bits, best.dtype, KIND, INFINITY, LARGEST, 1)
    if OMIT:
        present = present & _is_number(bits, INFINITY)
    if LAST:
        better = key >= best
    elif SOME:
        # A key that is the smallest of all integers is better than none.
        better = (key > best) | (rounds < 0)
    else:
        better = key > best
    better = better & present
    return tl.where(better, key, best), tl.where(better, number, rounds)


@triton.jit
def reduce(
    x, where, keys, places, indices, values, outer, inner, n,
    x_outer, x_inner, x_n, w_outer, w_inner, w_n, slot_outer, slot_inner, total, length,
    KIND: tl.constexpr, INFINITY: tl.constexpr, LARGEST: tl.constexpr, LAST: tl.constexpr, OMIT: tl.constexpr,
    MASKED: tl.constexpr, VALUES: tl.constexpr, PARTS: tl.constexpr, BY_ROWS: tl.constexpr,
    KEPT: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Find the best of each slice, or of each part of a slice; then `finish` finds the best of the parts."""
    # Whether a place of the tile may see no element.
    SOME: tl.constexpr = OMIT or MASKED or LAST
    WIDE: tl.constexpr = tl.int64 if x.dtype.element_ty == tl.int64 else tl.int32
    first, second, there = _slice_of(outer, inner, KEPT, BY_ROWS)
    x += first * x_outer + second * x_inner
    slot = first * slot_outer + second * slot_inner
    start = tl.full((), 0, tl.int64)
    stop = n
    if PARTS:
        start = tl.program_id(1).to(tl.int64) * length
        stop = tl.minimum(length, n - start).to(tl.int32)
    step = tl.arange(0, TILE)
    element = x[:, None] + (start + step)[None, :] * x_n
    if MASKED:
        where += first * w_outer + second * w_inner
        mask = where[:, None] + (start + step)[None, :] * w_n
    best = tl.full((KEPT, TILE), _lowest(WIDE), WIDE)
    rounds = tl.full((KEPT, TILE), -1 if SOME else 0, tl.int32)
    whole = stop // TILE
    for number in range(0, whole):
        bits = tl.load(element, mask=there[:, None], other=0)
        present = tl.full((KEPT, TILE), 1, tl.int1)
        if MASKED:
            present = tl.load(mask, mask=there[:, None], other=0) != 0
            mask += w_n * tl.full((), TILE, tl.int64)
        best, rounds = _round(best, rounds, bits, present, number, KIND, INFINITY, LARGEST, LAST, OMIT, SOME)
        element += x_n * tl.full((), TILE, tl.int64)
    if whole * TILE < stop:
        present = there[:, None] & (whole * TILE + step < stop)[None, :]
        bits = tl.load(element, mask=present, other=0)
        if MASKED:
            present = tl.load(mask, mask=present, other=0) != 0
        best, rounds = _round(best, rounds, bits, present, whole, KIND, INFINITY, LARGEST, LAST, OMIT, SOME)
    # A place past the end has the smallest key, and loses to an element with that key by its index.
    NOWHERE: tl.constexpr = -1 if LAST else 2**31 - 1
    index = rounds * TILE + step[None, :]
    if SOME:
        index = tl.where(rounds < 0, NOWHERE, index)
    top = tl.max(best, 1)
    index = tl.where(best == top[:, None], index, NOWHERE)
    if LAST:
        index = tl.max(index, 1)
    else:
        index = tl.min(index, 1)
    index = tl.where(index == NOWHERE, -1, start + index)
    if PARTS:
        at = tl.program_id(1).to(tl.int64) * total + slot
        tl.store(keys + at, top, mask=there)
        tl.store(places + at, index, mask=there)
    else:
        _answer(x, x_n, slot, index, there, indices, values, VALUES)


@triton.jit
def finish(
    x, keys, places, indices, values, outer, inner, x_outer, x_inner, x_n, slot_outer, slot_inner, total, parts,
    LAST: tl.constexpr, VALUES: tl.constexpr, KEPT: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Find the best of the parts of each slice, which `reduce` has left."""
    first, second, there = _slice_of(outer, inner, KEPT, True)
    slot = first * slot_outer + second * slot_inner
    part = tl.arange(0, TILE)
    present = there[:, None] & (part < parts)[None, :]
    at = part[None, :].to(tl.int64) * total + slot[:, None]
    best = tl.load(keys + at, mask=present, other=_lowest(keys.dtype.element_ty))
    index = tl.load(places + at, mask=present, other=-1)
    index = tl.where(best == tl.max(best, 1)[:, None], index, -1)
    if LAST:
        index = tl.max(index, 1)
    else:
        NOWHERE: tl.constexpr = 2**63 - 1
        index = tl.min(tl.where(index < 0, NOWHERE, index), 1)
        index = tl.where(index == NOWHERE, -1, index)
    _answer(x + first * x_outer + second * x_inner, x_n, slot, index, there, indices, values, VALUES)
