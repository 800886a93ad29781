"""The Triton kernels. Each sees elements as the integers of their bits, and compares keys: integers in their order.

A key has 32 bits, or 64 for elements of 64 bits: the bits of the element are its upper ones. NaN has a key above or
below every number, as the caller says; the two zeros have the same key. The element itself is read once more by its
index, so that a result has its bits.

The programs of :func:`reduce` hold a tile of slices by elements and go along the slices: each place of the tile keeps
the best key that it has seen and in which round. Only at the end do the places of a slice exchange what they have.
Where the threads lie across the slices, a slice belongs to one thread and there is nothing to exchange.

:func:`select` sorts candidates as integers that hold a key and, below it, the place from the end: no two are equal, and
the first of equal elements is the greater.

Triton compiles a kernel again for numbers that are 1 or multiples of 16, except those in ``do_not_specialize``: how
many slices there are does not decide how memory is read.
"""

import triton
import triton.language as tl


@triton.jit
def _lowest(WIDE: tl.constexpr):
    """Return the smallest integer of a type."""
    return -(2 ** (WIDE.primitive_bitwidth - 1))


@triton.jit
def _is_number(bits, INFINITY: tl.constexpr):
    MAGNITUDE: tl.constexpr = 2 ** (bits.dtype.primitive_bitwidth - 1) - 1
    return (bits & MAGNITUDE) <= INFINITY


@triton.jit
def _key(
    bits,
    low,
    WIDE: tl.constexpr,
    KIND: tl.constexpr,
    INFINITY: tl.constexpr,
    LARGEST: tl.constexpr,
    NAN: tl.constexpr,
    ZEROS: tl.constexpr,
):
    """Return integers in the order of the elements, the best the greatest, with `low` in the bits below the element's.

    NAN is -1 if NaN is the worst, and else NaN is the best. ZEROS says whether the two zeros are equal.
    """
    SHIFT: tl.constexpr = WIDE.primitive_bitwidth - bits.dtype.primitive_bitwidth
    STEP: tl.constexpr = 2**SHIFT
    LOWEST: tl.constexpr = -(2 ** (WIDE.primitive_bitwidth - 1))
    low = tl.full((), 0, WIDE) + low
    key = bits.to(WIDE) << SHIFT
    if KIND == "float":
        # -1 for a number with a minus, and else 0.
        flip = key >> (WIDE.primitive_bitwidth - 1)
        if not LARGEST:
            flip = -1 - flip
        key = (key & (-1 - LOWEST)) ^ flip
        # The number that is added turns the order: infinity at one end comes to the end of all integers, and the NaN
        # beyond it to the other end, beside the NaN that is there. They become one.
        if ZEROS:
            key = key - flip
        BELOW: tl.constexpr = 0 if ZEROS else 1
        if NAN < 0:
            TOP: tl.constexpr = -STEP - LOWEST - INFINITY * STEP
            key = tl.maximum(key + (low + TOP), low + (TOP - INFINITY * STEP - STEP - BELOW))
        else:
            TURN: tl.constexpr = LOWEST + INFINITY * STEP + BELOW
            key = tl.minimum(key + (low + TURN), low + (TURN + INFINITY * STEP + STEP))
    else:
        if not LARGEST:
            key = -STEP - key
        if KIND == "unsigned":
            key = key + (low + LOWEST)
        else:
            key = key + low
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
def _begun(SHAPE: tl.constexpr, WIDE: tl.constexpr, SHIFT: tl.constexpr, SOME: tl.constexpr):
    """Return what the places of a tile keep before the first round."""
    kept = (tl.full(SHAPE, _lowest(WIDE), WIDE),)
    if SHIFT == 0:
        kept += (tl.full(SHAPE, -1 if SOME else 0, tl.int32),)
    return kept


@triton.jit
def _round(kept, key, present, number, LAST: tl.constexpr, SOME: tl.constexpr, SHIFT: tl.constexpr):
    """Return what the places of a tile keep after one more round; if SOME, `present` says which elements take part."""
    best = kept[0]
    if SHIFT > 0:
        # The key ends with the round: one comparison chooses both.
        if SOME:
            key = tl.where(present, key, _lowest(best.dtype))
        after = (tl.maximum(best, key),)
    else:
        rounds = kept[1]
        if LAST:
            better = key >= best
        elif SOME:
            # A key that is the smallest of all integers is better than none.
            better = (key > best) | (rounds < 0)
        else:
            better = key > best
        if SOME:
            better = better & present
        after = (tl.where(better, key, best), tl.where(better, number, rounds))
    return after


