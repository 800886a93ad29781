"""A model, from a file, bytes or a ModelProto, and the files that belong to it.

Decides which files are opened, what counts as an ONNX model, how large and deep it may be, and which large tensors
leave the message. A model reads nothing outside its folder. A negative size means an unknown one: exporters write -1
for a dynamic dimension, and runtimes accept it.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from itertools import chain
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import onnx
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message

from extremum.errors import ArgumentTypeError, ExtremumError, FileError, ModelError
from extremum.files import open_file
from extremum.graph.calls import Key, callees_first, key_of
from extremum.graph.types import (
    attribute_tensors,
    copy_fields,
    dense,
    is_external,
    sparse_tensors,
    wrong_tensor,
)
from extremum.graph.walk import all_graphs, all_nodes, subgraphs_of
from extremum.tensors import ELEMENT_TYPES

LARGEST_MESSAGE = 2**31 - 1
"""The largest size of a protobuf message in bytes."""


def read_message(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file that holds a protobuf message; refuse a file that is too large, unread."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= LARGEST_MESSAGE:
            # A file that has grown since is cut short, and its content is not a valid message.
            return file.read(LARGEST_MESSAGE)
    raise FileError(
        f"{str(Path(path))!r} is larger than a protobuf message can be",
        given=f"{size:,} bytes of at most {LARGEST_MESSAGE:,}",
        remedy="keep large tensors in a file beside the model: onnx.save(model, path, save_as_external_data=True)",
    )


# What makes any message invalid: a name that is not UTF-8 (protobuf gives it as bytes, which no reader of a name
# expects), and graphs or types that are nested too deep.

DEEPEST_GRAPH = 28
"""The deepest nesting of graphs: protobuf reads at most a hundred nested messages, three per graph."""
_DEEPEST_TYPE = 8


def require_readable(message: Message) -> list[onnx.TensorShapeProto.Dimension]:
    """Refuse names that are not UTF-8 and nesting too deep for protobuf; return the sizes below zero."""
    negative = []
    stack: list[tuple[Message, str, int, int]] = [(message, "", 0, 0)]
    while stack:
        part, place, graphs, types = stack.pop()
        match part:
            case onnx.AttributeProto():
                graphs += 1
            case onnx.GraphProto() if graphs > DEEPEST_GRAPH:
                raise ModelError(f"graphs of the model are nested more than {DEEPEST_GRAPH} deep")
            case onnx.TypeProto():
                types += 1
                if types > _DEEPEST_TYPE + 1:
                    raise ModelError(f"a type of the model is nested more than {_DEEPEST_TYPE} deep")
            case onnx.TensorShapeProto.Dimension() if part.dim_value < 0:
                negative.append(part)
        for own_place, each in _values(part, place):
            if isinstance(each, bytes):
                raise ModelError("a name of the model is not UTF-8", where=own_place, given=repr(each[:80]))
            if not isinstance(each, str):
                stack.append((each, f"{own_place}.", graphs, types))
    return negative


def _values(message: Message, place: str) -> Iterator[tuple[str, Any]]:
    """Yield the texts and messages that a message holds, each with its place."""
    for name, is_repeated in _fields(message.DESCRIPTOR):
        if is_repeated:
            for index, each in enumerate(getattr(message, name)):
                yield f"{place}{name}[{index}]", each
        elif message.HasField(name):
            yield f"{place}{name}", getattr(message, name)


@functools.cache
def _fields(message: Descriptor) -> list[tuple[str, bool]]:
    """Return the fields that hold text or messages: the name, and whether it is repeated."""
    # A doc_string is for people: it may have any encoding, and nothing is looked up by it.
    kinds = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_MESSAGE)
    return [(x.name, x.is_repeated) for x in message.fields if x.type in kinds and x.name != "doc_string"]


# How large and how deep a model may be once each call of a function is replaced by its nodes. A function that calls
# another twice doubles the nodes: 30 of them, in 2 KB, make a billion nodes, which onnx and onnxruntime create.

MOST_NODES = 2**18
"""The largest number of nodes that all calls of functions make."""
DEEPEST = 64
"""The deepest nesting of graphs and functions."""


def require_bounded(model: onnx.ModelProto) -> None:
    """Refuse a model whose functions make too many nodes, nest too deep or call each other in a circle."""
    sizes: dict[Key, tuple[int, int]] = {}
    for function in callees_first(model.functions):
        sizes[key_of(function)] = _measure(function.node, sizes)
    if sizes:
        _measure(model.graph.node, sizes)


def _measure(body: Iterable[onnx.NodeProto], sizes: Mapping[Key, tuple[int, int]]) -> tuple[int, int]:
    """Return the number of nodes and the depth of their nesting, including calls."""
    own = 0
    inner = 0
    deepest = 1
    stack = [(body, 1)]
    while stack:
        level, depth = stack.pop()
        deepest = max(deepest, depth)
        for node in level:
            inner_nodes, inner_depth = sizes.get(key_of(node), (0, 0))
            own += 1
            inner += inner_nodes
            deepest = max(deepest, depth + inner_depth)
            stack.extend((graph.node, depth + 1) for _, graph in subgraphs_of(node))
    if deepest > DEEPEST:
        raise ModelError(
            f"graphs and functions of the model are nested more than {DEEPEST} deep",
            remedy="inline some of the functions",
        )
    if inner > MOST_NODES:
        raise ModelError(
            f"the functions of the model make more than {MOST_NODES} nodes where they are called",
            given=f"{inner} nodes",
            remedy="inline them, so that the model shows its size",
        )
    return own + inner, deepest


# Tensors whose content is in other files. No path may leave the folder of the model: not as an absolute path, not with
# "..", not through a link. A hostile model could return the content of such a file in its answers.

_REMEDY = "keep the data files in the folder of the model"


def external(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield all tensors of a model whose content is in other files."""
    for graph in all_graphs(model.graph):
        yield from filter(is_external, (*graph.initializer, *sparse_tensors(graph.sparse_initializer)))
    attributes = [each for _, _, node in all_nodes(model) for each in node.attribute]
    for attribute in chain(attributes, *(function.attribute_proto for function in model.functions)):
        yield from filter(is_external, attribute_tensors(attribute))


