"""Files that hold the arrays of a model: NumPy's .npy and .npz and ONNX's TensorProto; outputs go to .npy files.

No memory is reserved for data that a file lacks.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, BinaryIO
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from extremum.cli.new_files import require_absent, require_folder, write_new
from extremum.errors import ArgumentError, ExtremumError, InputError, first_line
from extremum.files import open_file, require_no_folder
from extremum.graph.load import read_message
from extremum.large import read_npy_header
from extremum.tensors import require_memory

# Any entry of an archive may unpack to this many bytes, and a larger one to this many times its packed size.
_LARGEST_PACKED = 2**30
_LARGEST_RATIO = 100
# With the suffix, below the limit of most file systems, 255 bytes.
_LONGEST_FILE = 200
# Windows has devices of these names in every folder, whatever the suffix.
_DEVICES = {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{device}{digit}" for device in ("com", "lpt") for digit in range(10)),
}


def read_array(source: str, dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Read one array from a file."""
    name, archive, entry = source.partition(".npz:")
    path = Path(name + ".npz" if archive else source)
    if path.suffix not in (".npy", ".npz", ".pb"):
        require_no_folder(path)
        raise InputError(f"{source!r} has no known format", remedy="use .npy, .npz:entry or .pb")
    try:
        if path.suffix == ".pb":
            array = _read_pb(path)
        else:
            with open_file(path) as file:
                if path.suffix == ".npz":
                    array = _read_npz(file, path, entry)
                else:
                    array = _read(file, os.fstat(file.fileno()).st_size, path.name)
    except (ExtremumError, MemoryError):
        raise
    except Exception as error:
        # The libraries have no common error for damaged files; an OSError that one of them raises names no file.
        if isinstance(error, OSError) and error.filename:
            raise
        raise InputError(f"{source!r} is not a valid {path.suffix} file", given=first_line(error)) from None
    # NumPy stores the types of ml_dtypes as bare bytes.
    is_raw = array.dtype.kind == "V" and array.dtype.names is None
    if is_raw and dtype is not None and dtype.isbuiltin == 2 and dtype.itemsize == array.dtype.itemsize:
        return array.view(dtype)
    return array


def _read_npz(file: IO[bytes], path: Path, entry: str) -> NDArray[Any]:
    with zipfile.ZipFile(file) as archive:
        entries = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        if not entry and len(entries) == 1:
            (entry,) = entries
        if entry not in entries:
            what = f"no entry {entry!r}" if entry else f"{len(entries)} entries"
            raise InputError(
                f"{str(path)!r} has {what}",
                remedy=f"name one of them: {path.name}:entry with {', '.join(entries)}",
            )
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
    """Read an array of the format .npy from a file of `size` bytes, unless its header claims more."""
    shape, _, dtype = read_npy_header(file, size)
    require_memory(shape, dtype, repr(what))
    file.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _read_pb(path: Path) -> NDArray[Any]:
    # Imported here, so that the backend reports a missing onnx.
    from onnx import TensorProto, external_data_helper, numpy_helper

    tensor = TensorProto.FromString(read_message(path))
    if not tensor.data_type:
        raise ValueError("it holds no tensor")
    if external_data_helper.uses_external_data(tensor):
        raise ValueError("its elements are in another file")
    return numpy_helper.to_array(tensor)


def output_paths(names: Iterable[str], folder: Path) -> dict[str, Path]:
    """Return the file for each output of a model; none of them exists yet."""
    require_folder(folder, "not a folder")
    paths = {name: folder / file for name, file in file_names(names).items()}
    for path in paths.values():
        require_absent(path, "choose another folder, or move that file")
    return paths


def write_outputs(outputs: Mapping[str, object], folder: Path) -> dict[str, Path]:
    """Write every output of a model to a .npy file, or none."""
    arrays = {name: _storable(name, value) for name, value in outputs.items()}
    paths = output_paths(outputs, folder)
    write_new({paths[name]: partial(_save, array) for name, array in arrays.items()})
    return paths


def _storable(name: str, value: object) -> NDArray[np.generic]:
    """Return an output as an array that a file can hold; text gets a fixed width."""
    if not isinstance(value, np.ndarray | np.generic):
        raise ArgumentError(
            f"output {name!r} is not a tensor and cannot be saved as .npy",
            given=f"a {type(value).__name__}",
        )
    array = np.asanyarray(value)
    if array.dtype.kind not in "OT":
        return array
    texts = array.ravel().tolist()
    if not all(isinstance(text, str) for text in texts):
        raise ArgumentError(f"output {name!r} holds neither numbers nor text and cannot be saved as .npy")
    width = np.dtype(f"U{max(map(len, texts), default=0)}")
    require_memory(array.shape, width, f"output {name!r} as text of fixed width")
    result = array.astype(width)
    # NumPy drops NULs at the end of a text.
    if result.ravel().tolist() != texts:
        raise ArgumentError(f"output {name!r} holds text that ends with NUL and cannot be saved as .npy")
    return result


def _save(array: NDArray[np.generic], file: BinaryIO) -> None:
    # NumPy bypasses a file's own write, and its message about a full disk names no file.
    np.lib.format.write_array(SimpleNamespace(write=file.write), np.asanyarray(array), allow_pickle=False)


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Return the name of a .npy file for each name of an output.

    No two names share a file, even where a file system ignores case or cuts long names.
    """
    stems = {}
    for name in names:
        # The encoding never gives a plus sign, so it marks an empty name.
        text = quote(name.encode("utf-8", "surrogatepass"), safe="") or "+"
        # A name with a dot in front is hidden, and may be the same as a hidden name of this package.
        if text.startswith(".") or text.partition(".")[0].lower() in _DEVICES:
            text = f"%{ord(text[0]):02X}{text[1:]}"
        stems[name] = text
    count = Counter(each.lower() for each in stems.values())
    files = {}
    for name, stem in stems.items():
        if len(stem) > _LONGEST_FILE or count[stem.lower()] > 1:
            # A plus sign in a name is encoded, so no other name has such an end.
            stem = f"{stem[: _LONGEST_FILE - 33]}+{hashlib.sha256(stem.encode()).hexdigest()[:32]}"
        files[name] = f"{stem}.npy"
    return files
