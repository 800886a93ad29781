"""The table of element types agrees with onnx and ml_dtypes, and refuses what it does not hold."""

import ml_dtypes
import numpy as np
import onnx
import pytest

from extremum.directml import TensorDataType
from extremum.errors import ElementTypeError
from extremum.tensors import ELEMENT_TYPES, element_of


@pytest.mark.parametrize("row", ELEMENT_TYPES, ids=lambda row: row.name)
def test_row_agrees_with_onnx_and_numpy_and_every_name_finds_it(row):
    assert onnx.helper.tensor_dtype_to_np_dtype(row.onnx_number) == row.dtype
    assert row.dtype.name == row.name
    assert row.dtype.itemsize == row.itemsize
    assert element_of(row.name) is element_of(row.dtype.name) is row


def test_twelve_types_and_bool():
    assert len(ELEMENT_TYPES) == 13
    assert {row.name.upper() for row in ELEMENT_TYPES} - {*TensorDataType.__members__} == {"BOOL", "BFLOAT16"}


@pytest.mark.parametrize("dtype", ["complex64", "U3", "object", "V2", "M8[s]", ml_dtypes.float8_e5m2])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(ElementTypeError, match="is not an element type that can be compared here\n  help  use one of"):
        element_of(np.dtype(dtype).name)
