"""Every row equals onnx's own definition, no version is missing, and the right row is in force at each opset."""

import onnx
import pytest

from extremum import dtypes, spec
from extremum.errors import SpecError, UnknownOperatorError
from extremum.spec import AttributeType

ONNX_ROWS = [row for (domain, _), rows in spec.OPERATORS.items() if domain == spec.ONNX for row in rows]
ONNX_NAMES = [name for domain, name in spec.OPERATORS if domain == spec.ONNX]
ATTRIBUTE_TYPES = {
    AttributeType.INT: onnx.defs.OpSchema.AttrType.INT,
    AttributeType.INTS: onnx.defs.OpSchema.AttrType.INTS,
}


def schema_of(row):
    return onnx.defs.get_schema(row.name, row.since, row.domain)


def onnx_types(parameter):
    return {dtypes.from_name(name).onnx for name in parameter.types}


def allowed(schema, parameter):
    constraints = {each.type_param_str: set(each.allowed_type_strs) for each in schema.type_constraints}
    return constraints.get(parameter.type_str, {parameter.type_str})


@pytest.mark.parametrize("row", ONNX_ROWS, ids=str)
def test_row_equals_onnx_defs(row):
    schema = schema_of(row)
    assert schema.since_version == row.since
    inputs = [row.input, *(each.input for each in row.input_attributes)]
    assert (schema.min_input, schema.max_input) == (1, row.most_inputs)
    assert (schema.min_output, schema.max_output) == (1, 1)
    assert [each.name for each in schema.inputs] == [each.name for each in inputs]
    assert [each.option.name for each in schema.inputs[1:]] == ["Optional"] * len(row.input_attributes)
    assert [each.name for each in schema.outputs] == [row.output.name]
    for theirs, ours in zip(schema.inputs, inputs, strict=True):
        assert allowed(schema, theirs) == onnx_types(ours)
    assert allowed(schema, schema.outputs[0]) == onnx_types(row.output)


@pytest.mark.parametrize("row", ONNX_ROWS, ids=str)
def test_attributes_equal_onnx_defs(row):
    schema = schema_of(row)
    stated = [each for each in row.attributes if each.input is None]
    assert set(schema.attributes) == {each.name for each in stated}
    for each in stated:
        theirs = schema.attributes[each.name]
        assert theirs.type == ATTRIBUTE_TYPES[each.type]
        assert theirs.required == each.required
        default = onnx.helper.get_attribute_value(theirs.default_value) if theirs.default_value.type else None
        assert default == each.default


@pytest.mark.parametrize("name", ONNX_NAMES)
def test_no_version_is_missing(name):
    theirs = {
        each.since_version
        for each in onnx.defs.get_all_schemas_with_history()
        if (each.domain, each.name) == ("", name)
    }
    assert [row.since for row in spec.OPERATORS[spec.ONNX, name]] == sorted(theirs)


@pytest.mark.parametrize("name", ONNX_NAMES)
@pytest.mark.parametrize("opset", range(1, onnx.defs.onnx_opset_version() + 1))
def test_row_in_force(name, opset):
    assert spec.find(spec.ONNX, name, opset).since == onnx.defs.get_schema(name, opset).since_version


@pytest.mark.parametrize("row", ONNX_ROWS, ids=str)
def test_documents_that_speak_of_broadcasting_and_of_2d(row):
    text = schema_of(row).doc
    if row.input.maximum > 1:
        assert (row.broadcasting is spec.Broadcasting.MULTIDIRECTIONAL) == ("multidirectional" in text)
    assert row.coerced == ("coerced" in text)


@pytest.mark.parametrize("row", ONNX_ROWS, ids=str)
def test_documents_that_speak_of_no_element_and_of_no_axis(row):
    schema = schema_of(row)
    assert row.identity == ("Reduction over an empty set of values yields" in schema.doc)
    texts = [each.description for each in (*schema.inputs, *schema.attributes.values()) if each.name == "axes"]
    assert row.every_axis == any("over all" in text for text in texts)


@pytest.mark.parametrize("row", ONNX_ROWS, ids=str)
def test_axis_range_is_the_documents(row):
    schema = schema_of(row)
    for each in row.attributes:
        if each.range.is_axis:
            (theirs,) = (text for text in (*schema.inputs, *schema.attributes.values()) if text.name == each.name)
            stated = "-r" in theirs.description
            assert each.range is (spec.AttributeRange.AXIS if stated else spec.AttributeRange.AXIS_UNSTATED)


def test_size_of_the_table():
    assert len(ONNX_ROWS) == 33
    assert sum(len(row.types) for row in ONNX_ROWS) == 272


@pytest.mark.parametrize("name", ["DML_ARGMAX", "DML_ARGMIN"])
def test_feature_levels(name):
    first, second = (spec.find(spec.DIRECTML, name, level) for level in (0x3000, 0x4100))
    assert (str(first), str(second)) == (f"{name}-3_0", f"{name}-4_1")
    assert set(first.types) == {"float32", "float16", "int32", "int16", "int8", "uint32", "uint16", "uint8"}
    assert set(second.types) - set(first.types) == {"int64", "uint64"}
    for row in (first, second):
        assert set(row.output.types) == {"int64", "int32", "uint64", "uint32"}
        assert (row.ranks, row.empty) == ((1, 8), False)
        assert row.attribute("axes").required


def test_an_operator_before_its_time():
    with pytest.raises(SpecError, match=r"^DML_ARGMAX needs feature level 3_0 or later\n  given feature level 2_1$"):
        spec.find(spec.DIRECTML, "DML_ARGMAX", 0x2100)


def test_an_opset_before_the_first():
    with pytest.raises(SpecError, match=r"^Hardmax needs opset 1 or later\n  given opset 0$"):
        spec.find(spec.ONNX, "Hardmax", 0)


def test_an_unknown_operator():
    with pytest.raises(
        UnknownOperatorError, match="no operator 'Softmax' here\n  help  the operators are ArgMax, ArgMin"
    ):
        spec.find(spec.ONNX, "Softmax", 13)
