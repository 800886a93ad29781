"""What a model is fed: each input that it declares, from a file or at random, and the sizes of symbolic dimensions.

Arrays come from NumPy's .npy and .npz and ONNX's TensorProto; no memory is taken for what a file only promises. Random
floats are normally distributed. Random integers are 0 or 1, which is an index, a label or a mask in most models. The
backend checks whether the arrays fit the model.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import ml_dtypes
import numpy as np
import onnx
from numpy.typing import NDArray

from extremum.errors import ExtremumError, InputError, first_line
from extremum.graph.load import open_file, read_message, require_no_folder
from extremum.graph.types import DeclaredInput, require_array
from extremum.large.files import read_npy_header
from extremum.printable import printable
from extremum.tensors import require_memory

# ONNX has sizes of type int64.
_LARGEST_SIZE = (1 << 63) - 1
# Python converts no integer of thousands of digits; no element type needs more than forty.
_NUMBER = r"[+-]?(?:\d{1,40}|(?:\d{1,40}\.\d{0,40}|\.?\d{1,40})(?:e[+-]?\d{1,4})?)"
# A pattern, an example, and what two values are. The last equals sign counts where the value has none: an exporter may
# put one into the name of a dimension.
_FORMS = {
    "name=file": (r"([^=]+)=(.+)", "-i input=scores.npy", "input {!r} is given twice"),
    "dimension=size": (r"(.+)=0*(\d+)", "--set batch=8", "dimension {!r} is given two sizes"),
    "name=low:high": (rf"(.+)=({_NUMBER}:{_NUMBER})", "--range tokens=0:100", "input {!r} is given two ranges"),
}


def _parse(texts: Iterable[str], form: str) -> dict[str, str]:
    pattern, example, twice = _FORMS[form]
    result: dict[str, str] = {}
    for text in texts:
        match = re.fullmatch(pattern, text, re.ASCII | re.DOTALL | re.IGNORECASE)
        if match is None:
            raise InputError(f"{text!r} is not of the form {form}", remedy=f"write for example {example}")
        name, value = match.groups()
        if result.setdefault(name, value) != value:
            raise InputError(twice.format(name), given=f"{result[name]} and {value}")
    return result


def parse_assignments(texts: Iterable[str]) -> dict[str, str]:
    """Split ``name=file`` texts into a mapping."""
    return _parse(texts, "name=file")


def parse_sizes(texts: Iterable[str]) -> dict[str, int]:
    """Split ``dimension=size`` texts into a mapping."""
    sizes = _parse(texts, "dimension=size")
    for name, size in sizes.items():
        # Compare the digits first: Python converts no text of thousands of them.
        if len(size) > len(str(_LARGEST_SIZE)) or int(size) > _LARGEST_SIZE:
            raise InputError(f"the size of dimension {name!r} is too large", given=size, remedy="a size is below 2**63")
    return {name: int(size) for name, size in sizes.items()}


def parse_ranges(texts: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Split ``name=low:high`` texts into a mapping."""
    pairs = {name: numbers.partition(":") for name, numbers in _parse(texts, "name=low:high").items()}
    return {name: (low, high) for name, (low, _, high) in pairs.items()}


