"""One array from a file: NumPy's .npy and .npz, ONNX's TensorProto.

Decides how the file is named and read, and what is too much of it: no memory is taken for what a file only promises.
What the array is for is the caller's.
"""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum.errors import ExtremumError, InputError, first_line
from extremum.graph.load import open_file, read_message, require_no_folder
from extremum.tensors import require_memory

__all__ = ["read_array"]

_LARGEST_PACKED = 2**30
"""Bytes up to which an entry of an archive may unpack from however few."""

_LARGEST_RATIO = 100
"""How many times its packed size a larger entry may have."""


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
        # What NumPy, zipfile, the decompressors and protobuf raise for damaged files has no common class, and an
        # error of the operating system among it has no file.
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
            raise InputError(
                f"entry {entry!r} of {str(path)!r} unpacks to too many bytes",
                given=f"{info.compress_size:,} bytes that unpack to {info.file_size:,}",
                remedy="unpack the archive and pass the .npy file",
            )
        with archive.open(info) as member:
            return _read(member, info.file_size, f"{path.name}:{entry}")


def _read(file: IO[bytes], size: int, what: str) -> NDArray[Any]:
    """Read the array of a file of so many bytes, if they are as many as its header promises."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"version {version} of the format is for structured arrays")
    shape, _, dtype = _HEADERS[version](file)
    left = size - file.tell()
    promised = math.prod(shape) * dtype.itemsize
    # What objects take is not told by their type; they are refused as they are read.
    if not dtype.hasobject and (min(dtype.itemsize, *shape) < 0 or promised > left):
        raise ValueError(f"its header declares {dtype}{list(shape)}, {promised:,} bytes, but the file holds {left:,}")
    require_memory(shape, dtype, repr(what))
    file.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def _read_pb(path: Path) -> NDArray[Any]:
    tensor = onnx.TensorProto.FromString(read_message(path))
    if not tensor.data_type:
        raise ValueError("it holds no tensor")
    if onnx.external_data_helper.uses_external_data(tensor):
        raise ValueError("its elements are in another file")
    return onnx.numpy_helper.to_array(tensor)
