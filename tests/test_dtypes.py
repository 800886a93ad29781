"""The table of element types agrees with onnx and ml_dtypes, and refuses what it does not hold."""

import ml_dtypes
import numpy as np
import onnx
import pytest

from extremum import dtypes
from extremum.dtypes import ELEMENT_TYPES
from extremum.errors import ElementTypeError


@pytest.mark.parametrize("row", ELEMENT_TYPES, ids=lambda row: row.name)
def test_row_agrees_with_onnx_and_numpy_and_every_name_finds_it(row):
    assert onnx.helper.tensor_dtype_to_np_dtype(row.onnx_number) == row.dtype
    assert onnx.TensorProto.DataType.Name(row.onnx_number).lower() == row.onnx[len("tensor(") : -1]
    assert row.dtype.name == row.name
    assert row.dtype.itemsize == row.itemsize
    assert dtypes.from_name(row.name) is dtypes.from_numpy(row.dtype) is row
    assert row.directml is None or dtypes.from_directml(row.directml) is row


def test_twelve_types_and_bool():
    assert len(ELEMENT_TYPES) == 13
    assert {row.name for row in ELEMENT_TYPES if row.directml is None} == {"bool", "bfloat16"}


def test_byte_order_does_not_matter():
    assert dtypes.from_numpy(np.dtype(">i8")).name == dtypes.from_numpy(np.dtype("<i8")).name == "int64"


@pytest.mark.parametrize("dtype", ["complex64", "U3", "object", "V2", "M8[s]", ml_dtypes.float8_e5m2])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(ElementTypeError, match="is not an element type that can be compared here\n  help  use one of"):
        dtypes.from_numpy(np.dtype(dtype))


@pytest.mark.parametrize(("find", "name"), [(dtypes.from_name, "float8_e5m2"), (dtypes.from_directml, "FLOAT4")])
def test_other_names_are_refused(find, name):
    with pytest.raises(ElementTypeError, match=f"^{name} is not"):
        find(name)
