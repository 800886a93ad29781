"""What onnx's inference is asked of a model: values that shapes are computed from, and no element of a long vector."""

import subprocess
import sys

import onnx
import pytest

from extremum.graph.sites import sites
from models import model
from watched import TESTS

LONG = 3_000_000
# Each ends in a vector of that length, known by what is declared, by inference, or by following values alone.
VECTORS = {
    "declared": f"(int64[{LONG}] v) => (z) {{",
    "flattened": f"(int64[{LONG // 1000}, 1000] x) => (z) <int64[1] all = {{-1}}> {{ v = Reshape(x, all)",
    "filled": f"() => (z) <int64[1] size = {{{LONG}}}> {{ v = ConstantOfShape(size)",
    "computed": f"(float[{LONG // 1000}, 1000] x) => (z) <int64[1] first = {{0}}, int64[1] second = {{1}}> {{ "
    "shape = Shape(x) a = Gather(shape, first) b = Gather(shape, second) size = Mul(a, b) v = ConstantOfShape(size)",
    "in a branch": f"(bool c, int64[{LONG}] x) => (z) {{ v = If (c) <then_branch = t () => (a) {{ a = Add(x, x) }}, "
    "else_branch = e () => (b) { b = Cast<to = 7>(x) }>",
}
READERS = {
    "Cast": "r = Cast<to = 1>(v)",
    "Add": "r = Add(v, v)",
    "Mul": "r = Mul(v, v)",
    "Sub": "r = Sub(v, v)",
    "Size": "r = Size(v)",
    "Concat": "r = Concat<axis = 0>(v, v)",
    "Squeeze": "u = Unsqueeze(v, axis) r = Squeeze(u, axis)",
    "Slice": "r = Slice(v, axis, axis)",
    "Gather": "r = Gather(v, axis)",
    # Inferred by the nodes that stand for it.
    "GreaterOrEqual": "s = GreaterOrEqual(v, v) r = Cast<to = 7>(s)",
}
MEASURE = """
import sys
import onnx
from extremum.graph.sites import sites
def peak():
    # Of this program alone: getrusage begins with what whoever started it had.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
proto = onnx.ModelProto.FromString(sys.stdin.buffer.read())
list(sites(onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 13]> g (int64[2] x) => (z) { z = Max(x) }')))
before = peak()
found = list(sites(proto))
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the most memory that a process had this way")
@pytest.mark.parametrize("vector", VECTORS)
def test_no_vector_is_written_out(vector):
    readers = " ".join(
        text.replace("r = ", f"r{index} = ").replace("s)", f"s{index})").replace("s = ", f"s{index} = ")
        for index, text in enumerate(READERS.values())
    )
    constant = "axis = Constant<value = int64[1] {0}>()"
    proto = model(f"{VECTORS[vector]} {constant} {readers} z = Max(v) }}", 13)
    command = [sys.executable, "-c", MEASURE]
    child = subprocess.run(command, input=proto.SerializeToString(), capture_output=True, cwd=TESTS, check=True)
    # In units of 1024 bytes. Written out once, it takes 400 MiB.
    assert int(child.stdout) < 100 << 10


def known(body):
    (last,) = [site for site in sites(model(body, 13)) if site.node.op_type == "ArgMax"]
    return last.inputs[0].shape


COMPUTED = "shape = Shape(x) back = Gather(shape, two) last = Concat<axis = 0>(back, six) r = ConstantOfShape(last)"
CONSTANTS = "<int64[1] two = {2}, int64[1] six = {6}, int64[1] zero = {0}>"


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        (f"(float[2, 3, 4] x) => (y) {CONSTANTS} {{ {COMPUTED} y = ArgMax(r) }}", (4, 6)),
        (f"(float[2, 3, 4] x) => (y) {CONSTANTS} {{ {COMPUTED} c = Cast<to = 11>(r) y = ArgMax(c) }}", (4, 6)),
        (
            f"(float[2, 3, 4] x, float[{LONG}] v) => (y, w) {CONSTANTS} "
            f"{{ w = Cast<to = 7>(v) {COMPUTED} c = Add(r, r) y = ArgMax(c) }}",
            (4, 6),
        ),
        (
            f"(float[2, 3, 4] x, float[{LONG}] v) => (y, w) {CONSTANTS} {{ w = Cast<to = 7>(v) {COMPUTED} "
            "c = Add(r, r) again = Shape(c) first = Gather(again, zero) "
            "all = Concat<axis = 0>(first, six) q = ConstantOfShape(all) y = ArgMax(q) }",
            (4, 6),
        ),
    ],
    ids=["computed", "read on", "beside a long vector", "twice"],
)
def test_values_that_shapes_are_computed_from_are_followed(body, shape):
    assert known(body) == shape


def test_the_operators_that_onnx_follows_values_through_are_those_tried_here():
    follows = {each.name for each in onnx.defs.get_all_schemas_with_history() if each.has_data_propagation_function}
    assert follows - {"Shape", "Unsqueeze"} <= set(READERS)