def require_inside(model: onnx.ModelProto, folder: str | os.PathLike[str]) -> bool:
    """Refuse content outside a folder or not in a regular file; return whether any content is in other files."""
    tensors = list(external(model))
    for tensor in tensors:
        path = _path(tensor, Path(folder))
        try:
            # onnxruntime 1.21 opens a pipe or a device, and waits forever. A later read reports a missing file.
            with contextlib.suppress(FileNotFoundError):
                if folder:
                    open_file(path).close()
        except (OSError, ExtremumError) as error:
            raise _unreadable(tensor, error) from None
    return bool(tensors)


def read_external(model: onnx.ModelProto, folder: Path | None, *, at_most: float = math.inf) -> None:
    """Read the content of tensors from other files; if it is larger than `at_most`, only check that it is there."""
    for tensor in external(model):
        if folder is None:
            raise ModelError(
                f"the content of tensor {tensor.name!r} is in another file, and the model came without a folder",
                remedy="give the file of the model",
            )
        try:
            path = _path(tensor, folder)
            count = _size(tensor)
            offset = _number(tensor, "offset") or 0
            length = _number(tensor, "length")
            if length not in (None, count):
                raise wrong_tensor(tensor.name, f"{length} bytes where its type and shape take {count}")
            with open_file(path) as file:
                size = file.seek(0, os.SEEK_END)
                if offset + count > size:
                    raise wrong_tensor(tensor.name, f"{count} bytes from {offset} on, of a file of {size}")
                if count <= at_most:
                    file.seek(offset)
                    _fill(tensor, file.read(count))
        except (OSError, ExtremumError) as error:
            raise _unreadable(tensor, error) from None


def _unreadable(tensor: onnx.TensorProto, error: Exception) -> ModelError:
    if isinstance(error, ModelError):
        return error
    return ModelError(
        f"the content of tensor {tensor.name!r} cannot be read",
        given=error.reason if isinstance(error, ExtremumError) else str(error),
        remedy=_REMEDY,
    )


