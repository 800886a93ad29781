"""The file that a large result goes to, a piece at a time: beside its place until it is complete.

Decides the formats: .npy, whose room on the disk is taken before anything is computed, .zarr and .nc.
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from extremum.cli.new_files import require_free, settle, write_new_folder, write_together
from extremum.errors import ArgumentError, lacking
from extremum.large.labels import Labels

__all__ = ["Put", "require_target", "write_pieces"]

PutOne = Callable[[tuple[slice, ...], NDArray[Any]], None]
"""Takes a piece of one result and its place."""

Put = Callable[[tuple[slice, ...], Sequence[NDArray[Any] | None]], None]
"""Takes a piece of each result, or of some of them, and its place."""

_DIRTY = 64 << 20
"""Bytes after which what was written is no longer held in memory."""


def require_target(out: Path, names: Sequence[str]) -> list[Path]:
    """Return the file of each result, or refuse a name that nothing can be written to.

    One result has the name that is given; each of several has its own name before the suffix.
    """
    if out.suffix not in (".npy", ".zarr", ".nc"):
        raise ArgumentError(f"'{out}' has no known format", remedy="use .npy, .zarr or .nc")
    settle(out.absolute().parent)
    paths = [out.with_suffix(f".{name}{out.suffix}") for name in names] if names[1:] else [out]
    for path in paths:
        require_free(path)
    return paths


def write_pieces(
    paths: Sequence[Path],
    shape: tuple[int, ...],
    dtypes: Sequence[np.dtype[Any]],
    work: Callable[[Put], None],
    *,
    zarr_format: int,
    labels: Labels,
) -> None:
    """Have the pieces of results put into new files, which take their names when all pieces are there."""
    suffix, folder = paths[0].suffix, paths[0].parent
    if suffix == ".zarr":

        def into_folders(puts: list[PutOne]) -> None:
            if len(puts) == len(paths):
                work(partial(_put, puts))
            else:
                also = lambda put: into_folders([*puts, put])  # noqa: E731
                write_new_folder(paths[len(puts)], partial(_zarr, shape, dtypes[len(puts)], also, zarr_format))

        into_folders([])
        return
    if suffix == ".nc":
        try:
            from extremum.cli.netcdf_file import write_netcdf
        except ModuleNotFoundError as error:
            raise lacking("a .nc file", error) from None

    def into_files(puts: list[PutOne], files: list[BinaryIO]) -> None:
        if len(puts) == len(paths):
            work(partial(_put, puts))
            return
        also = lambda put: into_files([*puts, put], files)  # noqa: E731
        dtype, file = dtypes[len(puts)], files[len(puts)]
        if suffix == ".nc":
            write_netcdf(shape, dtype, labels, also, file)
        else:
            _npy(shape, dtype, also, file)

    write_together(folder, [path.name for path in paths], partial(into_files, []))


def _put(puts: Sequence[PutOne], place: tuple[slice, ...], blocks: Sequence[NDArray[Any] | None]) -> None:
    for put, block in zip(puts, blocks, strict=True):
        if block is not None:
            put(place, block)


def _npy(shape: tuple[int, ...], dtype: np.dtype[Any], work: Callable[[PutOne], None], file: BinaryIO) -> None:
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    file.flush()
    start, size = file.tell(), math.prod(shape) * dtype.itemsize
    if hasattr(os, "posix_fallocate"):
        # What is mapped and finds no room later ends the process; here it is an error.
        os.posix_fallocate(file.fileno(), 0, start + size)
    else:
        file.truncate(start + size)
    with Path(file.name).open("r+b") as again, mmap.mmap(again.fileno(), 0) as memory:
        array: NDArray[Any] | None = np.ndarray(shape, dtype, memory, start)
        dirty = 0

        def put(place: tuple[slice, ...], block: NDArray[Any]) -> None:
            nonlocal dirty
            assert array is not None
            array[place] = block
            dirty += block.nbytes
            if dirty >= _DIRTY and hasattr(mmap, "MADV_DONTNEED"):
                memory.madvise(mmap.MADV_DONTNEED)
                dirty = 0

        try:
            work(put)
            memory.flush()
        finally:
            # The mapping cannot be closed while an array is in it.
            array = None


def _zarr(
    shape: tuple[int, ...], dtype: np.dtype[Any], work: Callable[[PutOne], None], zarr_format: int, folder: Path
) -> None:
    try:
        import zarr
    except ModuleNotFoundError as error:
        raise lacking("a .zarr file", error) from None
    chunks = _chunks(shape, dtype.itemsize)
    number = 3 if zarr_format == 3 else 2
    try:
        array = zarr.create_array(store=str(folder), shape=shape, dtype=dtype, chunks=chunks, zarr_format=number)
    except (TypeError, ValueError):
        raise ArgumentError(f"Zarr does not store elements of type {dtype}", remedy="name a .npy file") from None

    def put(place: tuple[slice, ...], block: NDArray[Any]) -> None:
        array[place] = block

    work(put)


def _chunks(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the chunks of a result: whole along the last axes, about 16 MB each."""
    sizes = [max(1, length) for length in shape]
    for axis, length in enumerate(sizes):
        rest = math.prod(sizes[axis + 1 :]) * itemsize
        sizes[axis] = max(1, min(length, (16 << 20) // max(rest, 1)))
        if sizes[axis] > 1:
            break
    return tuple(sizes)
