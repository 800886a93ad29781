"""New files in a folder: all of them or none, whole, and never over anything that is there.

Decides the order of the steps. Files are written into a folder of their own beside their places, which is then either
renamed to the folder that is to be made, or put into the one that is there by links, which never replace. A process
that is killed leaves its folder behind; the next one finishes what was half put into place and removes the rest. A
lock, which ends with its process, tells what was left from what is still being written.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from extremum.errors import ArgumentError

if sys.platform != "win32":
    import fcntl

__all__ = ["require_free", "settle", "write_new", "write_new_folder", "write_together"]

_PREFIX = ".extremum-"
# Everything is written; what is in this folder is put into place.
_COMPLETE = ".complete"
_NAME = re.compile(rf"{re.escape(_PREFIX)}[0-9a-f]{{16}}({re.escape(_COMPLETE)})?")
# What is a folder itself; no other folder is anything that was left here.
_FOLDERS = (".zarr",)
# What a file system says that has no links.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


def require_free(path: Path, remedy: str = "choose another name, or move that file") -> None:
    """Refuse a path at which there is something already, be it a link to nothing, or no folder to hold it."""
    if os.path.lexists(path):
        raise ArgumentError(f"'{path}' already exists", remedy=remedy)
    if not path.absolute().parent.is_dir():
        raise ArgumentError(f"cannot create '{path.name}': there is no folder '{path.parent}'")


def write_new(folder: Path, files: Mapping[str, Callable[[BinaryIO], object]]) -> None:
    """Write files into a folder, which is made if it is not there."""
    place = folder if folder.is_dir() else folder.absolute().parent
    with _scratch(place) as scratch:
        for name, write in files.items():
            _write(scratch.path / name, write, folder / name)
        if place == folder or not scratch.become(folder):
            scratch.move(folder / (scratch.path.name + _COMPLETE))
            _place(scratch.path, folder, files)


def write_together(folder: Path, names: Sequence[str], write: Callable[[list[BinaryIO]], object]) -> None:
    """Write several files into a folder that is there, all of them at the same time."""

    def opened(files: list[BinaryIO], scratch: Path) -> None:
        if len(files) == len(names):
            write(files)
        else:
            name = names[len(files)]
            _write(scratch / name, lambda file: opened([*files, file], scratch), folder / name)

    with _scratch(folder) as scratch:
        opened([], scratch.path)
        scratch.move(folder / (scratch.path.name + _COMPLETE))
        _place(scratch.path, folder, names)


def write_new_folder(folder: Path, write: Callable[[Path], object]) -> None:
    """Have a folder written that is not there, with whatever is in it."""
    with _scratch(folder.absolute().parent) as scratch:
        made = scratch.path / folder.name
        try:
            write(made)
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(folder)) from None
        require_free(folder, "another process has just written it")
        made.rename(folder)


class _Scratch:
    """A folder of this process, wherever it is moved."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_kept = False

    def move(self, path: Path) -> None:
        self.path = self.path.rename(path)

    def become(self, folder: Path) -> bool:
        """Take the name of a folder that was not there; return whether it still was not."""
        try:
            self.move(folder)
        except OSError:
            if not folder.is_dir():
                raise
            # Another process has made it in the meantime.
            return False
        self.is_kept = True
        return True


@contextlib.contextmanager
def _scratch(place: Path) -> Iterator[_Scratch]:
    lock = None
    while True:
        path = place / f"{_PREFIX}{secrets.token_hex(8)}"
        try:
            path.mkdir()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(place)) from None
        try:
            lock = _lock(path, wait=True)
        except FileNotFoundError:
            # Another process took it for left behind before it was locked.
            continue
        except OSError:
            # No locks there: then nobody takes anything for left behind.
            pass
        break
    scratch = _Scratch(path)
    try:
        yield scratch
    finally:
        if not scratch.is_kept:
            _remove(scratch.path)
        if lock is not None:
            os.close(lock)


def _write(path: Path, write: Callable[[BinaryIO], object], final: Path) -> None:
    try:
        with path.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(final)) from None


def _place(scratch: Path, folder: Path, names: Iterable[str]) -> None:
    """Put the files of a folder into another: all of them, or none if one of the names is taken."""
    moved: list[Path] = []
    try:
        for name in names:
            _link(scratch / name, folder / name, moved)
    except BaseException as error:
        for path in (*moved, *_placed(scratch, folder)):
            path.unlink()
        if isinstance(error, FileExistsError):
            raise ArgumentError(
                f"'{error.filename2 or error.filename}' already exists", remedy="another process has just written it"
            ) from None
        raise


def _link(source: Path, target: Path, moved: list[Path]) -> None:
    """Give a file a second name that is free, or a new one, which is noted, where files have one name only."""
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # No links there. Whoever makes the file has its name, and may then put another in its place.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        moved.append(target)
        source.replace(target)


def _placed(scratch: Path, folder: Path) -> list[Path]:
    """Return the second names, in a folder, of the files of another."""
    result = []
    for file in scratch.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat((folder / file.name).lstat(), file.lstat()):
                result.append(folder / file.name)
    return result


def settle(folder: Path) -> None:
    """Finish or remove what processes that were killed have left in a folder and beside it."""
    for place in (folder.absolute().parent, folder):
        with contextlib.suppress(OSError):
            for path in [each for each in place.iterdir() if _NAME.fullmatch(each.name)]:
                _settle(path, place)


def _settle(path: Path, folder: Path) -> None:
    try:
        lock = _lock(path, wait=False)
    except OSError:
        # It is being written, or it is none of this user's.
        return
    try:
        placed = _placed(path, folder) if path.name.endswith(_COMPLETE) else []
        if placed:
            rest = [file.name for file in path.iterdir() if folder / file.name not in placed]
            if any(os.path.lexists(folder / name) for name in rest):
                for each in placed:
                    each.unlink()
            else:
                _place(path, folder, rest)
        _remove(path)
    finally:
        os.close(lock)


def _lock(path: Path, *, wait: bool) -> int:
    """Lock a folder of this user's until the process ends, and return the descriptor that holds the lock."""
    if sys.platform == "win32":
        raise OSError(errno.ENOTSUP, "folders have no locks")
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "the folder of another user", str(path))
        # Who waited for the lock may have waited for the end of the folder.
        path.lstat()
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        for file in path.iterdir():
            if file.suffix in _FOLDERS and not file.is_symlink() and file.is_dir():
                shutil.rmtree(file)
            else:
                file.unlink()
        path.rmdir()
