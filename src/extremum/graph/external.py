"""Tensors of a model whose content is in other files.

Decides that nothing outside the folder of the model is ever read: not through an absolute path, not upwards, not
through a link. A model may come from anybody, and what it reads may come out in its answers.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath

import onnx

from extremum.errors import ExtremumError, ModelError
from extremum.graph import nodes
from extremum.graph.files import open_file
from extremum.graph.tensors import attribute_tensors, is_external, sparse_tensors

__all__ = ["external", "read_external", "require_inside"]

_REMEDY = "keep the data files in the folder of the model"


def external(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield the tensors whose content is in other files, wherever they stand."""
    for graph in nodes.graphs(model.graph):
        yield from filter(is_external, graph.initializer)
        yield from filter(is_external, sparse_tensors(graph.sparse_initializer))
    for _, _, node in nodes.everywhere(model):
        for attribute in node.attribute:
            yield from filter(is_external, attribute_tensors(attribute))
    for function in model.functions:
        for attribute in function.attribute_proto:
            yield from filter(is_external, attribute_tensors(attribute))


def require_inside(model: onnx.ModelProto, folder: str | os.PathLike[str]) -> bool:
    """Refuse content outside a folder or in what is no file, and return whether there is any in other files."""
    checked = set[str]()
    for tensor in external(model):
        path = _path(tensor, Path(folder))
        if folder and (location := _location(tensor)) not in checked:
            _require_file(tensor, path)
            checked.add(location)
    return next(external(model), None) is not None


def _require_file(tensor: onnx.TensorProto, path: Path) -> None:
    """Refuse a pipe or a device: onnxruntime 1.21 opens it, and waits for what never comes."""
    try:
        open_file(path).close()
    except FileNotFoundError:
        # Whoever reads it says so.
        return
    except (OSError, ExtremumError) as error:
        raise _unreadable(tensor, error) from None


def read_external(model: onnx.ModelProto, folder: Path | None, *, at_most: float = math.inf) -> None:
    """Read the content of tensors that have it in other files; of larger ones see only that it is there."""
    found = dict[str, Path]()
    for tensor in external(model):
        if folder is None:
            raise ModelError(
                f"the content of tensor {tensor.name!r} is in another file, and the model came without a folder",
                remedy="give the file of the model",
            )
        try:
            # Most models keep all tensors in one file.
            location = _location(tensor)
            if location not in found:
                found[location] = _path(tensor, folder)
            content = _content(tensor, found[location], at_most)
        except (OSError, ExtremumError) as error:
            raise _unreadable(tensor, error) from None
        if content is not None:
            tensor.raw_data = content
            tensor.ClearField("data_location")
            del tensor.external_data[:]


def _unreadable(tensor: onnx.TensorProto, error: Exception) -> ModelError:
    if isinstance(error, ModelError):
        return error
    given = error.reason if isinstance(error, ExtremumError) else str(error)
    return ModelError(f"the content of tensor {tensor.name!r} cannot be read", given=given, remedy=_REMEDY)


def _content(tensor: onnx.TensorProto, path: Path, at_most: float) -> bytes | None:
    stated = {each.key: each.value for each in tensor.external_data}
    needed = _size(tensor)
    offset, length = (_number(tensor, stated.get(key, "")) for key in ("offset", "length"))
    if length not in (None, needed):
        raise _mismatch(tensor, f"{length} bytes where its type and shape take {needed}")
    with open_file(path) as file:
        size = file.seek(0, 2)
        if (offset or 0) + needed > size:
            raise _mismatch(tensor, f"{needed} bytes from {offset or 0} on, of a file of {size}")
        if needed > at_most:
            return None
        file.seek(offset or 0)
        return file.read(needed)


def _location(tensor: onnx.TensorProto) -> str:
    return next((each.value for each in tensor.external_data if each.key == "location"), "")


def _path(tensor: onnx.TensorProto, folder: Path) -> Path:
    """Return the file of a tensor, which is in the folder whatever links there are."""
    location = _location(tensor)
    kinds = (PurePosixPath(location), PureWindowsPath(location))
    if not location or any(each.is_absolute() or each.drive or ".." in each.parts for each in kinds):
        raise _outside(tensor, location)
    try:
        path = (folder / location).resolve()
        inside = path.is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        # A circle of links, or a name that cannot be one.
        inside = False
    if not inside:
        raise _outside(tensor, location)
    return path


def _outside(tensor: onnx.TensorProto, location: str) -> ModelError:
    return ModelError(
        f"the content of tensor {tensor.name!r} is not in the folder of the model", given=repr(location), remedy=_REMEDY
    )


def _number(tensor: onnx.TensorProto, text: str) -> int | None:
    if not text:
        return None
    if re.fullmatch(r"[0-9]{1,19}", text) is None:
        raise _mismatch(tensor, f"{text[:40]!r} for a place in a file")
    return int(text)


def _mismatch(tensor: onnx.TensorProto, given: str) -> ModelError:
    return ModelError(f"tensor {tensor.name!r} does not hold what its type and shape say", given=given)


def _size(tensor: onnx.TensorProto) -> int:
    """Return how many bytes the content of a tensor takes."""
    names = {number: name for name, number in onnx.TensorProto.DataType.items()}
    name = names.get(tensor.data_type, "UNDEFINED")
    if name in ("UNDEFINED", "STRING") or any(size < 0 for size in tensor.dims):
        raise _mismatch(tensor, f"a tensor of {name.lower()} in another file")
    count = math.prod(tensor.dims)
    narrow = re.match(r"(?:U?INT|FLOAT)([24])(?:E|$)", name)
    if narrow is not None:
        return -(-count * int(narrow[1]) // 8)
    return count * int(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize)
