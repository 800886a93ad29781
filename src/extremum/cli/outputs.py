"""A model's outputs as files: one .npy per output, all of them or none, and never over a file that is there.

Decides the file names and the order of the steps. What the outputs are is :mod:`extremum.backend`'s.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ArgumentError

__all__ = ["output_paths", "write_outputs"]


def output_paths(names: Iterable[str], folder: Path) -> dict[str, Path]:
    """Return the file for each output, none of which exists yet.

    Parameters
    ----------
    names : iterable of str
        Names of outputs. Characters that do not belong into a file name are percent-encoded, so that two names never
        share a file.
    folder : pathlib.Path
        Where they go; it need not exist, the folder around it must.

    Returns
    -------
    dict of str to pathlib.Path
        File by output name.

    Raises
    ------
    ArgumentError
        If one of the files exists, or the folder cannot be made there.

    Examples
    --------
    >>> from pathlib import Path
    >>> from extremum.cli.outputs import output_paths
    >>> output_paths(["labels", "block/scores:0"], Path("answers"))["block/scores:0"].name
    'block%2Fscores%3A0.npy'
    """
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"'{folder}' is a file, not a folder")
    if not folder.absolute().parent.is_dir():
        raise ArgumentError(f"the folder '{folder}' cannot be made: there is no folder '{folder.parent}'")
    paths = {name: folder / f"{quote(name, safe='')}.npy" for name in names}
    for path in paths.values():
        if path.exists():
            raise ArgumentError(f"'{path}' exists already", remedy="name another folder, or move the file away")
    return paths


def write_outputs(outputs: Mapping[str, NDArray[np.generic]], folder: Path) -> dict[str, Path]:
    """Write every output, or none.

    Parameters
    ----------
    outputs : mapping of str to numpy.ndarray
        Array by output name.
    folder : pathlib.Path
        Where they go, see :func:`output_paths`; made if it is not there.

    Returns
    -------
    dict of str to pathlib.Path
        File by output name.

    Raises
    ------
    ArgumentError
        If one of the files exists, or an output is no array of numbers.
    OSError
        If the files cannot be written. Nothing of them is left then.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from extremum.cli.outputs import write_outputs
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     path = write_outputs({"labels": np.array([7, 1])}, Path(parent, "answers"))["labels"]
    ...     np.load(path)
    array([7, 1])
    """
    for name, array in outputs.items():
        if not isinstance(array, np.ndarray | np.generic) or array.dtype.hasobject:
            raise ArgumentError(f"output {name!r} is no array of numbers and has no .npy form")
    paths = output_paths(outputs, folder)
    made = not folder.exists()
    # On the same file system as the folder, so that putting a finished file into its place is one rename.
    with tempfile.TemporaryDirectory(prefix=".extremum-", dir=folder.absolute().parent if made else folder) as scratch:
        for name, array in outputs.items():
            np.save(Path(scratch, paths[name].name), array, allow_pickle=False)
        placed: list[Path] = []
        try:
            folder.mkdir(exist_ok=True)
            for path in output_paths(outputs, folder).values():
                Path(scratch, path.name).rename(path)
                placed.append(path)
        except BaseException:
            for path in placed:
                path.unlink()
            if made and folder.is_dir():
                folder.rmdir()
            raise
    return paths
