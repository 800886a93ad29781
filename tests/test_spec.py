"""Every row equals onnx's own definition, no version is missing, and the right row is in force at each opset."""

import onnx
import pytest

from extremum import spec
from extremum.errors import SpecError, UnknownOperatorError
from extremum.tensors import element_of
from refusal import error_of

ONNX_ROWS = [row for (domain, _), rows in spec.OPERATORS.items() if domain == spec.ONNX for row in rows]
ONNX_NAMES = [name for domain, name in spec.OPERATORS if domain == spec.ONNX]
SCHEMAS = onnx.defs.get_all_schemas_with_history()


def schema_of(row):
    return onnx.defs.get_schema(row.name, row.since, row.domain)


def onnx_types(parameter):
    numbers = (element_of(name).onnx_number for name in parameter.types)
    return {f"tensor({onnx.TensorProto.DataType.Name(number).lower()})" for number in numbers}


def allowed(schema, parameter):
    constraints = {each.type_param_str: set(each.allowed_type_strs) for each in schema.type_constraints}
    return constraints.get(parameter.type_str, {parameter.type_str})


@pytest.mark.parametrize("row", ONNX_ROWS, ids=str)
def test_row_equals_onnx_defs(row):
    schema = schema_of(row)
    assert schema.since_version == row.since
    inputs = [row.input, *(each.input for each in row.input_attributes)]
    assert (schema.min_input, schema.max_input) == (row.least_inputs, row.most_inputs)
    assert (schema.min_output, schema.max_output) == (len(row.outputs), len(row.outputs))
    assert [each.name for each in schema.inputs] == [each.name for each in inputs]
    options = ["Single" if each.required else "Optional" for each in row.input_attributes]
    assert [each.option.name for each in schema.inputs[1:]] == options
    assert [each.name for each in schema.outputs] == [each.name for each in row.outputs]
    for theirs, ours in zip(schema.inputs, inputs, strict=True):
        assert allowed(schema, theirs) == onnx_types(ours)
    for theirs, ours in zip(schema.outputs, row.outputs, strict=True):
        assert allowed(schema, theirs) == onnx_types(ours)
    stated = [each for each in row.attributes if each.input is None]
    assert set(schema.attributes) == {each.name for each in stated}
    for each in stated:
        theirs = schema.attributes[each.name]
        types = onnx.defs.OpSchema.AttrType
        assert (theirs.type, theirs.required) == (types.INTS if each.is_list else types.INT, each.required)
        default = onnx.helper.get_attribute_value(theirs.default_value) if theirs.default_value.type else None
        assert default == each.default


@pytest.mark.parametrize("row", ONNX_ROWS, ids=str)
def test_row_says_what_the_document_says(row):
    schema = schema_of(row)
    parameters = [*schema.inputs, *schema.attributes.values()]
    if row.input.maximum > 1:
        assert row.broadcasts == ("multidirectional" in schema.doc)
    assert row.coerced == ("coerced" in schema.doc)
    assert row.identity == ("Reduction over an empty set of values yields" in schema.doc)
    assert row.every_axis == any("over all" in each.description for each in parameters if each.name == "axes")
    for ours in row.attributes:
        if ours.range.is_axis:
            (theirs,) = (each for each in parameters if each.name == ours.name)
            stated = "-r" in theirs.description
            assert ours.range is (spec.AttributeRange.AXIS if stated else spec.AttributeRange.AXIS_UNSTATED)


@pytest.mark.parametrize("name", ONNX_NAMES)
def test_no_version_is_missing(name):
    theirs = [each.since_version for each in SCHEMAS if (each.domain, each.name) == ("", name)]
    assert [row.since for row in spec.OPERATORS[spec.ONNX, name]] == sorted(theirs)
    for opset in range(1, onnx.defs.onnx_opset_version() + 1):
        assert spec.find(spec.ONNX, name, opset).since == onnx.defs.get_schema(name, opset).since_version


@pytest.mark.parametrize(
    ("name", "version", "error", "message"),
    [
        pytest.param("Hardmax", 0, SpecError, "Hardmax needs opset 1 or later\n  given opset 0", id="before the first"),
        pytest.param(
            "Softmax",
            13,
            UnknownOperatorError,
            "there is no operator 'Softmax' here\n  help  the operators are ArgMax, ArgMin, Hardmax, ",
            id="no operator of this name",
        ),
    ],
)
def test_no_version_in_force(name, version, error, message):
    assert str(error_of(error, spec.find, spec.ONNX, name, version)).startswith(message)
