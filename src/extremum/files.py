"""Files that a user names: only regular files are opened.

A pipe keeps its reader waiting, and a device never ends.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from extremum.errors import FileError


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file for reading; anything else is a FileError, or the OSError of a missing file."""
    # Checked again after opening: another file may have taken the name in between.
    _require_regular(path, Path(path).stat())
    # Without O_NONBLOCK, a pipe that took the name in between would wait for a writer.
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NONBLOCK", 0)))  # noqa: SIM115
    try:
        _require_regular(path, os.fstat(file.fileno()))
    except FileError:
        file.close()
        raise
    return file


def require_no_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a folder in place of a file; a path that does not exist passes."""
    if Path(path).is_dir():
        _require_regular(path, Path(path).stat())


def _require_regular(path: str | os.PathLike[str], status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe", stat.S_ISSOCK: "a socket"}
        kind = next((name for matches, name in kinds.items() if matches(status.st_mode)), "a device")
        raise FileError(
            f"{str(Path(path))!r} is {kind}",
            remedy="name a file in it"
            if kind == "a folder"
            else "give a regular file; write what a pipe gives to one",
        )