def gather(
    declared: Iterable[DeclaredInput],
    files: Mapping[str, str],
    sizes: Mapping[str, int],
    drawing: Drawing | None = None,
) -> dict[str, NDArray[Any]]:
    """Read the inputs that come from files and draw the others at random; refuse a model without one that it needs."""
    inputs = {each.name: each for each in declared}
    _refuse_unknown("input", files, inputs)
    dimensions = {size for each in inputs.values() for size in each.shape or () if isinstance(size, str)}
    _refuse_unknown("symbolic dimension", sizes, sorted(dimensions))
    arrays = {name: read_array(files[name], each.dtype) for name, each in inputs.items() if name in files}
    known = {symbol: (size, "as set") for symbol, size in sizes.items()}
    for name, array in arrays.items():
        shape = inputs[name].shape or ()
        # The backend refuses an array of another rank, with a better message.
        for symbol, size in zip(shape, array.shape, strict=True) if len(shape) == array.ndim else ():
            here = size, f"in {files[name]}"
            if isinstance(symbol, str) and (first := known.setdefault(symbol, here))[0] != size:
                given = ", ".join(f"{size} {origin}" for size, origin in (first, here))
                raise InputError(f"dimension {symbol!r} has two sizes", given=given)
    if drawing is not None:
        _refuse_unknown("input", drawing.ranges, inputs)
        for name in drawing.ranges:
            if name in files:
                raise InputError(f"input {name!r} is given a file and a range", given=files[name])
        known_sizes = {symbol: size for symbol, (size, _) in known.items()}
        for position, (name, each) in enumerate(inputs.items()):
            if name not in arrays and (not each.optional or name in drawing.ranges):
                arrays[name] = drawing.draw(each, known_sizes, position)
    for name, each in inputs.items():
        if name not in arrays and not each.optional:
            remedy = f"pass -i {printable(name)}=FILE, or add --random"
            raise InputError(f"input {name!r} is missing", given=f"inputs {', '.join(arrays) or 'none'}", remedy=remedy)
    return arrays


