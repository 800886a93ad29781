"""A model raised to a later opset, on request.

Decides what is refused; the conversion is onnx's own. It infers shapes on its way, which operators of other domains end
the process by (:mod:`extremum.graph.inference`): they are hidden from it, and it runs in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import onnx

from extremum.errors import ModelError
from extremum.graph import nodes
from extremum.runtimes.processes import ended

__all__ = ["raised"]

# In seconds; a model of ten thousand nodes takes a few.
_LIMIT = 300.0

_HIDDEN = "hidden."

# What is printed on the way is no part of the model.
_CONVERTER = """
import os, sys
result = os.dup(1)
os.dup2(2, 1)
import onnx.version_converter
model = onnx.ModelProto.FromString(sys.stdin.buffer.read())
try:
    answer, status = onnx.version_converter.convert_version(model, int(sys.argv[1])).SerializeToString(), 0
except Exception as error:
    # The converter raises RuntimeError, ValueError and its own ConvertError.
    answer, status = str(error).strip().partition("\\n")[0].encode(errors="backslashreplace"), 3
with os.fdopen(result, "wb") as out:
    out.write(answer)
sys.exit(status)
"""


def raised(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """Return a model at a later opset."""
    if nodes.opsets(model.opset_import).get("", 0) >= opset:
        return model
    if model.functions:
        raise ModelError("the opset of a model with functions cannot be raised", remedy="inline them first")
    hidden = _with_domains(model, lambda domain: f"{_HIDDEN}{domain}")
    command = [sys.executable, "-c", _CONVERTER, str(opset)]
    try:
        child = subprocess.run(
            command, input=hidden.SerializeToString(), capture_output=True, timeout=_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        raise _refusal(opset, f"onnx's converter did not end in {_LIMIT:g} s") from None
    if child.returncode == 0:
        return _with_domains(onnx.ModelProto.FromString(child.stdout), lambda domain: domain.removeprefix(_HIDDEN))
    if child.returncode == 3:
        raise _refusal(opset, child.stdout.decode())
    raise _refusal(opset, f"onnx's converter ended with {ended(child.returncode)}")


def _with_domains(model: onnx.ModelProto, called: Callable[[str], str]) -> onnx.ModelProto:
    """Return a copy whose domains, but for ONNX's own, are called otherwise."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    named: list[onnx.OperatorSetIdProto | onnx.NodeProto] = [*copy.opset_import]
    named.extend(node for _, _, node in nodes.everywhere(copy))
    for each in named:
        if nodes.canonical(each.domain):
            each.domain = called(each.domain)
    return copy


def _refusal(opset: int, given: str) -> ModelError:
    return ModelError(f"the model cannot be raised to opset {opset}", given=given)
