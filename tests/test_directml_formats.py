"""A lowered model in each format: exact where it is for readers, interpreted where it is for programs."""

import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import onnx
import psutil
import pytest
from click.testing import CliRunner

from extremum import directml as dml
from extremum import reference
from extremum.cli.program import program
from extremum.directml.formats import FORMATS, cpp, text
from extremum.errors import ArgumentError, MemoryLimitError
from extremum.operations import ArgReduce, Extremum, OneHot, Order, Tie
from models import model

CHAIN = """(float[2, 3, 4] x, float[4] b, int8[3] k, double[3] d)
    => (int64[2, 4] y, float[2, 3, 4] h, int8[3] l, int64[1] q)
    <float[1] low = {-1.5}> {
    m = Max(x, b, low)
    y = ArgMax<axis=1, keepdims=0, select_last_index=1>(m)
    h = Hardmax<axis=0>(m)
    l = Min(k)
    q = ArgMin(d) }"""
ARGMAX = "(float16[2, 3] x) => (int64[2, 1] y) { y = ArgMax<axis=1>(x) }"


def read(form, lowered):
    """What a program reads, which takes no number that JSON does not have."""
    return json.loads("".join(FORMATS[form](lowered)), parse_constant=pytest.fail)


@pytest.fixture
def chain():
    return dml.lower(model(CHAIN))


def test_text():
    assert text(dml.lower(model(ARGMAX))) == (
        "graph.node[0]: ArgMax-13\n"
        "  DML_ARGMAX, feature level 3_0\n"
        "    InputTensor    x  FLOAT16[2, 3]\n"
        "    OutputTensor   y  INT64[2, 1]\n"
        "    AxisCount      1\n"
        "    Axes           {1}\n"
        "    AxisDirection  DML_AXIS_DIRECTION_INCREASING\n"
    )


def test_text_of_a_model_without_such_nodes():
    lowered = dml.lower(model("(float[3] x) => (float[3] y) { y = Abs(x) }"))
    assert text(lowered) == "no node of the model picks the largest or smallest\n"
    assert cpp(lowered) == ""
    assert read("dxdispatch", lowered) == {"resources": {}, "dispatchables": {}, "commands": [], "expected": {}}


def test_cpp():
    assert cpp(dml.lower(model(ARGMAX))) == (
        "// graph.node[0]: ArgMax-13, feature level 3_0\n"
        "// InputTensor = 'x', OutputTensor = 'y'\n"
        "const UINT op0_InputTensor_Sizes[] = {2u, 3u};\n"
        "const DML_BUFFER_TENSOR_DESC op0_InputTensor_buffer = {\n"
        "    DML_TENSOR_DATA_TYPE_FLOAT16,  // DataType\n"
        "    DML_TENSOR_FLAG_NONE,          // Flags\n"
        "    2u,                            // DimensionCount\n"
        "    op0_InputTensor_Sizes,         // Sizes\n"
        "    nullptr,                       // Strides\n"
        "    12u,                           // TotalTensorSizeInBytes\n"
        "    0u,                            // GuaranteedBaseOffsetAlignment\n"
        "};\n"
        "const DML_TENSOR_DESC op0_InputTensor = {DML_TENSOR_TYPE_BUFFER, &op0_InputTensor_buffer};\n"
        "const UINT op0_OutputTensor_Sizes[] = {2u, 1u};\n"
        "const DML_BUFFER_TENSOR_DESC op0_OutputTensor_buffer = {\n"
        "    DML_TENSOR_DATA_TYPE_INT64,  // DataType\n"
        "    DML_TENSOR_FLAG_NONE,        // Flags\n"
        "    2u,                          // DimensionCount\n"
        "    op0_OutputTensor_Sizes,      // Sizes\n"
        "    nullptr,                     // Strides\n"
        "    16u,                         // TotalTensorSizeInBytes\n"
        "    0u,                          // GuaranteedBaseOffsetAlignment\n"
        "};\n"
        "const DML_TENSOR_DESC op0_OutputTensor = {DML_TENSOR_TYPE_BUFFER, &op0_OutputTensor_buffer};\n"
        "const UINT op0_Axes[] = {1u};\n"
        "const DML_ARGMAX_OPERATOR_DESC op0_desc = {\n"
        "    &op0_InputTensor,               // InputTensor\n"
        "    &op0_OutputTensor,              // OutputTensor\n"
        "    1u,                             // AxisCount\n"
        "    op0_Axes,                       // Axes\n"
        "    DML_AXIS_DIRECTION_INCREASING,  // AxisDirection\n"
        "};\n"
        "const DML_OPERATOR_DESC op0_operator = {DML_OPERATOR_ARGMAX, &op0_desc};\n"
    )


