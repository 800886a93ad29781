"""The Triton kernels. Each sees elements as the integers of their bits, and compares keys: integers in their order.

A key has 32 bits, or 64 for elements of 64 bits. NaN has a key above or below every number, as the caller says; the two
zeros have the same key. The element itself is read once more by its index, so that a result has its bits.

The k best of a row are sorted as 64-bit integers that hold a key and, below it, the place from the end: no two are
equal, and the first of equal elements is the greater. The elements of a long row belong to lanes, each of which keeps
its best: only the k best lanes can hold one of the k best elements (the delegates of Dr. Top-k).

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
    ZEROS: tl.constexpr,
):
    """Return integers in the order of the elements, the best the greatest.

    NAN is 1 if NaN is the best, -1 if it is the worst. ZEROS says whether the two zeros are equal.
    """
    MAGNITUDE: tl.constexpr = 2 ** (bits.dtype.primitive_bitwidth - 1) - 1
    key = bits.to(WIDE)
    if KIND == "unsigned":
        key = key ^ (-1 - MAGNITUDE)
    if KIND == "float":
        magnitude = key & MAGNITUDE
        key = tl.where(key < 0, key ^ MAGNITUDE, key)
        if ZEROS:
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
    key = _key(bits, best.dtype, KIND, INFINITY, LARGEST, 1, True)
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


@triton.jit
def pair(
    x, y, result, inner, x_outer, x_inner, y_outer, y_inner,
    KIND: tl.constexpr, INFINITY: tl.constexpr, LARGEST: tl.constexpr, NAN: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Write the better of two elements at each place; a zero has its sign's order, and the first NaN stays."""
    WIDE: tl.constexpr = tl.int64 if x.dtype.element_ty == tl.int64 else tl.int32
    blocks = tl.cdiv(inner, TILE)
    first = (tl.program_id(0) // blocks).to(tl.int64)
    second = (tl.program_id(0) % blocks).to(tl.int64) * TILE + tl.arange(0, TILE)
    there = second < inner
    own = tl.load(x + first * x_outer + second * x_inner, mask=there, other=0)
    other = tl.load(y + first * y_outer + second * y_inner, mask=there, other=0)
    key = _key(own, WIDE, KIND, INFINITY, LARGEST, NAN, False)
    rival = _key(other, WIDE, KIND, INFINITY, LARGEST, NAN, False)
    tl.store(result + first * inner + second, tl.where(rival > key, other, own), mask=there)


@triton.jit
def keys(
    x, result, n, x_row,
    KIND: tl.constexpr, INFINITY: tl.constexpr, LARGEST: tl.constexpr, NAN: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Write the key of each element of rows."""
    blocks = tl.cdiv(n, TILE)
    row = (tl.program_id(0) // blocks).to(tl.int64)
    at = (tl.program_id(0) % blocks).to(tl.int64) * TILE + tl.arange(0, TILE)
    bits = tl.load(x + row * x_row + at, mask=at < n, other=0)
    key = _key(bits, result.dtype.element_ty, KIND, INFINITY, LARGEST, NAN, True)
    tl.store(result + row * n + at, key, mask=at < n)


@triton.jit
def _place(packed):
    """Return the place in a row of an integer that :func:`_packed` has made."""
    FURTHEST: tl.constexpr = 2**31 - 1
    return FURTHEST - (packed & FURTHEST)


@triton.jit
def _packed(
    x, where, at, present,
    KIND: tl.constexpr, INFINITY: tl.constexpr, LARGEST: tl.constexpr, NAN: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    """Return the key and the place of elements as one integer each; the smallest where nothing takes part."""
    FURTHEST: tl.constexpr = 2**31 - 1
    NOTHING: tl.constexpr = -(2**63)
    bits = tl.load(x + at, mask=present, other=0)
    if MASKED:
        present = tl.load(where + at, mask=present, other=0) != 0
    key = _key(bits, tl.int32, KIND, INFINITY, LARGEST, NAN, True).to(tl.int64)
    return tl.where(present, (key << 31) | (FURTHEST - at), NOTHING)


@triton.jit
def _greatest(packed, K: tl.constexpr, TILE: tl.constexpr):
    """Return the K greatest of each row of integers, the greatest first."""
    if K < TILE:
        best = tl.topk(packed, K)
    else:
        best = tl.sort(packed, descending=True)
    return best


@triton.jit
def _write(packed, row, there, x, x_row, k, best, indices, values, FINAL: tl.constexpr, K: tl.constexpr):
    """Write the k best of rows: as they are for the next kernel, or their indices and elements."""
    place = tl.arange(0, K)
    there = there[:, None] & (place < k)[None, :]
    slot = row[:, None] * k + place[None, :]
    if FINAL:
        index = _place(packed)
        found = packed != _lowest(tl.int64)
        element = tl.load(x + (row * x_row)[:, None] + index, mask=there & found, other=0)
        tl.store(values + slot, element, mask=there)
        tl.store(indices + slot, tl.where(found, index, -1), mask=there)
    else:
        tl.store(best + slot, packed, mask=there)


@triton.jit
def short_rows(
    x, where, candidates, indices, values, rows, n, k, x_row, w_row,
    KIND: tl.constexpr, INFINITY: tl.constexpr, LARGEST: tl.constexpr, NAN: tl.constexpr, MASKED: tl.constexpr,
    MERGES: tl.constexpr, KEPT: tl.constexpr, TILE: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """Sort rows that fit the registers, as far as the k best; or the candidates that parts of rows have left."""
    row = tl.program_id(0).to(tl.int64) * KEPT + tl.arange(0, KEPT)
    at = tl.arange(0, TILE)
    present = (row < rows)[:, None] & (at < n)[None, :]
    if MERGES:
        packed = tl.load(candidates + row[:, None] * n + at[None, :], mask=present, other=_lowest(tl.int64))
    else:
        own = at[None, :] + tl.zeros((KEPT, 1), tl.int32)
        x_own = x + (row * x_row)[:, None]
        w_own = where + (row * w_row)[:, None]
        packed = _packed(x_own, w_own, own, present, KIND, INFINITY, LARGEST, NAN, MASKED)
    best = _greatest(packed, K, TILE)
    _write(best, row, row < rows, x, x_row, k, candidates, indices, values, True, K)


@triton.jit
def delegates(
    x, where, lanes, n, length, parts, x_row, w_row,
    KIND: tl.constexpr, INFINITY: tl.constexpr, LARGEST: tl.constexpr, NAN: tl.constexpr, MASKED: tl.constexpr,
    LANES: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Find the best of each lane of a part of a row: lane i has the elements i, i + LANES and so on."""
    row = (tl.program_id(0) // parts).to(tl.int64)
    start = (tl.program_id(0) % parts) * length
    size = tl.minimum(length, n - start)
    x += row * x_row
    where += row * w_row
    lane = tl.program_id(1) * TILE + tl.arange(0, TILE)
    best = tl.full((TILE,), _lowest(tl.int64), tl.int64)
    everywhere = tl.full((TILE,), 1, tl.int1)
    whole = size // LANES
    for number in range(0, whole):
        at = start + number * LANES + lane
        own = _packed(x, where, at, everywhere, KIND, INFINITY, LARGEST, NAN, MASKED)
        best = tl.maximum(best, own)
    at = start + whole * LANES + lane
    own = _packed(x, where, at, whole * LANES + lane < size, KIND, INFINITY, LARGEST, NAN, MASKED)
    tl.store(lanes + tl.program_id(0).to(tl.int64) * LANES + lane, tl.maximum(best, own))


@triton.jit
def chosen_lanes(
    x, where, lanes, best, indices, values, n, length, parts, k, x_row, w_row,
    KIND: tl.constexpr, INFINITY: tl.constexpr, LARGEST: tl.constexpr, NAN: tl.constexpr, MASKED: tl.constexpr,
    FINAL: tl.constexpr, LANES: tl.constexpr, STEPS: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """Sort the elements of the k best lanes of a part of a row, as far as the k best."""
    program = tl.program_id(0).to(tl.int64)
    row = program // parts
    start = (tl.program_id(0) % parts) * length
    size = tl.minimum(length, n - start)
    # Triton's sorts take rows, also where there is one.
    own = tl.load(lanes + program * LANES + tl.arange(0, LANES))
    leaders = tl.reshape(_greatest(tl.reshape(own, (1, LANES)), K, LANES), (K,))
    lane = (_place(leaders).to(tl.int32) - start) % LANES
    at = lane[:, None] + tl.arange(0, STEPS)[None, :] * LANES
    present = (at < size) & ((leaders != _lowest(tl.int64)) & (tl.arange(0, K) < k))[:, None]
    packed = _packed(
        x + row * x_row, where + row * w_row, start + at, present, KIND, INFINITY, LARGEST, NAN, MASKED
    )
    top = _greatest(tl.reshape(packed, (1, K * STEPS)), K, K * STEPS)
    rows = program + tl.zeros((1,), tl.int64)
    _write(top, rows, rows >= 0, x, x_row, k, best, indices, values, FINAL, K)