@triton.jit
def _ended(kept, step, LAST: tl.constexpr, NOWHERE: tl.constexpr, SHIFT: tl.constexpr):
    """Return the key that each place of a tile has kept, and the index, NOWHERE if the place has seen no element."""
    TILE: tl.constexpr = kept[0].shape[1]
    if SHIFT > 0:
        best = kept[0] >> SHIFT
        number = kept[0] & (2**SHIFT - 1)
        rounds = number - 1 if LAST else 2**SHIFT - 1 - number
        index = tl.where(number == 0, NOWHERE, rounds * TILE + step[None, :])
    else:
        best = kept[0]
        rounds = kept[1]
        index = tl.where(rounds < 0, NOWHERE, rounds * TILE + step[None, :])
    return best, index


@triton.jit
def _rounds(
    states, element, mask, there, present, number,
    KIND: tl.constexpr, INFINITY: tl.constexpr, ENDS: tl.constexpr, LAST: tl.constexpr, NAN: tl.constexpr,
    MASKED: tl.constexpr, SOME: tl.constexpr, WIDE: tl.constexpr, SHIFT: tl.constexpr,
):  # fmt: skip
    """Read one more tile of elements, and return what its places keep for each end of the order."""
    bits = tl.load(element, mask=there, other=0)
    if MASKED:
        present = present & (tl.load(mask, mask=there, other=0) != 0)
    if NAN == 0:
        present = present & _is_number(bits, INFINITY)
    low = 0
    if SHIFT > 0:
        # The first round is the greatest, or the last one; none is 0.
        low = number + 1 if LAST else 2**SHIFT - 1 - number
    after = ()
    for end in tl.static_range(len(ENDS)):
        key = _key(bits, low, WIDE, KIND, INFINITY, ENDS[end], NAN, True)
        after += (_round(states[end], key, present, number, LAST, SOME, SHIFT),)
    return after


