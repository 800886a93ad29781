"""What is fuzzed: each target takes a generator, makes an input and gives it to one part of the package.

An answer, an :class:`~extremum.errors.ExtremumError`, an OSError and the want of memory are right, all else is not.
Where a model would run operators of others, which may loop for ever by right, it is not run.
"""

import contextlib
import io
import math
import os
import shutil
import tempfile
import warnings
from pathlib import Path

import corpus
import numpy as np
import onnx
from mutations import mutated_bytes, mutated_message, mutated_npy, parsed

from extremum import backend, directml
from extremum.check import check
from extremum.cli import main
from extremum.cli.inputs import read_array
from extremum.errors import ExtremumError
from extremum.fix import fix
from extremum.onnxruntime import convert

FAMILY = {"ArgMax", "ArgMin", "Max", "Min", "Hardmax"}
HARMLESS = FAMILY | {"Identity", "Relu", "Constant", "Cast", "Add", "Top", "If"}


class Folder:
    """Where a case keeps its files."""

    def __init__(self):
        self.path = Path(tempfile.mkdtemp(prefix="extremum-fuzz-"))

    def keep(self, name, data):
        """Write a file and return its path."""
        path = self.path / name
        path.write_bytes(data)
        return path

    def clear(self):
        """Remove everything in it."""
        for path in self.path.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def model(random, folder):
    """A model, mutated by its fields and at times by its bytes too, and kept."""
    data = random.choice(corpus.models())
    if random.random() < 0.9:
        donors = [onnx.ModelProto.FromString(random.choice(corpus.models())) for _ in range(2)]
        data = mutated_message(random, onnx.ModelProto.FromString(data), donors).SerializeToString()
    if random.random() < 0.15:
        data = mutated_bytes(random, data)
    folder.keep("model.onnx", data)
    return data


def harmless(data):
    """Whether running the model runs nothing that may take for ever."""
    message = parsed(onnx.ModelProto, data)
    if message is None:
        return True
    nodes = [*message.graph.node, *(node for function in message.functions for node in function.node)]
    for node in nodes:
        nodes.extend(inner for attribute in node.attribute for inner in attribute.g.node)
    return all(node.op_type in HARMLESS for node in nodes) and len(nodes) < 200


def prepare(random, folder):
    backend.prepare(model(random, folder))


def run(random, folder):
    data = model(random, folder)
    prepared = backend.prepare(data)
    if not harmless(data):
        return
    inputs = []
    for value in onnx.ModelProto.FromString(data).graph.input:
        tensor = value.type.tensor_type
        shape = [size.dim_value if size.HasField("dim_value") else random.randrange(4) for size in tensor.shape.dim]
        if any(size < 0 for size in shape) or math.prod(max(size, 1) for size in shape) > 1e6:
            return
        kind = (
            onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type) if tensor.elem_type in range(1, 17) else np.float32
        )
        inputs.append(np.zeros(shape, kind))
    prepared.run(inputs)


def looked_at(random, folder):
    report = check(model(random, folder), feature_level=random.choice((None, None, 0x4100)))
    str(report)


def converted(random, folder):
    convert(model(random, folder), random.choice(("all", "unsupported")))


def fixed(random, folder):
    data = model(random, folder)
    fix(
        data,
        random.choice(("onnxruntime", "directml-4_1")),
        whole=harmless(data),
        raise_opset=random.choice((None, 13)),
    )


def lowered(random, folder):
    sizes = random.choice(({}, {"n": 3, "m": 2, "N": 4}))
    directml.lower(model(random, folder), random.choice(list(directml.FeatureLevel)), sizes=sizes)


def array(random, folder):
    ending, data = random.choice(corpus.arrays())
    if ending == ".pb" and random.random() < 0.7:
        message = onnx.TensorProto.FromString(data)
        data = mutated_message(random, message, [onnx.TensorProto.FromString(random.choice(corpus.tensors()))])
        data = data.SerializeToString()
    else:
        data = (mutated_npy if ending == ".npy" else mutated_bytes)(random, data)
    path = folder.keep("x" + ending, data)
    dtype = random.choice((None, np.dtype("float32")))
    read_array(f"{path}{random.choice((':', ':a', ':x')) if ending == '.npz' else ''}", dtype)


def command(random, folder):
    """The command line: whatever its files hold, a status and at most a line on stderr, never a traceback."""
    data = model(random, folder)
    path = str(folder.path / "model.onnx")
    out = str(folder.path / "out")
    ways = [
        ["check", path, *random.choice(([], ["--json"], ["--format", "github"], ["--feature-level", "4_1"]))],
        ["lower", path, "--set", "n=3", "--format", random.choice(("text", "json", "cpp", "dxdispatch"))],
        ["fix", path, *random.choice((["--diff"], ["-o", out])), *([] if harmless(data) else ["--node-by-node"])],
    ]
    if harmless(data):
        ways.append(["run", path, "--random", "--set", "n=3", *random.choice(([], ["--json"], ["-o", out]))])
        ending, data = random.choice(corpus.arrays())
        file = folder.keep("x" + ending, mutated_npy(random, data) if ending == ".npy" else mutated_bytes(random, data))
        ways.append(["run", path, "-i", f"x={file}", "--random", "--set", "n=2"])
    words = random.choice(ways)
    folder.keep("command.txt", " ".join(words).encode())
    said, failed = io.StringIO(), io.StringIO()
    status = None
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(failed):
        try:
            main(words)
        except SystemExit as end:
            status = end.code
    assert status in (0, 1, 2), f"status {status}"
    assert "Traceback" not in failed.getvalue(), failed.getvalue()
    assert "\x1b" not in said.getvalue() + failed.getvalue(), "an escape sequence reaches the terminal"


def raising(random, folder):
    """What a finding is, for the test of this program."""
    model(random, folder)
    raise KeyError("no")


def aborting(random, folder):
    """A crash, for the same test."""
    model(random, folder)
    os.abort()


TARGETS = {
    "prepare": prepare,
    "run": run,
    "check": looked_at,
    "convert": converted,
    "fix": fixed,
    "lower": lowered,
    "array": array,
    "command": command,
    "raising": raising,
    "aborting": aborting,
}
RIGHT = (ExtremumError, OSError, MemoryError)


def attempt(name, random, folder):
    """Whether the target answered (True) or refused (False); whatever else it raises is a finding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            TARGETS[name](random, folder)
        except RIGHT:
            return False
    return True
