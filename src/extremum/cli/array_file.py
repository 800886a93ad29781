"""One array from a file: NumPy's .npy and .npz, ONNX's TensorProto.

Decides how the file is named and read. What the array is for is the caller's.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from extremum.errors import InputError

__all__ = ["read_array"]


def read_array(source: str, dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Read one array from a file.

    Parameters
    ----------
    source : str
        ``file.npy``, ``file.npz:entry`` (a sole entry needs no name) or ``file.pb`` (a TensorProto).
    dtype : numpy.dtype, optional
        The element type expected. NumPy stores the types of ml_dtypes, bfloat16 among them, as raw bytes of their
        width; such bytes are read as `dtype` if it is one of these.

    Returns
    -------
    numpy.ndarray
        The array as stored; nothing is converted.

    Raises
    ------
    InputError
        If the file holds no such array.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from extremum.cli.array_file import read_array
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "x.npy")
    ...     np.save(path, np.arange(3))
    ...     read_array(str(path))
    array([0, 1, 2])
    """
    name, archive, entry = source.partition(".npz:")
    path = Path(name + ".npz" if archive else source)
    readers = {".npy": _read_npy, ".npz": lambda at: _read_npz(at, entry), ".pb": _read_pb}
    try:
        read = readers[path.suffix]
    except KeyError:
        raise InputError(f"{source!r} has no known format", remedy="use .npy, .npz:entry or .pb") from None
    try:
        array = read(path)
    except InputError:
        raise
    except (ValueError, EOFError, TypeError, DecodeError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{source!r} is not a valid {path.suffix} file", given=str(error)) from None
    raw = array.dtype.kind == "V" and array.dtype.names is None
    if raw and dtype is not None and dtype.isbuiltin == 2 and dtype.itemsize == array.dtype.itemsize:
        array = array.view(dtype)
    return array


def _read_npy(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _read_npz(path: Path, entry: str) -> NDArray[Any]:
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        entries = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        if not entry and len(entries) == 1:
            (entry,) = entries
        if entry not in entries:
            reason = f"{str(path)!r} has no entry {entry!r}" if entry else f"{str(path)!r} has {len(entries)} entries"
            raise InputError(reason, remedy=f"name one of them: {path.name}:entry with {', '.join(entries)}")
        with archive.open(entry + ".npy") as member:
            array: NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
    return array


def _read_pb(path: Path) -> NDArray[Any]:
    tensor = onnx.TensorProto.FromString(path.read_bytes())
    if not tensor.data_type:
        raise ValueError("it holds no tensor")
    return onnx.numpy_helper.to_array(tensor, base_dir=str(path.parent))
