"""Arrays whose memory ends with their last element, so that a memory checker sees any read beyond it."""

import functools

import numpy as np

from strategies import BEYOND_BUFFERS, TEXTURES

LENGTHS = (*range(1, 10), 2, 3, 13, 15, 16, 17, 20, 31, 33, 40, 63, 65, 100, 127, 130, 257, 1000, 2050, 9000)
RANKS = (0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 8)
_POOL = 1 << 16


def shape(random, most):
    """Rank 0 to 8 and at most `most` elements; the lengths are near the block sizes of kernels; rarely empty."""
    if most > 17_000 and random.random() < 0.3:
        return random.choice(BEYOND_BUFFERS)
    rank = random.choice(RANKS)
    lens = [1] * rank
    room = most
    for _ in range(rank):
        lens[random.randrange(rank)] = min(random.choice(LENGTHS), room)
        room = most // max(1, int(np.prod(lens)))
    if rank and random.random() < 0.02:
        lens[random.randrange(rank)] = 0
    return tuple(lens)


def _strides(random, lens, choose):
    order = list(range(len(lens)))[::-1]
    if random.random() < 0.3:
        random.shuffle(order)
    backwards = random.random() < 0.25
    strides = [0] * len(lens)
    step = None
    for axis in order:
        stride, overlaps = choose(step)
        reach = stride * max(1, lens[axis])
        step = reach if step is None or not overlaps else max(step, reach)
        strides[axis] = -stride if backwards and random.random() < 0.5 else stride
    return strides


def input_strides(random, lens, size):
    """Strides in bytes: with gaps, unaligned, zero, or so small that elements overlap."""
    ways = 5 if random.random() < 0.35 else 12

    def choose(step):
        step = size if step is None else step
        choices = {
            5: (step * random.randrange(2, 5), False),
            6: (step + size * random.randrange(20), False),
            7: (step + random.randrange(9), False),
            8: (0, True),
            9: (0, True),
            10: (random.randrange(1, 2 * size + 1), True),
            11: (size, True),
        }
        return choices.get(random.randrange(ways), (step, False))

    strides = _strides(random, lens, choose)
    span = sum(n * abs(stride) for n, stride in zip(lens, strides, strict=True))
    return strides if span < 1 << 21 else _strides(random, lens, lambda step: (step or size, False))


def output_strides(random, lens, size):
    """Strides in bytes for elements that do not overlap."""
    ways = 3 if random.random() < 0.5 else 6

    def choose(step):
        step = size if step is None else step
        choices = {3: step * 2, 4: step + random.randrange(9), 5: step + size * random.randrange(9)}
        return choices.get(random.randrange(ways), step), False

    return _strides(random, lens, choose)


@functools.cache
def _pools(dtype):
    rng = np.random.default_rng(dtype.num)
    pools = [np.asarray(texture(rng, dtype, (_POOL,)), dtype) for texture in TEXTURES]
    return [pool.view(np.uint8) for pool in pools]


def allocate(length):
    """A new allocation of exactly this many bytes."""
    return np.empty(length, np.uint8)


def filled(random, dtype, length):
    """A new buffer, filled with one texture of the type."""
    pool = random.choice(_pools(dtype))
    memory = allocate(length)
    start = random.randrange(_POOL) * dtype.itemsize
    at = 0
    while at < length:
        part = pool[start : start + length - at]
        memory[at : at + part.size] = part
        at = at + part.size
        start = 0
    return memory


def place(random, lens, dtype, strides):
    """An array with these strides, in its own memory, which ends where the array ends."""
    if 0 in lens:
        return np.ndarray(lens, dtype)
    lead = 0 if random.random() < 0.5 else random.randrange(64)
    spans = [(n - 1) * stride for n, stride in zip(lens, strides, strict=True)]
    before = -sum(span for span in spans if span < 0)
    after = sum(span for span in spans if span > 0)
    memory = filled(random, dtype.newbyteorder("="), lead + before + after + dtype.itemsize)
    return np.ndarray(lens, dtype, memory, lead + before, strides)


def given(random, lens, dtype):
    """An input."""
    return place(random, lens, dtype, input_strides(random, lens, dtype.itemsize))


def output(random, lens, dtype):
    """An output."""
    return place(random, lens, dtype, output_strides(random, lens, dtype.itemsize))


def shared(x):
    """Whether elements share bytes."""
    if not x.size:
        return False
    steps = [np.arange(n) * stride for n, stride in zip(x.shape, x.strides, strict=True)]
    starts = np.sort(functools.reduce(np.add.outer, steps, np.zeros((), int)), axis=None)
    return bool((np.diff(starts) < x.itemsize).any())
