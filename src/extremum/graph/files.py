"""Files that a user names: regular ones, and no larger than what they can hold.

Decides what is opened at all. A pipe would keep its reader waiting and a device never ends, so neither is; what is in a
file is its reader's.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from extremum.errors import FileError

__all__ = ["LARGEST_MESSAGE", "open_file", "read_message", "require_no_folder"]

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
    """Refuse a folder in the place of a file; what is not there is no folder."""
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
