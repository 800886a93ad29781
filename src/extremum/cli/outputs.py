"""A model's outputs as files: one .npy per output, all of them or none, and never over a file that is there.

Decides what an output's file holds. How it is called is :mod:`extremum.cli.file_name`'s, how it gets there
:mod:`extremum.cli.new_files`'s, what the outputs are :mod:`extremum.backend`'s.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from extremum.cli.file_name import file_names
from extremum.cli.new_files import require_free, settle, write_new
from extremum.errors import ArgumentError
from extremum.tensors import require_memory

__all__ = ["output_paths", "write_outputs"]


def output_paths(names: Iterable[str], folder: Path) -> dict[str, Path]:
    """Return the file for each output, none of which exists yet."""
    paths = {name: folder / file for name, file in file_names(names).items()}
    settle(folder)
    if folder.is_dir():
        for path in paths.values():
            require_free(path, "choose another folder, or move that file")
    elif os.path.lexists(folder):
        raise ArgumentError(f"'{folder}' is {'a link to nothing' if folder.is_symlink() else 'a file'}, not a folder")
    elif not folder.absolute().parent.is_dir():
        raise ArgumentError(f"cannot create the folder '{folder}': there is no folder '{folder.parent}'")
    return paths


def write_outputs(outputs: Mapping[str, object], folder: Path) -> dict[str, Path]:
    """Write every output, or none."""
    arrays = {name: _storable(name, value) for name, value in outputs.items()}
    paths = output_paths(outputs, folder)
    write_new(folder, {paths[name].name: partial(_save, array) for name, array in arrays.items()})
    return paths


def _storable(name: str, value: object) -> NDArray[np.generic]:
    """Return an output as an array that a file can hold; text is of fixed width there."""
    if not isinstance(value, np.ndarray | np.generic):
        raise ArgumentError(
            f"output {name!r} is not a tensor and cannot be saved as .npy", given=f"a {type(value).__name__}"
        )
    array = np.asanyarray(value)
    if array.dtype.kind not in "OT":
        return array
    texts = array.ravel().tolist()
    if not all(isinstance(text, str) for text in texts):
        raise ArgumentError(f"output {name!r} holds neither numbers nor text and cannot be saved as .npy")
    width = np.dtype(f"U{max(map(len, texts), default=0)}")
    require_memory(array.shape, width, f"output {name!r} as text of fixed width")
    fixed = array.astype(width)
    # NumPy drops NULs at the end of a text.
    if fixed.ravel().tolist() != texts:
        raise ArgumentError(f"output {name!r} holds text that ends with NUL and cannot be saved as .npy")
    return fixed


def _save(array: NDArray[np.generic], file: BinaryIO) -> None:
    # Hidden that it is a file: NumPy would write past it, and say of a full disk how many elements went.
    np.lib.format.write_array(SimpleNamespace(write=file.write), np.asanyarray(array), allow_pickle=False)
