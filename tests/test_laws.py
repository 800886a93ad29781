"""Laws about how a result is computed: by which kernels, on how many threads, from and into which memory.

None of it changes a bit of the result or a byte of the input. What follows from the meaning of the operations is in
`test_laws_of_order.py`, the ways in through frontends are in `test_laws_of_frontends.py`.
"""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import extremum
import twins
from agreement import assert_identical, assert_same_bits, kernels, native
from cases import reductions
from extremum import _native
from extremum.operations import Extremum, Order, Tie
from law_cases import Laid, arrays, arrays_and_axes, operands, oracle, rows_and_choices, shapes
from layouts import LAYOUTS, REPEATING, byte_swapped, read_only
from strategies import index_types


@given(arrays_and_axes(), st.booleans(), st.data())
def test_every_instruction_set_gives_the_oracles_bits(case, keepdims, data):
    x, axes = case
    index = data.draw(st.sampled_from(index_types(math.prod(x.shape[axis] for axis in axes))))
    memory = Laid(x)
    for operation in reductions(axes, keepdims=keepdims, index=index):
        assert_same_bits(native(operation, x), oracle(operation, x), f"{operation} of {x!r}, strides {x.strides}")
    assert memory.untouched


@given(operands())
def test_every_instruction_set_gives_the_oracles_extremum(arrays):
    memory = [Laid(x) for x in arrays]
    for order in Order:
        expected = oracle(Extremum(order), *arrays)
        assert_same_bits(native(Extremum(order), *arrays), expected, f"{order} of {arrays}")
    assert all(each.untouched for each in memory)


@given(rows_and_choices(), st.sampled_from(Tie))
def test_every_instruction_set_leaves_out_the_same(case, tie):
    """A policy, a mask, gaps between elements and the number of rows decide together which kernel answers."""
    x, axis, policy, where = case
    last, options = tie is Tie.LAST, {"nan_policy": policy, "where": where}
    memory = Laid(x)
    one = x.dtype.type(1)
    for order, name in ((Order.MIN, "min"), (Order.MAX, "max")):
        values, places = (
            np.squeeze(each, axis) for each in twins.find(x, order, (axis,), tie, omit=policy == "omit", where=where)
        )
        values = np.where(places == -1, one, values).astype(x.dtype)
        for instruction_set in _native.instruction_sets():
            with kernels(instruction_set, small_limit=0):
                found = getattr(extremum, name)(
                    x, axis, default=one, return_index=True, select_last_index=last, **options
                )
                alone = getattr(extremum, name)(x, axis, default=one, select_last_index=last, **options)
                both = extremum.minmax(x, axis, default=one, return_index=True, select_last_index=last, **options)
                both_alone = extremum.minmax(x, axis, default=one, select_last_index=last, **options)
                index = getattr(extremum, f"arg{name}")(x, axis, default=-1, select_last_index=last, **options)
            context = f"{name} with {instruction_set} of {x!r}, strides {x.strides}, axis {axis}, {options}"
            for each in (found.values, alone, getattr(both, name), getattr(both_alone, name)):
                assert_same_bits(each, values, context)
            for each in (found.indices, getattr(both, f"arg{name}"), index):
                assert_same_bits(each, places, context)
    assert memory.untouched


@given(rows_and_choices())
def test_every_instruction_set_marks_the_same(case):
    x, axis, policy, where = case
    _, places = twins.find(x, Order.MAX, (axis,), Tie.FIRST, omit=policy == "omit", where=where)
    along = np.arange(x.shape[axis]).reshape([-1 if each == axis else 1 for each in range(x.ndim)])
    for instruction_set in _native.instruction_sets():
        with kernels(instruction_set, small_limit=0):
            marked = extremum.hardmax(x, axis, nan_policy=policy, where=where)
        assert_same_bits(marked, (along == places).astype(x.dtype), f"{instruction_set}: {x!r}, {policy}, {where!r}")


@given(arrays_and_axes(), st.sampled_from([2, 3, 7]), st.integers(0, 2**32 - 1))
def test_threads_change_nothing(case, threads, chosen):
    x, axes = case
    memory = Laid(x)
    several = reductions(axes)
    operation = several[chosen % len(several)]
    with kernels(small_limit=0, threads=1):
        expected = operation(x)
    assert_same_bits(expected, oracle(operation, x))
    with kernels(small_limit=0, threads=threads):
        assert_identical(operation(x), expected, f"{operation} with {threads} threads")
    assert memory.untouched


@given(operands(), st.sampled_from([2, 3, 7]), st.sampled_from(Order))
def test_threads_do_not_change_the_extremum(arrays, threads, order):
    memory = [Laid(x) for x in arrays]
    with kernels(small_limit=0, threads=1):
        expected = Extremum(order)(*arrays)
    assert_same_bits(expected, oracle(Extremum(order), *arrays))
    with kernels(small_limit=0, threads=threads):
        assert_identical(Extremum(order)(*arrays), expected, f"{order} with {threads} threads")
    assert all(each.untouched for each in memory)


@given(arrays_and_axes(), st.integers(0, 2**32 - 1))
def test_no_layout_changes_a_result(case, seed):
    x, axes = case
    rng = np.random.default_rng(seed)
    for layout in LAYOUTS:
        laid_out = layout(x, rng)
        plain = np.array(laid_out, x.dtype.newbyteorder("="), order="C")
        memory = Laid(laid_out)
        for operation in [*reductions(axes), *map(Extremum, Order)]:
            assert_identical(operation(laid_out), operation(plain), f"{operation} of {layout.__name__}")
        assert memory.untouched


# Where a result can be written: an element is at one place and its bytes are this machine's.
_WRITABLE = [layout for layout in LAYOUTS if layout not in (*REPEATING, read_only, byte_swapped)]


@given(arrays_and_axes(), st.sampled_from(_WRITABLE), st.integers(0, 2**32 - 1))
def test_out_receives_the_result_and_nothing_around_it_changes(case, layout, seed):
    x, axes = case
    memory = Laid(x)
    for operation in [*reductions(axes), *map(Extremum, Order)]:
        expected = np.asarray(operation(x))
        out = layout(np.zeros_like(expected), np.random.default_rng(seed))
        around = Laid(out)
        assert operation(x, out=out) is out
        assert_identical(out, expected, f"{operation} into strides {out.strides}")
        out[...] = 0
        assert around.untouched
    assert memory.untouched


@given(arrays(shapes(least=0)), st.data())
def test_a_part_of_the_operands_gives_that_part_of_the_result(x, data):
    """Chunks of an elementwise operation do not see each other."""
    other = data.draw(arrays(st.just(x.shape), st.just(x.dtype.newbyteorder("="))))
    window = tuple(slice(*sorted(data.draw(st.tuples(*[st.integers(0, n)] * 2)))) for n in x.shape)
    for order in Order:
        whole = np.asarray(Extremum(order)(x, other))
        assert_identical(Extremum(order)(x[window], other[window]), whole[window])