@triton.jit(do_not_specialize=["outer"])
def reduce(
    x, where, keys, places, indices, values, outer, inner, n,
    x_outer, x_inner, x_n, w_outer, w_inner, w_n, slot_outer, slot_inner, total, length,
    KIND: tl.constexpr, INFINITY: tl.constexpr, ENDS: tl.constexpr, LAST: tl.constexpr, NAN: tl.constexpr,
    MASKED: tl.constexpr, VALUES: tl.constexpr, PARTS: tl.constexpr, BY_ROWS: tl.constexpr,
    KEPT: tl.constexpr, TILE: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """Find the best of each slice, or of each part of a slice; then `finish` finds the best of the parts.

    ENDS has an entry for each end of the order that is wanted: True for the largest. NAN is 0 if NaN takes no part.
    """
    # Whether a place of the tile may see no element.
    SOME: tl.constexpr = NAN == 0 or MASKED or LAST
    WIDTH: tl.constexpr = x.dtype.element_ty.primitive_bitwidth
    WIDE: tl.constexpr = tl.int64 if WIDTH == 64 else tl.int32
    # Room below a key of 8 or 16 bits.
    SHIFT: tl.constexpr = 32 - WIDTH if WIDTH < 32 else 0
    NOWHERE: tl.constexpr = -1 if LAST else 2**31 - 1
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
    mask = element
    if MASKED:
        where += first * w_outer + second * w_inner
        mask = where[:, None] + (start + step)[None, :] * w_n
    states = ()
    for _ in tl.static_range(len(ENDS)):
        states += (_begun((KEPT, TILE), WIDE, SHIFT, SOME),)
    everywhere = tl.full((KEPT, TILE), 1, tl.int1)
    whole = stop // TILE
    for number in tl.range(0, whole, loop_unroll_factor=UNROLL):
        states = _rounds(
            states, element, mask, there[:, None], everywhere, number,
            KIND, INFINITY, ENDS, LAST, NAN, MASKED, SOME, WIDE, SHIFT,
        )  # fmt: skip
        element += x_n * tl.full((), TILE, tl.int64)
        if MASKED:
            mask += w_n * tl.full((), TILE, tl.int64)
    if whole * TILE < stop:
        # A place past the end must not win.
        present = there[:, None] & (whole * TILE + step < stop)[None, :]
        states = _rounds(
            states, element, mask, present, present, whole,
            KIND, INFINITY, ENDS, LAST, NAN, MASKED, True, WIDE, SHIFT,
        )  # fmt: skip
    for end in tl.static_range(len(ENDS)):
        best, index = _ended(states[end], step, LAST, NOWHERE, SHIFT)
        top = tl.max(best, 1)
        index = tl.where(best == top[:, None], index, NOWHERE)
        if LAST:
            index = tl.max(index, 1)
        else:
            index = tl.min(index, 1)
        index = tl.where(index == NOWHERE, -1, start + index)
        if PARTS:
            part = end * tl.num_programs(1) + tl.program_id(1)
            at = part.to(tl.int64) * total + slot
            tl.store(keys + at, top, mask=there)
            tl.store(places + at, index, mask=there)
        else:
            own = slot + end * tl.full((), 1, tl.int64) * total
            _answer(x, x_n, own, index, there, indices, values, VALUES)


@triton.jit
def finish(
    x, keys, places, indices, values, outer, inner, x_outer, x_inner, x_n, slot_outer, slot_inner, total, parts,
    LAST: tl.constexpr, VALUES: tl.constexpr, KEPT: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Find the best of the parts of each slice, which `reduce` has left, for an end of the order."""
    first, second, there = _slice_of(outer, inner, KEPT, True)
    end = tl.program_id(1).to(tl.int64)
    slot = first * slot_outer + second * slot_inner
    part = tl.arange(0, TILE)
    present = there[:, None] & (part < parts)[None, :]
    at = (end * parts + part)[None, :] * total + slot[:, None]
    best = tl.load(keys + at, mask=present, other=_lowest(keys.dtype.element_ty))
    index = tl.load(places + at, mask=present, other=-1)
    index = tl.where(best == tl.max(best, 1)[:, None], index, -1)
    if LAST:
        index = tl.max(index, 1)
    else:
        NOWHERE: tl.constexpr = 2**63 - 1
        index = tl.min(tl.where(index < 0, NOWHERE, index), 1)
        index = tl.where(index == NOWHERE, -1, index)
    x += first * x_outer + second * x_inner
    _answer(x, x_n, slot + end * total, index, there, indices, values, VALUES)


@triton.jit(do_not_specialize=["outer"])
def ones(
    result, indices, outer, inner, n, x_outer, x_inner, x_n, slot_outer, slot_inner,
    ONE: tl.constexpr, BY_ROWS: tl.constexpr, KEPT: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Write a 1 at the index of each slice, and 0 elsewhere; where an index is -1, there is no 1."""
    first, second, there = _slice_of(outer, inner, KEPT, BY_ROWS)
    index = tl.load(indices + first * slot_outer + second * slot_inner, mask=there, other=-1)
    result += first * x_outer + second * x_inner
    for number in range(tl.program_id(1), tl.cdiv(n, TILE), tl.num_programs(1)):
        at = number * tl.full((), TILE, tl.int64) + tl.arange(0, TILE)
        bits = tl.where(index[:, None] == at[None, :], ONE, 0).to(result.dtype.element_ty)
        tl.store(result[:, None] + (at * x_n)[None, :], bits, mask=there[:, None] & (at < n)[None, :])


@triton.jit(do_not_specialize=["outer"])
def extremum(
    result, operands, where, outer, inner, x_outer, x_inner, w_outer, w_inner,
    KIND: tl.constexpr, INFINITY: tl.constexpr, LARGEST: tl.constexpr, NAN: tl.constexpr, MASKED: tl.constexpr,
    KEPT: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Write the best of the operands at each place, or the first operand where the mask is False.

    A zero has its sign's order. Of operands that are NaN, the first is the answer.
    """
    WIDE: tl.constexpr = tl.int64 if result.dtype.element_ty == tl.int64 else tl.int32
    blocks = tl.cdiv(inner, TILE)
    first = ((tl.program_id(0) // blocks).to(tl.int64) * KEPT + tl.arange(0, KEPT))[:, None]
    second = ((tl.program_id(0) % blocks).to(tl.int64) * TILE + tl.arange(0, TILE))[None, :]
    there = (first < outer) & (second < inner)
    own = tl.load(operands[0] + first * x_outer[0] + second * x_inner[0], mask=there, other=0)
    best = own
    key = _key(own, 0, WIDE, KIND, INFINITY, LARGEST, NAN, False)
    for at in tl.static_range(1, len(operands)):
        other = tl.load(operands[at] + first * x_outer[at] + second * x_inner[at], mask=there, other=0)
        rival = _key(other, 0, WIDE, KIND, INFINITY, LARGEST, NAN, False)
        best = tl.where(rival > key, other, best)
        key = tl.maximum(key, rival)
    if MASKED:
        mask = tl.load(where + first * w_outer + second * w_inner, mask=there, other=0)
        best = tl.where(mask != 0, best, own)
    tl.store(result + first * inner + second, best, mask=there)


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
    key = _key(bits, 0, result.dtype.element_ty, KIND, INFINITY, LARGEST, NAN, True)
    tl.store(result + row * n + at, key, mask=at < n)


@triton.jit
def _place_of(at, leaders, k, groups, there, SIZE: tl.constexpr):
    """Return the place in a row of each candidate: rows of candidates are some groups of neighbours, then the rest."""
    place = at.to(tl.int64)
    if SIZE > 1:
        group = at // SIZE
        number = tl.load(leaders + group, mask=there & (group < k), other=groups)
        place = tl.where(number < 0, -1, number * SIZE + at % SIZE)
    return place


@triton.jit
def _greatest(packed, K: tl.constexpr):
    """Return the K greatest of each row of integers, the greatest first."""
    if packed.shape[1] > K:
        best = tl.topk(packed, K)
    else:
        best = tl.sort(packed, descending=True)
    return best


@triton.jit(do_not_specialize=["rows", "groups"])
def select(
    x, where, leaders, indices, values, rows, count, groups, k, x_row, w_row,
    KIND: tl.constexpr, INFINITY: tl.constexpr, LARGEST: tl.constexpr, NAN: tl.constexpr, MASKED: tl.constexpr,
    SIZE: tl.constexpr, LEADS: tl.constexpr, KEPT: tl.constexpr, TILE: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """Sort candidates of rows as far as the k best, and write their indices and elements; -1 where there are fewer.

    If SIZE is 1, all elements are candidates. Otherwise those of `k` groups of SIZE neighbours are, whose numbers are
    the `leaders`, ascending, and those after the last whole group. If LEADS, the k best are written ascending.
    """
    WIDTH: tl.constexpr = x.dtype.element_ty.primitive_bitwidth
    WIDE: tl.constexpr = tl.int64 if WIDTH == 64 else tl.int32
    PACKED: tl.constexpr = tl.int32 if WIDTH < 32 else tl.int64
    LAST: tl.constexpr = TILE - 1
    row = tl.program_id(0).to(tl.int64) * KEPT + tl.arange(0, KEPT)
    there = (row < rows)[:, None]
    x += (row * x_row)[:, None]
    if SIZE > 1:
        leaders += (row * k)[:, None]
    at = tl.arange(0, TILE)[None, :] + tl.zeros((KEPT, 1), tl.int32)
    present = there & (at < count)
    place = _place_of(at, leaders, k, groups, there, SIZE)
    present = present & (place >= 0)
    if MASKED:
        present = tl.load(where + (row * w_row)[:, None] + place, mask=present, other=0) != 0
    key = _key(tl.load(x + place, mask=present, other=0), 0, WIDE, KIND, INFINITY, LARGEST, NAN, True)
    if tl.int64 == WIDE:
        # A key of 64 bits leaves no room for the place: sort by its lower half, and then by the upper one.
        lower = ((key & 0xFFFFFFFF) << 12) | (LAST - at)
        lower = tl.sort(tl.where(present, lower, -1), descending=True)
        present = lower >= 0
        rank = at
        at = LAST - (lower & LAST).to(tl.int32)
        place = _place_of(at, leaders, k, groups, there, SIZE)
        key = _key(tl.load(x + place, mask=present, other=0), 0, WIDE, KIND, INFINITY, LARGEST, NAN, True)
        packed = ((key >> 32) << 24) | ((LAST - rank) << 12) | (LAST - at)
    elif WIDTH == 32:
        packed = (key.to(PACKED) << 12) | (LAST - at)
    else:
        # The key is above its lowest 32 - WIDTH bits, and then above 12.
        packed = (key >> (20 - WIDTH)) | (LAST - at)
    packed = _greatest(tl.where(present, packed, _lowest(PACKED)), K)
    at = LAST - (packed & LAST).to(tl.int32)
    found = packed != _lowest(PACKED)
    place = _place_of(at, leaders, k, groups, there, SIZE)
    number = tl.arange(0, K)[None, :]
    place = tl.where(found & (number < k), place, -1)
    if LEADS:
        # The k greatest are the last.
        place = tl.sort(place)
        number -= K - k
    wanted = there & (number >= 0) & (number < k)
    slot = (row * k)[:, None] + number
    tl.store(indices + slot, place, mask=wanted)
    if not LEADS:
        element = tl.load(x + place, mask=wanted & found, other=0)
        tl.store(values + slot, element, mask=wanted)