def test_cpp_names_every_operator_and_points_to_its_strides(chain):
    written = cpp(chain)
    kinds = ["ELEMENT_WISE_MAX", "ELEMENT_WISE_MAX", "ARGMAX", "ACTIVATION_HARDMAX1", "ELEMENT_WISE_MIN"]
    for number, kind in enumerate(kinds):
        assert f"const DML_OPERATOR_DESC op{number}_operator = {{DML_OPERATOR_{kind}, &op{number}_desc}};" in written
        assert f"const DML_{kind}_OPERATOR_DESC op{number}_desc = {{" in written
    assert "const UINT op0_BTensor_Strides[] = {0u, 0u, 1u};" in written


def test_a_name_cannot_leave_its_comment():
    source = onnx.helper.make_model(
        onnx.helper.make_graph(
            [onnx.helper.make_node("ArgMax", ["x\nint evil;"], ["y"], name="n\nint evil;")],
            "g",
            [onnx.helper.make_tensor_value_info("x\nint evil;", onnx.TensorProto.FLOAT, [3])],
            [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT64, [1])],
        )
    )
    assert "\nint evil" not in cpp(dml.lower(source))


def test_json(chain):
    written = read("json", chain)
    assert written["feature_level"] == "6_4"
    assert [node["version"] for node in written["nodes"]] == ["Max-13", "ArgMax-13", "Hardmax-13", "Min-13"]
    step = written["nodes"][1]["steps"][0]
    assert step["type"] == "DML_OPERATOR_ARGMAX"
    assert step["bindings"] == {"InputTensor": "m", "OutputTensor": "y"}
    assert step["desc"]["AxisDirection"] == "DML_AXIS_DIRECTION_DECREASING"
    assert step["desc"]["OutputTensor"] == {
        "DataType": "DML_TENSOR_DATA_TYPE_INT64",
        "Flags": "DML_TENSOR_FLAG_NONE",
        "DimensionCount": 3,
        "Sizes": [2, 1, 4],
        "TotalTensorSizeInBytes": 64,
        "GuaranteedBaseOffsetAlignment": 0,
    }
    (refusal,) = written["refusals"]
    assert refusal["reason"] == "DML_ARGMIN-4_1 does not take FLOAT64 as input_tensor"
    assert refusal["where"] == "graph.node[4]"


DATA_TYPES = {each.name for each in dml.TensorDataType}
TENSOR_MEMBERS = {
    "DataType": str,
    "Flags": str,
    "DimensionCount": int,
    "Sizes": list,
    "Strides": list,
    "TotalTensorSizeInBytes": int,
    "GuaranteedBaseOffsetAlignment": int,
}
OPERATOR_MEMBERS = {
    "DML_OPERATOR_ARGMAX": {"InputTensor", "OutputTensor", "AxisCount", "Axes", "AxisDirection"},
    "DML_OPERATOR_ARGMIN": {"InputTensor", "OutputTensor", "AxisCount", "Axes", "AxisDirection"},
    "DML_OPERATOR_ELEMENT_WISE_MAX": {"ATensor", "BTensor", "OutputTensor"},
    "DML_OPERATOR_ELEMENT_WISE_MIN": {"ATensor", "BTensor", "OutputTensor"},
    "DML_OPERATOR_ACTIVATION_HARDMAX1": {"InputTensor", "OutputTensor", "AxisCount", "Axes"},
}


