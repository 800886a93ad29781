"""A model, from a file, bytes or a ModelProto, and the files that belong to it.

Decides which files are opened, what counts as an ONNX model, how large and deep it may be, that nothing outside its
folder is read, and that a negative size is an unknown one: exporters write -1 for a dynamic dimension, and runtimes
take it so. Decides too which large tensors leave the message. What is in the graph is :mod:`extremum.graph.sites`'s.
"""

from __future__ import annotations

import math
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, MutableSequence
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO, NamedTuple

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from extremum.dtypes import ELEMENT_TYPES
from extremum.errors import ExtremumError, FileError, ModelError
from extremum.graph import nodes
from extremum.graph.nodes import Key, callees_first, key
from extremum.graph.types import attribute_tensors, copy_fields, dense, innermost, is_external, sparse_tensors

__all__ = [
    "DEEPEST",
    "DEEPEST_GRAPH",
    "LARGE",
    "LARGEST_MESSAGE",
    "MOST_NODES",
    "Model",
    "external",
    "join_weights",
    "load",
    "open_file",
    "read_external",
    "read_message",
    "require_bounded",
    "require_inside",
    "require_no_folder",
    "require_shallow",
    "require_text",
    "split_weights",
    "with_dense",
]


# Files that a user names. Only regular files are opened: a pipe keeps its reader waiting, and a device never ends.


LARGEST_MESSAGE = 2**31 - 1
"""The most bytes that a protobuf message can have."""


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading; anything else is a FileError, or the OSError of a file that is not there."""
    # Asked again once it is open: in between another file may have taken the name.
    _require_regular(path, Path(path).stat())
    file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115 - the caller closes it
    try:
        _require_regular(path, os.fstat(file.fileno()))
    except FileError:
        file.close()
        raise
    return file


def read_message(path: str | os.PathLike[str]) -> bytes:
    """Return a file that holds a protobuf message; one that is too large to be one is refused unread."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= LARGEST_MESSAGE:
            # It may have grown since; then what is read is cut short, which is no message.
            return file.read(LARGEST_MESSAGE)
    raise FileError(
        f"{str(Path(path))!r} is larger than a protobuf message can be",
        given=f"{size:,} bytes of at most {LARGEST_MESSAGE:,}",
        remedy="keep large tensors in a file beside the model: onnx.save(model, path, save_as_external_data=True)",
    )


