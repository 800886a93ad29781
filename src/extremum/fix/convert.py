"""A model at a later opset, by onnx's own converter."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import onnx

from extremum.errors import ModelError
from extremum.graph.calls import canonical, opsets_of
from extremum.graph.walk import all_nodes
from extremum.runtimes.process import ended

# In seconds; a model of ten thousand nodes takes a few.
_LIMIT = 300.0
_PREFIX = "hidden."
# The converter may print, and its output must stay apart from the model.
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


def convert(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """Return a model at an opset, or the model itself if it has that or a later opset."""
    if opsets_of(model.opset_import).get("", 0) >= opset:
        return model
    if model.functions:
        raise ModelError("the opset of a model with functions cannot be raised", remedy="inline them first")
    content = _with_domains(model, lambda domain: f"{_PREFIX}{domain}").SerializeToString()
    command = [sys.executable, "-c", _CONVERTER, str(opset)]
    try:
        child = subprocess.run(command, input=content, capture_output=True, timeout=_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        given = f"onnx's converter did not end in {_LIMIT:g} s"
    else:
        if child.returncode == 0:
            return _with_domains(
                onnx.ModelProto.FromString(child.stdout), lambda domain: domain.removeprefix(_PREFIX)
            )
        is_refusal = child.returncode == 3
        given = (
            child.stdout.decode() if is_refusal else f"onnx's converter ended with {ended(child.returncode)}"
        )
    raise ModelError(f"the model cannot be raised to opset {opset}", given=given)


def _with_domains(model: onnx.ModelProto, rename: Callable[[str], str]) -> onnx.ModelProto:
    """Return a copy with renamed domains, except ONNX's own."""
    copy = deepcopy(model)
    parts: list[Any] = [*copy.opset_import, *(node for _, _, node in all_nodes(copy))]
    for each in parts:
        if canonical(each.domain):
            each.domain = rename(each.domain)
    return copy