def _fill(tensor: onnx.TensorProto, content: bytes) -> None:
    tensor.raw_data = content
    tensor.ClearField("data_location")
    del tensor.external_data[:]


def _entry(tensor: onnx.TensorProto, name: str) -> str:
    return next((each.value for each in tensor.external_data if each.key == name), "")


def _number(tensor: onnx.TensorProto, name: str) -> int | None:
    text = _entry(tensor, name)
    if text and re.fullmatch(r"[0-9]{1,19}", text) is None:
        raise wrong_tensor(tensor.name, f"{text[:40]!r} for a place in a file")
    return int(text) if text else None


def _path(tensor: onnx.TensorProto, folder: Path) -> Path:
    """Return the file of a tensor; refuse one outside the folder, even through links."""
    location = _entry(tensor, "location")
    spellings = (PurePosixPath(location), PureWindowsPath(location))
    if location and not any(each.is_absolute() or each.drive or ".." in each.parts for each in spellings):
        # A circle of links, or an impossible file name.
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            path = (folder / location).resolve()
            if path.is_relative_to(folder.resolve()):
                return path
    raise ModelError(
        f"the content of tensor {tensor.name!r} is not in the folder of the model",
        given=repr(location),
        remedy=_REMEDY,
    )


def _size(tensor: onnx.TensorProto) -> int:
    """Return how many bytes the content of a tensor takes."""
    kinds = onnx.TensorProto.DataType
    if tensor.data_type in kinds.values():
        name = kinds.Name(tensor.data_type)
    else:
        name = "UNDEFINED"
    if name in ("UNDEFINED", "STRING") or any(size < 0 for size in tensor.dims):
        raise wrong_tensor(tensor.name, f"a tensor of {name.lower()} in another file")
    narrow = re.match(r"(?:U?INT|FLOAT)([24])(?:E|$)", name)
    if narrow:
        bits = int(narrow[1])
    else:
        bits = 8 * onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
    return -(-math.prod(tensor.dims) * bits // 8)


Source = onnx.ModelProto | bytes | str | os.PathLike[str]
"""A model, its serialised form, or the file that holds it."""


def load(model: Source) -> onnx.ModelProto:
    """Return a model without negative sizes (a ModelProto that has any is copied); read no weights in other files."""
    if isinstance(model, onnx.ModelProto):
        proto = model
        source = "the ModelProto holds"
    elif not isinstance(model, bytes | str | os.PathLike):
        raise ArgumentTypeError(
            f"the model is {type(model).__module__}.{type(model).__qualname__}",
            remedy="pass an onnx.ModelProto, its bytes or the path of its file",
        )
    else:
        proto = onnx.ModelProto()
        if isinstance(model, bytes):
            source = "the bytes hold"
            content = model
        else:
            source = f"{str(Path(model))!r} holds"
            content = read_message(model)
        with contextlib.suppress(DecodeError):
            proto = onnx.ModelProto.FromString(content)
        if not proto.HasField("graph"):
            _refuse_text(content, source)
    if not proto.HasField("graph"):
        raise ModelError(
            f"{source} no ONNX model", remedy="give a file written by onnx.save, complete and unchanged"
        )
    # Check the depth first: all other code recurses as deep as the graphs are nested.
    negative = require_readable(proto)
    require_bounded(proto)
    if negative and proto is model:
        proto = deepcopy(proto)
        negative = require_readable(proto)
    for size in negative:
        size.ClearField("dim_value")
    return proto


_FIELDS = onnx.ModelProto.DESCRIPTOR.fields
_NAMES = "|".join({name for each in _FIELDS for name in (each.name, each.json_name)})
_TEXT_FORMATS = {
    "onnxtxt": rf"<\s*({_NAMES})\s*:",
    "textproto": rf"({_NAMES})\s*[:{{<]",
    "json": rf'{{\s*"({_NAMES})"\s*:',
}
"""How a model begins that onnx has saved as text, by the name that onnx gives the format."""


def _refuse_text(content: bytes, source: str) -> None:
    """Refuse a model as text: onnx writes that too, but a file does not say how it is to be read."""
    for name, beginning in _TEXT_FORMATS.items():
        # Comments may come first.
        if re.match(rf"(\s|#.*\n)*{beginning}".encode(), content):
            raise ModelError(
                f"{source} a model as text",
                given=f"the format {name!r} of onnx",
                remedy=f"convert it: onnx.save(onnx.load(path, format={name!r}), 'model.onnx')",
            )


def with_dense(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model with dense initializers in place of sparse ones; the model itself if it has none."""
    if not any(graph.sparse_initializer for graph in all_graphs(model.graph)):
        return model
    copy = deepcopy(model)
    for graph in all_graphs(copy.graph):
        graph.initializer.extend(map(dense, graph.sparse_initializer))
        del graph.sparse_initializer[:]
    return copy


LARGE = 4096
"""In bytes. Inference reads smaller tensors, and onnxruntime reads them before it gets the large ones."""
_ITEMSIZES = {each.onnx_number: each.itemsize for each in ELEMENT_TYPES}


class Model:
    """A model with its weights, which are in memory only once."""

    def __init__(self, model: Source) -> None:
        self.proto = load(model)
        self.weights: dict[str, bytes] = {}  # the large weights that are no longer in ``proto``, by name
        self.folder: str | None = None  # the folder of its other files, if it has any
        # The caller holds it anyway, so keeping it costs nothing.
        self._original = self.proto if isinstance(model, onnx.ModelProto) else None
        if any(True for _ in external(self.proto)):
            if isinstance(model, onnx.ModelProto | bytes):
                folder = None
            else:
                folder = Path(model).absolute().parent
            read_external(self.proto, folder, at_most=LARGE)
            self.folder = str(folder)

    def split_weights(self) -> None:
        """Take large weights out of the message, so that no serialisation copies them and a runtime gets them as is."""
        # Must come before any walk of the model, which would keep references to its present content.
        if self.folder is not None:
            return
        model = self.proto
        # onnxruntime refuses a tensor that it drops as unused, and a function may not read the inputs of a call.
        functions = {key_of(function) for function in model.functions}
        inputs = {name for node in model.graph.node if key_of(node) not in functions for name in node.input}
        names = Counter(each.name for each in model.graph.initializer)
        names.update(each.values.name for each in model.graph.sparse_initializer)
        self.proto = onnx.ModelProto()
        copy_fields(model, self.proto, but="graph")
        copy_fields(model.graph, self.proto.graph, but="initializer")
        for tensor in model.graph.initializer:
            if tensor.name in inputs and names[tensor.name] == 1:
                content = _large_content(tensor)
            else:
                content = None
            if content is None:
                self.proto.graph.initializer.append(tensor)
            else:
                self.weights[tensor.name] = content
                bare = self.proto.graph.initializer.add(data_location=onnx.TensorProto.EXTERNAL)
                copy_fields(tensor, bare, but="raw_data")
                bare.external_data.add(key="location", value="weights")

    @functools.cached_property
    def whole(self) -> onnx.ModelProto:
        """The model with its weights in it; the ModelProto that was given, if any."""
        if self._original is not None:
            return self._original
        if self.folder is None and not self.weights:
            return self.proto
        whole = deepcopy(self.proto)
        if self.folder is not None:
            read_external(whole, Path(self.folder))
        for tensor in whole.graph.initializer:
            if tensor.name in self.weights and is_external(tensor):
                _fill(tensor, self.weights[tensor.name])
        return whole


def _large_content(tensor: onnx.TensorProto) -> bytes | None:
    """Return the content of a large tensor, if its length matches the shape."""
    if is_external(tensor) or not tensor.HasField("raw_data") or min(tensor.dims, default=1) < 0:
        return None
    size = math.prod(tensor.dims) * _ITEMSIZES.get(tensor.data_type, 0)
    if size >= LARGE and len(content := bytes(tensor.raw_data)) == size:
        return content
    return None