def require_no_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a folder in the place of a file; a path where nothing is passes."""
    if Path(path).is_dir():
        _require_regular(path, Path(path).stat())


def _without_waiting(name: str, flags: int) -> int:
    # A pipe that took the name in between would wait for a writer.
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _require_regular(path: str | os.PathLike[str], status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
        kind = next((name for matches, name in kinds.items() if matches(status.st_mode)), "a device")
        folder = stat.S_ISDIR(status.st_mode)
        remedy = "name a file in it" if folder else "give a regular file; write what a pipe gives to one"
        raise FileError(f"{str(Path(path))!r} is {kind}", remedy=remedy)


# Text of a model that is not UTF-8. protobuf gives it as bytes, which no reader of a name expects.


# For people: it may be written as they like, and nothing is looked up by it.
_REMARKS = {"doc_string"}


def require_text(model: Message) -> None:
    """Refuse a model, or a part of one, of which a name is no UTF-8, wherever it stands."""
    stack: list[tuple[Message, _Place | None]] = [(model, None)]
    while stack:
        message, place = stack.pop()
        fields = _fields(message)
        for name in fields.text:
            if isinstance(text := getattr(message, name), bytes):
                raise _refusal(text, _Place(place, name))
        for name in fields.texts:
            for index, text in enumerate(getattr(message, name)):
                if isinstance(text, bytes):
                    raise _refusal(text, _Place(place, name, index))
        stack.extend((getattr(message, name), _Place(place, name)) for name in fields.held if message.HasField(name))
        for name in fields.several:
            stack.extend((each, _Place(place, name, index)) for index, each in enumerate(getattr(message, name)))


class _Place(NamedTuple):
    """A field of a message, and where the message is; written out only where it is wrong."""

    outer: _Place | None
    field: str
    number: int | None = None

    def __str__(self) -> str:
        own = self.field if self.number is None else f"{self.field}[{self.number}]"
        return own if self.outer is None else f"{self.outer}.{own}"


class _Fields(NamedTuple):
    """Names of the fields of a message, by what they hold: a text, texts, a message, messages."""

    text: tuple[str, ...]
    texts: tuple[str, ...]
    held: tuple[str, ...]
    several: tuple[str, ...]


_KNOWN: dict[str, _Fields] = {}


def _fields(message: Message) -> _Fields:
    kind = message.DESCRIPTOR.full_name
    if kind not in _KNOWN:
        _KNOWN[kind] = _listed(type(message)())
    return _KNOWN[kind]


def _listed(empty: Message) -> _Fields:
    names: tuple[list[str], ...] = ([], [], [], [])
    for field in empty.DESCRIPTOR.fields:
        repeated = isinstance(getattr(empty, field.name), MutableSequence)
        if field.type == FieldDescriptor.TYPE_STRING and field.name not in _REMARKS:
            names[repeated].append(field.name)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            names[2 + repeated].append(field.name)
    return _Fields(*map(tuple, names))


def _refusal(text: bytes, place: _Place) -> ModelError:
    return ModelError("a name of the model is no UTF-8", where=str(place), given=repr(text[:80]))


# How large and how deep a model may be after its functions are expanded where they are called. A function that calls
# another twice doubles the nodes: 30 of them, in 2 KB, make a billion nodes, which onnx and onnxruntime write out.


MOST_NODES = 2**18
"""Nodes that come from calls of functions, all together."""
DEEPEST = 64
"""Graphs and functions inside each other."""
DEEPEST_GRAPH = 28
"""Graphs alone inside each other: protobuf reads no more than a hundred messages, which are three for each."""
_DEEPEST_TYPE = 8


def require_bounded(model: onnx.ModelProto) -> None:
    """Refuse a model whose functions call each other in a circle or that is too large or too deep."""
    sizes: dict[Key, tuple[int, int]] = {}
    # The depth first: whoever else walks a graph goes in as deep as it is.
    for body in (*(each.node for each in model.functions), model.graph.node):
        require_shallow(body)
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        _require_shallow_type(value.type)
    if model.functions:
        for function in callees_first(model.functions):
            sizes[key(function)] = _measure(function.node, sizes)
        _measure(model.graph.node, sizes)


def require_shallow(body: Iterable[onnx.NodeProto]) -> None:
    """Refuse nodes that hold graphs or types which protobuf could not read."""
    stack = [(body, 0)]
    while stack:
        nodes, depth = stack.pop()
        if depth > DEEPEST_GRAPH:
            raise ModelError(f"graphs of the model stand more than {DEEPEST_GRAPH} deep inside each other")
        for node in nodes:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    stack.append((attribute.g.node, depth + 1))
                    graph = attribute.g
                    for value in (*graph.input, *graph.output, *graph.value_info):
                        _require_shallow_type(value.type)
                stack.extend((each.node, depth + 1) for each in attribute.graphs)
                if attribute.HasField("tp"):
                    _require_shallow_type(attribute.tp)


def _require_shallow_type(value: onnx.TypeProto) -> None:
    depth = 0
    while (field := value.WhichOneof("value")) not in (None, "tensor_type", "sparse_tensor_type", "opaque_type"):
        depth += 1
        if depth > _DEEPEST_TYPE:
            raise ModelError(f"a type of the model is more than {_DEEPEST_TYPE} types inside each other")
        held = getattr(value, field)
        value = held.value_type if field == "map_type" else held.elem_type


def _measure(body: Iterable[onnx.NodeProto], sizes: Mapping[Key, tuple[int, int]]) -> tuple[int, int]:
    """Return how many nodes there are and how deep they stand, calls included."""
    own, called, deepest = 0, 0, 1
    stack = [(body, 1)]
    while stack:
        nodes, depth = stack.pop()
        deepest = max(deepest, depth)
        for node in nodes:
            own += 1
            inner = sizes.get(key(node))
            if inner is not None:
                called += inner[0]
                deepest = max(deepest, depth + inner[1])
            stack.extend((each.g.node, depth + 1) for each in node.attribute if each.HasField("g"))
    if deepest > DEEPEST:
        raise ModelError(
            f"graphs and functions of the model stand more than {DEEPEST} deep inside each other",
            remedy="inline some of the functions",
        )
    if called > MOST_NODES:
        raise ModelError(
            f"the functions of the model make more than {MOST_NODES} nodes where they are called",
            given=f"{called} nodes",
            remedy="inline them, so that the model shows its size",
        )
    return own + called, deepest


# Tensors of a model whose content is in other files. No path may leave the folder of the model: no absolute one, none
# with "..", none through a link. A hostile model could return the content of such a file in its answers.


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


def load(model: onnx.ModelProto | bytes | str | os.PathLike[str], *, weights: bool = True) -> onnx.ModelProto:
    """Return a model with its weights, in which no size is negative; a ModelProto that has such sizes is copied."""
    folder = None
    if isinstance(model, onnx.ModelProto):
        proto = _with_graph(model, "the ModelProto")
        if any(True for _ in _negative_sizes(proto)):
            proto = onnx.ModelProto()
            proto.CopyFrom(model)
    elif isinstance(model, bytes):
        proto = _parse(model, "the bytes")
    else:
        path = Path(model)
        proto = _parse(read_message(path), repr(str(path)))
        folder = path.parent
    for size in _negative_sizes(proto):
        size.ClearField("dim_value")
    if weights:
        read_external(proto, folder)
    return proto


def with_dense(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model without sparse initializers: dense ones stand for them; the model itself if it has none."""
    if not any(graph.sparse_initializer for graph in nodes.graphs(model.graph)):
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for graph in nodes.graphs(copy.graph):
        graph.initializer.extend(map(dense, graph.sparse_initializer))
        del graph.sparse_initializer[:]
    return copy


