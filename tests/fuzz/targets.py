"""What is fuzzed: each target takes a generator, makes an input and gives it to one part of the package.

An answer, an :class:`~extremum.errors.ExtremumError`, an OSError and a MemoryError are right, anything else is wrong.
A model with operators outside `HARMLESS` is not run, because they may rightly loop forever.
"""

import math
import os
import warnings

import corpus
import numpy as np
import onnx
from mutations import mutated_bytes, mutated_message, mutated_npy, parsed

import commands
from extremum import backend, directml
from extremum.check import check
from extremum.cli.array_files import read_array
from extremum.errors import ExtremumError
from extremum.fix import fix
from extremum.onnxruntime import convert

FAMILY = {"ArgMax", "ArgMin", "Max", "Min", "Hardmax"}
HARMLESS = FAMILY | {"Identity", "Relu", "Constant", "Cast", "Add", "Top", "If"}


def model(random, folder):
    """A model with mutated fields, at times with mutated bytes too, which is kept in the folder."""
    data = random.choice(corpus.models())
    if random.random() < 0.9:
        donors = [onnx.ModelProto.FromString(random.choice(corpus.models())) for _ in range(2)]
        data = mutated_message(random, onnx.ModelProto.FromString(data), donors).SerializeToString()
    if random.random() < 0.15:
        data = mutated_bytes(random, data)
    (folder / "model.onnx").write_bytes(data)
    return data


def harmless(data):
    """Whether no operator of the model may run forever."""
    message = parsed(onnx.ModelProto, data)
    if message is None:
        return True
    nodes = [*message.graph.node, *(node for function in message.functions for node in function.node)]
    for node in nodes:
        nodes.extend(inner for attribute in node.attribute for inner in attribute.g.node)
    return all(node.op_type in HARMLESS for node in nodes) and len(nodes) < 200


def run(random, data):
    prepared = backend.prepare(data)
    if not harmless(data):
        return
    inputs = []
    for value in onnx.ModelProto.FromString(data).graph.input:
        tensor = value.type.tensor_type
        # One symbolic size in ten is beyond the buffers of NumPy's functions, which hold 8,192 elements.
        shape = [
            size.dim_value if size.HasField("dim_value") else random.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, 8200))
            for size in tensor.shape.dim
        ]
        if any(size < 0 for size in shape) or math.prod(max(size, 1) for size in shape) > 1e6:
            return
        kind = (
            onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type) if tensor.elem_type in range(1, 17) else np.float32
        )
        inputs.append(np.zeros(shape, kind))
    prepared.run(inputs)


def array(random, folder):
    ending, data = random.choice(corpus.arrays())
    if ending == ".pb" and random.random() < 0.7:
        message = onnx.TensorProto.FromString(data)
        data = mutated_message(random, message, [onnx.TensorProto.FromString(random.choice(corpus.tensors()))])
        data = data.SerializeToString()
    else:
        data = (mutated_npy if ending == ".npy" else mutated_bytes)(random, data)
    path = folder / f"x{ending}"
    path.write_bytes(data)
    dtype = random.choice((None, np.dtype("float32")))
    read_array(f"{path}{random.choice((':', ':a', ':x')) if ending == '.npz' else ''}", dtype)


def command(random, folder):
    """The command line: whatever its files hold, a status and at most a line on stderr, never a traceback."""
    data = model(random, folder)
    path = str(folder / "model.onnx")
    out = str(folder / "out")
    ways = [
        ["check", path, *random.choice(([], ["--json"], ["--format", "github"], ["--feature-level", "4_1"]))],
        ["lower", path, "--set", "n=3", "--format", random.choice(("text", "json", "cpp", "dxdispatch"))],
        ["fix", path, *random.choice((["--diff"], ["-o", out])), *([] if harmless(data) else ["--node-by-node"])],
    ]
    if harmless(data):
        ways.append(["run", path, "--random", "--set", "n=3", *random.choice(([], ["--json"], ["-o", out]))])
        ending, data = random.choice(corpus.arrays())
        file = folder / f"x{ending}"
        file.write_bytes((mutated_npy if ending == ".npy" else mutated_bytes)(random, data))
        ways.append(["run", path, "-i", f"x={file}", "--random", "--set", "n=2"])
    words = random.choice(ways)
    (folder / "command.txt").write_text(" ".join(words))
    status, out, err = commands.run(*words)
    assert status in (0, 1, 2), f"status {status}"
    assert "Traceback" not in err, err
    assert "\x1b" not in out + err, "an escape sequence reaches the terminal"


def raising(random, data):
    raise KeyError("no")


# What a target does with a model. The last two cause a finding and a crash, to test this program.
MODELS = {
    "prepare": lambda random, data: backend.prepare(data),
    "check": lambda random, data: str(check(data, feature_level=random.choice((None, None, 0x4100)))),
    "convert": lambda random, data: convert(data, random.choice(("all", "unsupported"))),
    "fix": lambda random, data: fix(
        data,
        random.choice(("onnxruntime", "directml-4_1")),
        whole=harmless(data),
        raise_opset=random.choice((None, 13)),
    ),
    "lower": lambda random, data: directml.lower(
        data, random.choice(list(directml.FeatureLevel)), sizes=random.choice(({}, {"n": 3, "m": 2, "N": 4}))
    ),
    "run": run,
    "raising": raising,
    "aborting": lambda random, data: os.abort(),
}
TARGETS = {"array": array, "command": command}
RIGHT = (ExtremumError, OSError, MemoryError)


def attempt(name, random, folder):
    """Whether the target answered (True) or refused (False); whatever else it raises is a finding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if name in MODELS:
                MODELS[name](random, model(random, folder))
            else:
                TARGETS[name](random, folder)
        except RIGHT:
            return False
    return True
