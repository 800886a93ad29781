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

__all__ = ["output_paths", "write_outputs"]


def output_paths(names: Iterable[str], folder: Path) -> dict[str, Path]:
    """Return the file for each output, none of which exists yet."""
    paths = {name: folder / file for name, file in file_names(names).items()}
    settle(folder)
    if folder.is_dir():
        for path in paths.values():
            require_free(path, "name another folder, or move the file away")
    elif os.path.lexists(folder):
        raise ArgumentError(f"'{folder}' is {'a link to nothing' if folder.is_symlink() else 'a file'}, not a folder")
    elif not folder.absolute().parent.is_dir():
        raise ArgumentError(f"the folder '{folder}' cannot be made: there is no folder '{folder.parent}'")
    return paths


def write_outputs(outputs: Mapping[str, NDArray[np.generic]], folder: Path) -> dict[str, Path]:
    """Write every output, or none."""
    for name, array in outputs.items():
        if not isinstance(array, np.ndarray | np.generic) or array.dtype.hasobject:
            raise ArgumentError(f"output {name!r} is no array of numbers and has no .npy form")
    paths = output_paths(outputs, folder)
    write_new(folder, {paths[name].name: partial(_save, array) for name, array in outputs.items()})
    return paths


def _save(array: NDArray[np.generic], file: BinaryIO) -> None:
    # Hidden that it is a file: NumPy would write past it, and say of a full disk how many elements went.
    np.lib.format.write_array(SimpleNamespace(write=file.write), np.asanyarray(array), allow_pickle=False)
