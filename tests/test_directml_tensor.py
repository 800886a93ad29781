"""DML_BUFFER_TENSOR_DESC: every rule of its document, and the words for each that is broken."""

import re

import pytest

from extremum.directml import TensorDataType, TensorDesc, TensorFlags
from extremum.errors import ElementTypeError, SpecError

FLOAT32, FLOAT16, UINT8, INT64 = (TensorDataType[name] for name in ("FLOAT32", "FLOAT16", "UINT8", "INT64"))
ITEMSIZES = {each: int(re.sub(r"\D", "", each.name)) // 8 for each in TensorDataType}


def test_the_enumeration_has_directmls_values():
    assert [each.name for each in sorted(TensorDataType)] == [
        *("FLOAT32", "FLOAT16", "UINT32", "UINT16", "UINT8", "INT32", "INT16", "INT8", "FLOAT64", "UINT64", "INT64")
    ]
    assert sorted(TensorDataType) == list(range(1, 12))


@pytest.mark.parametrize("data_type", TensorDataType, ids=lambda each: each.name)
@pytest.mark.parametrize(
    ("sizes", "strides", "extent"),
    [
        ((1,), None, 1),
        ((3,), None, 3),
        ((2, 3), None, 6),
        ((2, 3), (4, 1), 7),
        ((2, 3), (1, 2), 6),
        ((2, 3), (0, 1), 3),
        ((2, 3), (0, 0), 1),
        ((1, 2, 1), (9, 5, 7), 6),
        ((2,) * 8, None, 256),
    ],
    ids=str,
)
def test_the_smallest_size_reaches_from_the_first_element_to_the_last(data_type, sizes, strides, extent):
    desc = TensorDesc(data_type, sizes, strides)
    least = (extent * ITEMSIZES[data_type] + 3) // 4 * 4
    assert (desc.extent, desc.total_tensor_size_in_bytes) == (extent, least)
    assert TensorDesc(data_type, sizes, strides, least + 1).total_tensor_size_in_bytes == least + 1
    with pytest.raises(SpecError):
        TensorDesc(data_type, sizes, strides, least - 1)


@pytest.mark.parametrize(
    ("sizes", "strides", "overlapping"),
    [
        ((2, 3), None, False),
        ((2, 3), (3, 1), False),
        ((2, 3), (1, 2), False),
        ((2, 3), (7, 2), False),
        ((1, 3), (0, 1), False),
        ((2, 1, 3), (3, 0, 1), False),
        ((2, 3), (0, 1), True),
        ((2, 3), (2, 1), True),
        ((2, 2), (1, 1), True),
        ((1, 1), (0, 0), False),
    ],
    ids=str,
)
def test_elements_share_memory_unless_the_dimensions_step_over_each_other(sizes, strides, overlapping):
    assert TensorDesc(FLOAT32, sizes, strides).overlapping is overlapping


@pytest.mark.parametrize("alignment", [0, 4, 8, 16, 4096])
def test_alignments(alignment):
    desc = TensorDesc(FLOAT32, (3,), guaranteed_base_offset_alignment=alignment)
    assert desc.guaranteed_base_offset_alignment == alignment


def test_lists_become_tuples_and_descriptions_compare_by_value():
    desc = TensorDesc(1, [2, 3], [4, 1], flags=TensorFlags.OWNED_BY_DML)
    assert (desc.data_type, desc.sizes, desc.strides) == (FLOAT32, (2, 3), (4, 1))
    assert desc == TensorDesc(FLOAT32, (2, 3), (4, 1), flags=1)
    assert hash(desc) == hash(TensorDesc(FLOAT32, (2, 3), (4, 1), flags=1))
    assert str(desc) == "FLOAT32[2, 3] strides [4, 1]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": ()}, "a tensor has 1 to 8 dimensions, not 0\n  at    TensorDesc.sizes\n  given sizes=()"),
        (
            {"sizes": (1,) * 9},
            "a tensor has 1 to 8 dimensions, not 9\n  at    TensorDesc.sizes\n"
            "  given sizes=(1, 1, 1, 1, 1, 1, 1, 1, 1)",
        ),
        ({"sizes": 3}, "sizes is not a sequence of integers\n  at    TensorDesc.sizes\n  given sizes=3"),
        ({"sizes": [2.0]}, "sizes is not a sequence of integers\n  at    TensorDesc.sizes\n  given sizes=[2.0]"),
        (
            {"sizes": (2,), "flags": 2},
            "flags has no value 2\n  at    TensorDesc.flags\n  help  use TensorFlags: NONE, OWNED_BY_DML",
        ),
        (
            {"sizes": (2, 0)},
            "dimension 1 has size 0, and DirectML has no tensors without elements\n  at    TensorDesc.sizes\n"
            "  given sizes=(2, 0)\n  help  leave the operator out: its result is empty too",
        ),
        (
            {"sizes": (-1,)},
            "sizes are numbers from 0 to 4294967295, not -1\n  at    TensorDesc.sizes\n  given sizes=(-1,)",
        ),
        (
            {"sizes": (65536, 65536)},
            "a tensor has at most 4294967295 elements\n  at    TensorDesc.sizes\n  given FLOAT32[65536, 65536]",
        ),
        (
            {"sizes": (65536, 65536), "strides": (0, 1)},
            "a tensor has at most 4294967295 elements\n  at    TensorDesc.sizes\n"
            "  given FLOAT32[65536, 65536] strides [0, 1]",
        ),
        (
            {"sizes": (2, 2), "strides": (4294967295, 1)},
            "a tensor has at most 4294967295 elements\n  at    TensorDesc.sizes\n"
            "  given FLOAT32[2, 2] strides [4294967295, 1]",
        ),
        (
            {"sizes": (2, 3), "strides": (1,)},
            "2 dimensions have 1 strides\n  at    TensorDesc.strides\n  given strides=(1,), sizes=(2, 3)",
        ),
        (
            {"sizes": (2, 3), "strides": (-3, 1)},
            "strides are numbers from 0 to 4294967295, not -3\n  at    TensorDesc.strides\n  given strides=(-3, 1)",
        ),
        (
            {"sizes": (2, 3), "total_tensor_size_in_bytes": 23},
            "FLOAT32[2, 3] takes 24 bytes, not 23\n  at    TensorDesc.total_tensor_size_in_bytes\n"
            "  given total_tensor_size_in_bytes=23\n  help  leave it out for the smallest size that holds the tensor",
        ),
        *(
            (
                {"sizes": (2, 3), "guaranteed_base_offset_alignment": alignment},
                "an alignment is 0 or a power of two that is at least the size of an element, 4\n"
                "  at    TensorDesc.guaranteed_base_offset_alignment\n"
                f"  given guaranteed_base_offset_alignment={alignment}",
            )
            for alignment in (2, 12, -4)
        ),
    ],
    ids=str,
)
def test_a_broken_rule(arguments, message):
    with pytest.raises(SpecError) as caught:
        TensorDesc(FLOAT32, **arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize("given", [0, 12, "FLOAT32", "float32"])
def test_an_unknown_element_type(given):
    with pytest.raises(ElementTypeError) as caught:
        TensorDesc(given, (3,))
    assert str(caught.value) == (
        f"data_type has no value {given!r}\n  at    TensorDesc.data_type\n"
        "  help  use TensorDataType: FLOAT32, FLOAT16, UINT32, "
        "UINT16, UINT8, INT32, INT16, INT8, FLOAT64, UINT64, INT64"
    )