def _refuse_unknown(noun: str, given: Iterable[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            remedy = f"it has {', '.join(known) or f'no {noun} at all'}"
            raise InputError(f"the model has no {noun} {name!r}", remedy=remedy)


@dataclass(frozen=True, slots=True)
class Drawing:
    """How inputs are drawn: the seed, and for some inputs a range as :func:`parse_ranges` returns it.

    A range of integers includes both ends; floats are spread evenly over theirs. An array depends on the seed and the
    position of its input, not on which other inputs come from files.
    """

    seed: int
    ranges: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def draw(self, declared: DeclaredInput, sizes: Mapping[str, int], position: int) -> NDArray[Any]:
        """Return an array for an input."""
        name, dtype = declared.name, declared.dtype
        # Strings are an object dtype, and only numbers can be drawn.
        if dtype is None or declared.shape is None or dtype.kind == "O":
            why = "its rank is open" if dtype is not None and declared.shape is None else "it is no tensor of numbers"
            reason = f"input {name!r} cannot be drawn at random: {why}"
            raise InputError(reason, remedy=f"pass it with -i {name}=file")
        for size in declared.shape:
            if isinstance(size, str) and size not in sizes:
                raise InputError(f"dimension {size!r} of input {name!r} has no size", remedy=f"set it: --set {size}=8")
        shape = tuple(sizes[size] if isinstance(size, str) else size for size in declared.shape)
        require_array(shape, dtype, name)
        random = np.random.default_rng([self.seed, position])
        low, high = self.ranges.get(name, ("0", "1"))
        if limits := _limits(dtype):
            least, largest = _ends(name, low, high, dtype, limits)
            if dtype.kind in "iu":
                return np.asarray(random.integers(least, largest, shape, dtype, endpoint=True))
            return np.asarray(random.integers(least, largest, shape, endpoint=True)).astype(dtype)
        if name not in self.ranges:
            return np.asarray(random.standard_normal(shape)).astype(dtype)
        least, largest = _ends(name, low, high, dtype, None)
        parts = random.random(shape)
        # A sum of two products: the difference of the ends may be larger than any float.
        return np.asarray(least * (1 - parts) + largest * parts).astype(dtype)


def _limits(dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """Return the least and the largest integer of a type, or None for a type of floats."""
    if dtype.kind == "b":
        return 0, 1
    try:
        info: Any = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    except ValueError:
        return None
    return int(info.min), int(info.max)


def _ends(name: str, low: str, high: str, dtype: np.dtype[Any], limits: tuple[int, int] | None) -> tuple[Any, Any]:
    """Return the ends of a range as numbers, if the type holds them."""
    given = f"{low}:{high}"
    try:
        ends = (int(low), int(high)) if limits else (float(low), float(high))
    except ValueError:
        remedy = f"write for example {_FORMS['name=low:high'][1]}"
        raise InputError(f"input {name!r} takes integers", given=f"the range {given}", remedy=remedy) from None
    if ends[0] > ends[1]:
        raise InputError(f"the range of input {name!r} is empty", given=given, remedy="write the lower end first")
    with np.errstate(over="ignore"):
        is_finite = limits or np.isfinite(np.array(ends).astype(dtype).astype(complex)).all()
    if not is_finite or (limits and not (limits[0] <= ends[0] and ends[1] <= limits[1])):
        raise InputError(f"the range of input {name!r} does not fit its type", given=f"{given} for {dtype.name}")
    return ends


_LARGEST_PACKED = 2**30
"""Bytes that any entry of an archive may unpack to."""

_LARGEST_RATIO = 100
"""How many times its packed size a larger entry may unpack to."""


def read_array(source: str, dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Read one array from a file."""
    name, archive, entry = source.partition(".npz:")
    path = Path(name + ".npz" if archive else source)
    readers = {".npy": _read_npy, ".npz": lambda at: _read_npz(at, entry), ".pb": _read_pb}
    try:
        read = readers[path.suffix]
    except KeyError:
        require_no_folder(path)
        raise InputError(f"{source!r} has no known format", remedy="use .npy, .npz:entry or .pb") from None
    try:
        array = read(path)
    except (ExtremumError, MemoryError):
        raise
    except Exception as error:
        # The libraries have no common error for damaged files; an OSError that one of them raises names no file.
        if isinstance(error, OSError) and error.filename:
            raise
        raise InputError(f"{source!r} is not a valid {path.suffix} file", given=first_line(error)) from None
    raw = array.dtype.kind == "V" and array.dtype.names is None
    if raw and dtype is not None and dtype.isbuiltin == 2 and dtype.itemsize == array.dtype.itemsize:
        array = array.view(dtype)
    return array


def _read_npy(path: Path) -> NDArray[Any]:
    with open_file(path) as file:
        return _read(file, os.fstat(file.fileno()).st_size, path.name)


def _read_npz(path: Path, entry: str) -> NDArray[Any]:
    with open_file(path) as file, zipfile.ZipFile(file) as archive:
        entries = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        if not entry and len(entries) == 1:
            (entry,) = entries
        if entry not in entries:
            reason = f"{str(path)!r} has no entry {entry!r}" if entry else f"{str(path)!r} has {len(entries)} entries"
            raise InputError(reason, remedy=f"name one of them: {path.name}:entry with {', '.join(entries)}")
        info = archive.getinfo(entry + ".npy")
        if info.file_size > max(_LARGEST_PACKED, _LARGEST_RATIO * info.compress_size):
            reason = f"entry {entry!r} of {str(path)!r} unpacks to too many bytes"
            given = f"{info.compress_size:,} bytes that unpack to {info.file_size:,}"
            raise InputError(reason, given=given, remedy="unpack the archive and pass the .npy file")
        with archive.open(info) as member:
            return _read(member, info.file_size, f"{path.name}:{entry}")


def _read(file: IO[bytes], size: int, what: str) -> NDArray[Any]:
    """Read an array of the format .npy from a file of `size` bytes, unless its header promises more."""
    shape, _, dtype = read_npy_header(file, size)
    require_memory(shape, dtype, repr(what))
    file.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _read_pb(path: Path) -> NDArray[Any]:
    tensor = onnx.TensorProto.FromString(read_message(path))
    if not tensor.data_type:
        raise ValueError("it holds no tensor")
    if onnx.external_data_helper.uses_external_data(tensor):
        raise ValueError("its elements are in another file")
    return onnx.numpy_helper.to_array(tensor)