def assert_is_a_model_of_dxdispatch(written):
    """What DxDispatch's schema and guide demand of the members that we write."""
    assert {"resources", "dispatchables", "commands"} <= set(written)
    sizes = {}
    for name, resource in written["resources"].items():
        assert set(resource) == {"initialValuesDataType", "initialValues"}
        assert resource["initialValuesDataType"] in DATA_TYPES
        values = resource["initialValues"]
        if isinstance(values, list):
            assert values
            assert all(isinstance(value, int | float) or value in ("nan", "inf", "-inf") for value in values)
        else:
            assert set(values) == {"valueCount", "value"}
        count = len(values) if isinstance(values, list) else values["valueCount"]
        itemsize = np.dtype(resource["initialValuesDataType"].lower()).itemsize
        sizes[name] = -(-count * itemsize // 4) * 4
        assert sizes[name] > 0
    for dispatchable in written["dispatchables"].values():
        assert set(dispatchable) == {"type", "desc"}
        desc = dispatchable["desc"]
        assert set(desc) == OPERATOR_MEMBERS[dispatchable["type"]]
        for tensor in (value for name, value in desc.items() if name.endswith("Tensor")):
            assert set(TENSOR_MEMBERS) - {"Strides"} <= set(tensor) <= set(TENSOR_MEMBERS)
            assert all(isinstance(value, TENSOR_MEMBERS[name]) for name, value in tensor.items())
            assert tensor["DataType"].removeprefix("DML_TENSOR_DATA_TYPE_") in DATA_TYPES
            assert tensor["DimensionCount"] == len(tensor["Sizes"]) == len(tensor.get("Strides", tensor["Sizes"]))
        assert desc.get("AxisCount") == (len(desc["Axes"]) if "Axes" in desc else None)
    for command in written["commands"]:
        if command["type"] == "print":
            assert set(command) == {"type", "resource"}
            assert command["resource"] in written["resources"]
            continue
        assert (command["type"], set(command)) == ("dispatch", {"type", "dispatchable", "bindings"})
        desc = written["dispatchables"][command["dispatchable"]]["desc"]
        assert set(command["bindings"]) == {name for name in desc if name.endswith("Tensor")}
        for member, resource in command["bindings"].items():
            assert sizes[resource] >= desc[member]["TotalTensorSizeInBytes"]


def view(tensor, buffer):
    strides = tensor.get("Strides")
    packed = np.empty(tensor["Sizes"], buffer.dtype).strides
    in_bytes = packed if strides is None else [stride * buffer.itemsize for stride in strides]
    return np.lib.stride_tricks.as_strided(buffer, tensor["Sizes"], in_bytes)


def operation(kind, desc):
    if kind.startswith("DML_OPERATOR_ELEMENT_WISE"):
        return Extremum(Order[kind[-3:]])
    if kind == "DML_OPERATOR_ACTIVATION_HARDMAX1":
        return OneHot(tuple(desc["Axes"]))
    tie = Tie.LAST if desc["AxisDirection"].endswith("DECREASING") else Tie.FIRST
    return ArgReduce(Order[kind[-3:]], tuple(desc["Axes"]), True, tie, np.dtype(np.int64))


def interpreted(written):
    """The buffers that are printed, after the commands have been carried out by the reference."""
    buffers = {}
    for name, resource in written["resources"].items():
        values, dtype = resource["initialValues"], np.dtype(resource["initialValuesDataType"].lower())
        if isinstance(values, list):
            buffers[name] = np.array([float(value) if isinstance(value, str) else value for value in values], dtype)
        else:
            buffers[name] = np.full(values["valueCount"], values["value"], dtype)
    printed = {}
    for command in written["commands"]:
        if command["type"] == "print":
            printed[command["resource"]] = buffers[command["resource"]].tolist()
            continue
        dispatchable = written["dispatchables"][command["dispatchable"]]
        desc, bindings = dispatchable["desc"], command["bindings"]
        inputs = [view(desc[member], buffers[name]) for member, name in bindings.items() if member != "OutputTensor"]
        output = view(desc["OutputTensor"], buffers[bindings["OutputTensor"]])
        output[...] = reference.run(operation(dispatchable["type"], desc), *inputs)
    return printed


def test_dxdispatch_gives_what_is_expected(chain):
    written = read("dxdispatch", chain)
    assert_is_a_model_of_dxdispatch(written)
    assert interpreted(written) == written["expected"]
    assert set(written["expected"]) == {"m", "y", "h", "l"}
    assert written["resources"]["low"]["initialValues"] == [-1.5]


def test_dxdispatch_writes_as_text_what_json_has_no_number_for():
    source = model("(float[3] x) => (float[3] y) { y = Max(x, c) }")
    constant = onnx.numpy_helper.from_array(np.array([np.nan, np.inf, -np.inf], np.float32), "c")
    source.graph.initializer.append(constant)
    written = read("dxdispatch", dml.lower(source))
    assert_is_a_model_of_dxdispatch(written)
    assert written["resources"]["c"]["initialValues"] == ["nan", "inf", "-inf"]
    assert written["expected"]["y"] == ["nan", "inf", 74.0]


@pytest.fixture
def path(tmp_path):
    onnx.save(
        model("(float[n, 3] x, double[3] d) => (int64[n, 1] y, int64[1] q) { y = ArgMax<axis=1>(x) q = ArgMax(d) }"),
        tmp_path / "m.onnx",
    )
    return str(tmp_path / "m.onnx")


def lower(*words):
    return CliRunner().invoke(program, ["lower", *words], standalone_mode=False)


@pytest.mark.parametrize("form", FORMATS)
def test_the_command_prints_the_format(path, form):
    result = lower(path, "--set", "n=2", "--feature-level", "3_0", "--format", form)
    assert result.stdout == "".join(FORMATS[form](dml.lower(path, dml.FeatureLevel.FL_3_0, sizes={"n": 2})))
    assert result.return_value == 1
    assert result.stderr == (
        "DML_ARGMAX-4_1 does not take FLOAT64 as input_tensor; at: graph.node[1]; given: input_tensor: FLOAT64[3], "
        "output_tensor: INT64[1], axes=(0,), axis_direction=INCREASING; help: the element types of input_tensor in "
        "DML_ARGMAX-4_1 are: FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8, INT64, UINT64\n"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_the_command_writes_a_file_and_overwrites_none(path, tmp_path, form):
    words = (path, "--set", "n=2", "--feature-level", "3_0", "--format", form)
    out = tmp_path / "lowered"
    result = lower(*words, "-o", str(out))
    assert (result.return_value, result.stdout) == (1, f"wrote {out}\n")
    assert out.read_text(encoding="utf-8") == lower(*words).stdout
    with pytest.raises(ArgumentError, match="already exists"):
        CliRunner().invoke(program, ["lower", *words, "-o", str(out)], standalone_mode=False, catch_exceptions=False)
    assert out.read_text(encoding="utf-8") == lower(*words).stdout


def test_the_command_is_content_with_a_model_that_goes(tmp_path):
    onnx.save(model(ARGMAX), tmp_path / "m.onnx")
    result = lower(str(tmp_path / "m.onnx"))
    assert (result.return_value, result.stderr) == (0, "")


PEAK = """
import resource
import sys
from extremum import directml as dml
from extremum.directml.formats import FORMATS

written = 0
for piece in FORMATS["dxdispatch"](dml.lower(sys.argv[1], sizes={"n": int(sys.argv[2])})):
    written += len(piece)
assert written > 10 * int(sys.argv[2])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell a process how much memory it took at most")
def test_dxdispatch_takes_the_memory_of_the_tensors(tmp_path):
    onnx.save(model("(float[n] x) => (float[n] y) { y = Max(x, x) }"), tmp_path / "m.onnx")

    def peak(size):
        words = [sys.executable, "-c", PEAK, str(tmp_path / "m.onnx"), str(size)]
        return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    # x and y take 4 bytes an element each; their text more than 10, in one piece and twice over.
    size = 1_000_000
    assert peak(size) - peak(1) < 12 * size


def test_dxdispatch_writes_nothing_where_the_tensors_do_not_fit_into_memory(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**20))
    lowered = dml.lower(model("(float[n] x) => (float[n] y) { y = Max(x, x) }"), sizes={"n": 2**17 + 1})
    with pytest.raises(MemoryLimitError) as caught:
        next(FORMATS["dxdispatch"](lowered))
    assert caught.value.reason == "what the operators read and write would not fit into memory"
    lowered = dml.lower(model("(float[n] x) => (float[n] y) { y = Max(x, x) }"), sizes={"n": 2**17})
    assert next(FORMATS["dxdispatch"](lowered)).startswith("{")
