"""Every entry point that takes a model: `hostile_entries.py ENTRY...` prints what it does with the hostile models."""

import itertools
import json
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import commands
from extremum import backend
from extremum import directml as dml
from extremum.check import check
from extremum.errors import ExtremumError
from extremum.fix import fix
from extremum.onnxruntime import InferenceSession, convert
from hostile_models import MODELS
from watched import say


def feeds(proto):
    """Zeros for each distinct input of the first node."""
    return [np.zeros((2, 3), np.float32)] * len(set(proto.graph.node[0].input) - {""})


def run_first_node(proto):
    proto = onnx.ModelProto.FromString(proto) if isinstance(proto, bytes) else proto
    if proto.graph.node:
        backend.run_node(proto.graph.node[0], feeds(proto))


def serialised(proto):
    return proto if isinstance(proto, bytes) else proto.SerializeToString()


OPTIONS = onnxruntime.SessionOptions()
OPTIONS.intra_op_num_threads = 1


def in_session(proto):
    try:
        InferenceSession(serialised(proto), OPTIONS)
    except Exception as error:
        # An error that onnxruntime itself raises about a model is a valid answer.
        if not type(error).__module__.startswith("onnxruntime"):
            raise


def run_command(words, proto):
    """Run a command, which must print neither escapes nor a traceback; return its line if it refuses the model."""
    name, *options = words.split()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.onnx")
        path.write_bytes(serialised(proto))
        status, out, err = commands.run(name, path, *options)
    assert all(line.isprintable() for line in f"{out}{err}".splitlines()), "escapes are written"
    assert "Traceback" not in out + err, err
    assert "unexpected" not in err, err
    assert status in (0, 1, 2), status
    assert len(err.splitlines()) == 1 if status == 2 else not err or status == 1, err
    assert status != 1 or "node[" in out + err, "findings that are not there"
    return err.strip() if status == 2 else ""


COMMANDS = (
    *("run --random --json", "check --format github", "lower", "fix --diff"),
    *("run --random", "check", "lower --format cpp"),
)
ENTRIES = {
    "prepare": backend.prepare,
    "prepare for the reference": lambda proto: backend.prepare(proto, engine="reference"),
    "prepare from bytes": lambda proto: backend.prepare(serialised(proto)),
    "run_node": run_first_node,
    "check": check,
    "check for DirectML": lambda proto: check(proto, feature_level=dml.FeatureLevel.FL_4_1),
    "convert": convert,
    "lower": dml.lower,
    "fix": fix,
    "fix for DirectML": lambda proto: fix(proto, "directml-4_1"),
    "fix and raise": lambda proto: fix(proto, raise_opset=18),
    "InferenceSession": in_session,
    **{f"extremum {words}": partial(run_command, words) for words in COMMANDS},
}


def main(*entries):
    answers = {entry: {} for entry in entries}
    for (entry, texts), (name, make) in itertools.product(answers.items(), MODELS.items()):
        say(f"{entry}: {name}")
        proto = make()
        try:
            answer = ENTRIES[entry](proto)
        except ExtremumError as error:
            texts[name] = f"{type(error).__name__}: {error.one_line()[:300]}"
        except Exception as error:
            texts[name] = f"! {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        else:
            texts[name] = answer if answer and isinstance(answer, str) else "taken"
    say(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