def _negative_sizes(model: onnx.ModelProto) -> Iterator[onnx.TensorShapeProto.Dimension]:
    """Yield the sizes below zero of all types that a model declares."""
    for declared in _types(model):
        tensor = innermost(declared)
        if tensor is not None:
            yield from (size for size in tensor.shape.dim if size.dim_value < 0)


def _types(model: onnx.ModelProto) -> Iterator[onnx.TypeProto]:
    graphs, bodies = [model.graph], [function.node for function in model.functions]
    for function in model.functions:
        yield from (value.type for value in function.value_info)
    while graphs or bodies:
        if graphs:
            graph = graphs.pop()
            bodies.append(graph.node)
            yield from (value.type for value in (*graph.input, *graph.output, *graph.value_info))
        for node in bodies.pop():
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    graphs.append(attribute.g)
                if attribute.HasField("tp"):
                    yield attribute.tp


def _parse(data: bytes, source: str) -> onnx.ModelProto:
    try:
        return _with_graph(onnx.ModelProto.FromString(data), source)
    except DecodeError:
        raise _no_model(source) from None


def _with_graph(proto: onnx.ModelProto, source: str) -> onnx.ModelProto:
    if not proto.HasField("graph"):
        raise _no_model(source)
    require_bounded(proto)
    require_text(proto)
    return proto


def _no_model(source: str) -> ModelError:
    return ModelError(
        f"{source} hold{'' if source == 'the bytes' else 's'} no ONNX model",
        remedy="give a file written by onnx.save, complete and unchanged",
    )


