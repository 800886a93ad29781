"""What the benchmark measures: the cases, the arrays they run on, and the answers they must give."""

from collections import Counter

import numpy as np
import pytest

from bench_cases import SMALL, prepared_case
from benchmarks import matrix, record, summary
from benchmarks.expected import agrees, answer
from benchmarks.inputs import LAYOUTS, place, span, typed
from benchmarks.matrix import Case


def test_case_names_are_unique_and_readable():
    cases = matrix.full()
    assert len({case.name for case in cases}) == len(cases)
    for name in (
        "argmax/float32/(8)/axis=all/first",
        "argmax/bfloat16/(8,21,512,512)/axis=1/last",
        "argmax/uint64/(64,256,256)/axis=(0,2)/first",
        "argmax/int8/(4096,1024)/axis=1/last/fortran",
        "max/float32/(1048576)/operands=4",
        "max/int16/(4096,1024)/operands=2/column",
        "max/float64/(2000,2000)/operands=3/fortran",
        "hardmax/float16/(64,256,256)/axis=(1,2)/opset=11",
    ):
        assert name in {case.name for case in cases}


def test_the_matrix_has_every_element_type_and_tie_on_every_reduction():
    cases = matrix.full()
    counts = Counter((case.shape, case.axes, case.layout) for case in cases if case.operator == "argmax")
    assert len(counts) == 35
    assert set(counts.values()) == {2 * len(matrix.ELEMENT_TYPES)}
    assert len(matrix.ELEMENT_TYPES) == 12
    assert len(cases) == 1164
    assert {case.kind for case in cases} == set(matrix.KINDS)
    assert {case.layout for case in cases} == set(LAYOUTS)


def test_the_quick_matrix_holds_every_case_of_a_promise():
    names = {case.name for case in matrix.quick()}
    assert names < {case.name for case in matrix.full()}
    everything = [record.CaseRecord(name, "", "", "", 1, 1, {record.OURS: 1.0, "numpy": 1.0}) for name in names]
    run = record.Run("quick", 1, "", 1.0, {}, {}, everything)
    over_numpy = [promise for promise in summary.promises(run) if "numpy" in promise.what or "np." in promise.what]
    assert all(promise.value == 1.0 for promise in over_numpy)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_changes_neither_shape_nor_values(layout):
    values = np.broadcast_to(np.arange(20).reshape(1, 4, 5), (3, 4, 5))
    placed = place(values, layout)
    assert placed.shape == values.shape
    np.testing.assert_array_equal(placed, values)


def test_every_second_operand_has_the_layout():
    operands = prepared_case(Case("views", "max", "int16", (3, 4), operands=3, layout="fortran"))[2]
    assert [x.flags.f_contiguous for x in operands] == [False, True, False]
    assert [x.flags.c_contiguous for x in operands] == [True, False, True]


def test_a_span_counts_the_memory_reached_over():
    dtype = np.dtype(np.int32)
    spans = {layout: span(empty((4, 6, 8), dtype)) for layout, empty in LAYOUTS.items()}
    dense = 4 * 6 * 8 * 4
    assert spans == {
        "contiguous": dense,
        "transposed": dense,
        "fortran": dense,
        "strided": 2 * dense - 4,
        "reversed": dense,
        "broadcast": 6 * 8 * 4,
    }


def test_numbers_keep_their_order_in_every_element_type():
    numbers = np.arange(-127, 128, dtype=np.int8)
    for element in matrix.ELEMENT_TYPES:
        values = typed(numbers, element)
        assert values.dtype.name == element
        assert (values[1:] > values[:-1]).all()


def test_answers_worked_out_by_hand():
    numbers = np.array([[3, 1, 3], [0, 5, 5]], np.int8)
    by_hand = {
        Case("", "argmax", "int8", (2, 3)): 4,
        Case("", "argmax", "int8", (2, 3), last=True): 5,
        Case("", "argmin", "int8", (2, 3)): 3,
        Case("", "argmax", "int8", (2, 3), (1,)): [0, 1],
        Case("", "argmax", "int8", (2, 3), (1,), last=True): [2, 2],
        Case("", "argmin", "int8", (2, 3), (0,)): [1, 0, 0],
        Case("", "hardmax", "int8", (2, 3), (1,)): [[1, 0, 0], [0, 1, 0]],
        Case("", "hardmax", "int8", (2, 3), (0,)): [[1, 0, 0], [0, 1, 1]],
        Case("", "hardmax", "int8", (2, 3), (0, 1), opset=11): [[0, 0, 0], [0, 1, 0]],
    }
    for case, right in by_hand.items():
        np.testing.assert_array_equal(answer(case, [numbers]), right)
    pair = [np.array([1, 7], np.int8), np.array([2, 2], np.int8)]
    np.testing.assert_array_equal(answer(Case("", "max", "int8", (2,), operands=2), pair), [2, 7])
    np.testing.assert_array_equal(answer(Case("", "min", "int8", (2,), operands=2), pair), [1, 2])


def test_a_value_or_a_shape_that_is_off_does_not_agree():
    case = SMALL[2]
    _, right, _ = prepared_case(case)
    assert agrees(case, right.astype(np.int32), right)
    assert not agrees(case, right[:, None], right)
    right_but_one = right.copy()
    right_but_one[3] += 1
    assert not agrees(case, right_but_one, right)
