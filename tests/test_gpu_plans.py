"""Which kernel runs on how many programs: a function of sizes and strides, which needs neither a GPU nor PyTorch."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

import extremum

# The package `extremum.gpu` needs PyTorch; this file of it does not.
PATH = Path(extremum.__file__).parent / "gpu" / "plans.py"
SPEC = importlib.util.spec_from_file_location("plans", PATH)
plans = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(plans)


def dimensions(shape, strides, axes):
    return tuple((shape[axis], strides[axis]) for axis in axes)


def slices(shape, strides, axes):
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    return plans.slices(dimensions(shape, strides, kept), dimensions(shape, strides, axes))


def rows_of(shape):
    """The strides of a C-contiguous array, in elements."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


@pytest.mark.parametrize(
    ("shape", "axes", "sizes", "by_rows"),
    [
        ((32, 1000), (1,), (32, 1, 1000), True),
        ((32, 1000), (0,), (1, 1000, 32), False),
        ((8, 21, 512, 512), (1,), (8, 262144, 21), False),
        ((8, 21, 512, 512), (2, 3), (168, 1, 262144), True),
        ((8, 21, 512, 512), (0, 1, 2, 3), (1, 1, 44040192), True),
        ((5, 1, 7), (1,), (35, 1, 1), True),
        ((), (), (1, 1, 1), True),
    ],
)
def test_axes_become_three_dimensions(shape, axes, sizes, by_rows):
    found = slices(shape, rows_of(shape), axes)
    assert (found.outer[0], found.inner[0], found.along[0]) == sizes
    assert found.by_rows == by_rows


def test_the_strides_decide_where_the_threads_lie():
    # A transposed array: the elements of a slice are far apart, and the slices are neighbours.
    assert not slices((4096, 1000), (1, 4096), (1,)).by_rows
    assert slices((4096, 1000), (1, 4096), (0,)).by_rows
    # Channels last.
    assert slices((8, 21, 512, 512), (21 * 512 * 512, 1, 21 * 512, 21), (1,)).by_rows


def test_axes_apart_need_a_copy():
    assert slices((4, 5, 6), rows_of((4, 5, 6)), (0, 2)) is None
    assert slices((4, 5, 6, 7, 8), rows_of((4, 5, 6, 7, 8)), (1, 3)) is None


def _addresses(found, *at):
    return sum(
        place * dimension[1] for place, dimension in zip(at, (found.outer, found.inner, found.along), strict=True)
    )


def test_slices_cover_the_array_in_the_order_of_the_result():
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(300):
        shape = tuple(map(int, rng.integers(1, 5, rng.integers(0, 5))))
        order = [int(axis) for axis in rng.permutation(len(shape))]
        strides = np.empty(len(shape), int)
        strides[order] = rows_of([shape[axis] for axis in order])
        axes = tuple(axis for axis in range(len(shape)) if rng.random() < 0.5)
        found = slices(shape, tuple(map(int, strides)), axes)
        if found is None:
            continue
        seen += 1
        kept = [axis for axis in range(len(shape)) if axis not in axes]
        places = np.add.reduce([np.indices(shape)[axis] * strides[axis] for axis in range(len(shape))], axis=0)
        expected = np.transpose(places, [*kept, *axes]).reshape(found.total, -1) if shape else np.zeros((1, 1), int)
        for outer in range(found.outer[0]):
            for inner in range(found.inner[0]):
                slot = outer * found.slots[0] + inner * found.slots[1]
                own = [_addresses(found, outer, inner, at) for at in range(found.along[0])]
                assert expected[slot].tolist() == own
    assert seen > 150


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize(
    "shape",
    [
        *((1, 128256), (32, 128256), (4096, 4096), (1048576, 64), (1048576, 10), (64, 1)),
        *((1, 1 << 28), (1, 3 << 31), (1 << 28, 16)),
    ],
)
@pytest.mark.parametrize("axis", [0, 1])
def test_a_plan_covers_every_element_and_fits_a_program(shape, axis, size):
    found = slices(shape, rows_of(shape), (axis,))
    plan = plans.reduction(found, size, 132)
    length = shape[axis]
    assert plan.blocks * plan.kept >= found.total
    assert plan.parts * plan.length >= length > (plan.parts - 1) * plan.length
    assert plan.length <= plans.LONGEST
    assert size > 2 or plan.length <= plans.MOST_ROUNDS * plan.tile
    assert plan.parts <= max(plans.MOST_PARTS, -(-length // plans.LONGEST))
    # Parts begin where wide loads do.
    assert plan.parts == 1 or plan.length % plan.tile == 0
    # A thread reads at most 16 bytes of each round.
    assert plan.kept * plan.tile * size <= 512 * plan.warps


def test_few_threads_go_along_a_short_row_and_one_program_along_a_small_array():
    def plan_of(shape):
        return plans.reduction(slices(shape, rows_of(shape), (len(shape) - 1,)), 4, 132)

    # Rows of 256 bytes: 32 at once, and 16 rows.
    assert plan_of((1 << 20, 64))[:2] == (16, 8)
    # At least one wide load, or 8 bytes where rows begin anywhere.
    assert plan_of((1 << 20, 16))[:2] == (32, 4)
    assert plan_of((1 << 20, 10))[:2] == (64, 2)
    # A small array takes one program and no second kernel.
    assert plan_of((64,)) == plans.Plan(2, 64, 1, 1, 64, 1)


def test_a_card_is_filled_where_there_is_enough_to_do():
    for shape in ((1, 1 << 28), (32, 128256), (1 << 20, 64)):
        plan = plans.reduction(slices(shape, rows_of(shape), (1,)), 4, 132)
        assert plan.blocks * plan.parts >= 132
    columns = slices((8192, 8192), rows_of((8192, 8192)), (0,))
    assert plans.reduction(columns, 4, 132).parts > 16


def test_groups_leave_what_one_program_sorts():
    for n in (*range(1, 70), 511, 512, 513, 2047, 2048, 2049, 128256, (1 << 24) + 7, (1 << 33) + 1):
        for k in (1, 2, 5, 50, 127, 128, 255, 256, 1023, 1024, 5000):
            if k > n:
                continue
            size = plans.group(n, k)
            if size == 1:
                assert n <= plans.MOST_SORTED
            elif k > 255:
                assert size == 0
            else:
                # There are enough groups, fewer than elements, and the best of them are sorted at once.
                assert k <= n // size < n
                assert k * size + n % size <= plans.MOST_SORTED


def test_pytorch_sorts_few_of_many_elements():
    assert plans.sorted_group(1, 1 << 24, 1000) == 128
    # What is left is sorted at once.
    assert plans.sorted_group(1, 131072, 1000) == 1
    assert plans.sorted_group(256, 128256, 1000) == 8
    assert plans.sorted_group(4096, 1000, 500) == 1


def test_a_warp_sorts_rows_of_few_candidates_and_several_warps_sort_many():
    assert plans.sorting(100000, 64) == (2, 1)
    assert plans.sorting(1, 64) == (1, 1)
    assert plans.sorting(100000, 1024) == (1, 8)
    assert plans.sorting(100000, 2048) == (1, 16)