# The large tensors of a graph. They leave the message, so that no serialisation copies them, and a runtime gets them as
# they are.


LARGE = 4096
"""In bytes; inference reads small tensors, and so does onnxruntime before it is handed the others."""
_LOCATION = "weights"
_SIZES = {each.onnx_number: each.itemsize for each in ELEMENT_TYPES}


def split_weights(model: onnx.ModelProto) -> tuple[onnx.ModelProto, dict[str, bytes]]:
    """Return a copy of a model that says of its large tensors that they are elsewhere, and those by name."""
    # onnxruntime is handed no tensor that it drops, and a function may not read what it is given.
    functions = {key(function) for function in model.functions}
    read = {name for node in model.graph.node if key(node) not in functions for name in node.input}
    names = Counter(each.name for each in model.graph.initializer)
    names.update(each.values.name for each in model.graph.sparse_initializer)
    copy, weights = onnx.ModelProto(), dict[str, bytes]()
    copy_fields(model, copy, but="graph")
    copy_fields(model.graph, copy.graph, but="initializer")
    for tensor in model.graph.initializer:
        content = _large_content(tensor) if tensor.name in read and names[tensor.name] == 1 else None
        if content is None:
            copy.graph.initializer.append(tensor)
            continue
        weights[tensor.name] = content
        bare = copy.graph.initializer.add(data_location=onnx.TensorProto.EXTERNAL)
        copy_fields(tensor, bare, but="raw_data")
        bare.external_data.add(key="location", value=_LOCATION)
    return copy, weights


def join_weights(model: onnx.ModelProto, weights: Mapping[str, bytes]) -> onnx.ModelProto:
    """Return a copy of a model with its large tensors in it again."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for tensor in copy.graph.initializer:
        if tensor.name in weights and is_external(tensor):
            tensor.raw_data = weights[tensor.name]
            tensor.ClearField("data_location")
            del tensor.external_data[:]
    return copy


def _large_content(tensor: onnx.TensorProto) -> bytes | None:
    """Return what a large tensor holds, if it is as much as it says."""
    if is_external(tensor) or not tensor.HasField("raw_data") or min(tensor.dims, default=1) < 0:
        return None
    size = math.prod(tensor.dims) * _SIZES.get(tensor.data_type, 0)
    if size < LARGE:
        return None
    content = bytes(tensor.raw_data)
    return content if len(content) == size else None


class Model:
    """A model with its weights, which are held once."""

    def __init__(self, model: onnx.ModelProto | bytes | str | os.PathLike[str]) -> None:
        # Once it is parted without large weights; ``unread`` is without any that are in other files.
        self.proto = self.unread = load(model, weights=False)
        self.weights: Mapping[str, bytes] = {}
        # Where those files are.
        self.folder: str | None = None
        # What others hold anyway costs nothing to keep.
        self._given = self.proto if isinstance(model, onnx.ModelProto) else None
        if any(True for _ in external(self.proto)):
            folder = None if isinstance(model, onnx.ModelProto | bytes) else Path(model).absolute().parent
            self.unread = onnx.ModelProto()
            self.unread.CopyFrom(self.proto)
            self.folder = str(folder)
            read_external(self.proto, folder, at_most=LARGE)

    def part(self) -> None:
        """Keep large weights beside the model; before anybody walks it, who would hold on to what is in it now."""
        if self.folder is None:
            self.proto, self.weights = split_weights(self.proto)
            self.unread = self.proto

    @cached_property
    def whole(self) -> onnx.ModelProto:
        """The model with its weights in it; the one that was given, if one was."""
        if self._given is not None:
            return self._given
        if self.folder is None:
            return join_weights(self.proto, self.weights) if self.weights else self.proto
        whole = onnx.ModelProto()
        whole.CopyFrom(self.unread)
        read_external(whole, Path(self.folder))
        return whole
