"""New files: all of them or none, complete, and never over anything that exists.

Files are written into a hidden folder next to their places. Links then give them their names; a link never replaces a
file. A killed process leaves its hidden folder behind, and the next process that writes there removes it: a lock, which
ends with its process, tells a folder in use from an abandoned one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from extremum.errors import ArgumentError

if sys.platform != "win32":
    import fcntl

_PREFIX = ".extremum-"
_STAGING = re.compile(rf"{re.escape(_PREFIX)}[0-9a-f]{{16}}")
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


def require_free(path: Path, remedy: str = "choose another name, or move that file") -> None:
    """Refuse a path that exists or that has no folder."""
    require_absent(path, remedy)
    if not path.absolute().parent.is_dir():
        raise ArgumentError(f"cannot create '{path.name}': there is no folder '{path.parent}'")


def require_absent(path: Path, remedy: str) -> None:
    """Refuse a path that exists, even as a broken link."""
    if os.path.lexists(path):
        raise ArgumentError(f"'{path}' already exists", remedy=remedy)


def require_folder(folder: Path, clause: str, remedy: str | None = None) -> None:
    """Refuse a path that neither is a folder nor can become a folder."""
    if os.path.lexists(folder) and not folder.is_dir():
        what = "a link to nothing" if folder.is_symlink() else "a file"
        raise ArgumentError(f"'{folder}' is {what}, {clause}", remedy=remedy)
    if not folder.absolute().parent.is_dir():
        raise ArgumentError(f"cannot create the folder '{folder}': there is no folder '{folder.parent}'")


@contextlib.contextmanager
def new_files(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield a temporary path for each path of one folder; at the end of the block all get their names, or none."""
    folder = paths[0].parent
    with _staging(folder if folder.is_dir() else folder.absolute().parent) as staging:
        temporaries = [staging / path.name for path in paths]
        try:
            yield temporaries
            for each in filter(Path.is_file, temporaries):
                with each.open("rb+") as file:
                    os.fsync(file.fileno())
        except OSError as error:
            # An error about a temporary file names the final file.
            where = Path(error.filename or temporaries[0])
            for path, at in zip(paths, temporaries, strict=True):
                if where == at or at in where.parents:
                    raise OSError(error.errno, error.strerror or str(error), str(path)) from None
            raise
        _place(staging, folder, [path.name for path in paths])


def write_new(files: Mapping[Path, Callable[[BinaryIO], object]]) -> None:
    """Write files into one folder, which is created if necessary."""
    with new_files(list(files)) as temporaries:
        path = temporaries[0]
        try:
            for path, write in zip(temporaries, files.values(), strict=True):
                with path.open("xb") as file:
                    write(file)
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None


@contextlib.contextmanager
def _staging(place: Path) -> Iterator[Path]:
    """Yield a hidden folder of this process; remove those of killed processes."""
    for path in place.glob(f"{_PREFIX}*"):
        if _STAGING.fullmatch(path.name):
            # A folder that is in use is locked.
            with contextlib.suppress(OSError), _lock(path, wait=False):
                shutil.rmtree(path, ignore_errors=True)
    with contextlib.ExitStack() as locks:
        while True:
            # Processes that found a folder before it had its lock may remove it, and what has its name later: each
            # attempt takes a name of its own. Without locks, the folder stays.
            path = place / f"{_PREFIX}{secrets.token_hex(8)}"
            try:
                path.mkdir()
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(place)) from None
            with contextlib.suppress(OSError):
                locks.enter_context(_lock(path, wait=True))
            if path.is_dir():
                break
        locks.callback(shutil.rmtree, path, ignore_errors=True)
        yield path


@contextlib.contextmanager
def _lock(path: Path, *, wait: bool) -> Iterator[None]:
    """Lock a folder until the block or the process ends."""
    if sys.platform == "win32":
        raise OSError(errno.ENOTSUP, "folders have no locks")
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(descriptor)


def _place(staging: Path, folder: Path, names: Sequence[str]) -> None:
    """Give the files of a folder their names in another: all of them, or none if a name is taken."""
    is_new = not folder.is_dir()
    folder.mkdir(exist_ok=True)
    attempts = []
    try:
        # All processes take names in one order, so that of those that want the same names one gets them all.
        for name in sorted(names):
            attempts.append(name)
            _link(staging / name, folder / name)
    except BaseException as error:
        for name in attempts:
            with contextlib.suppress(FileNotFoundError):
                if not (staging / name).exists():
                    (folder / name).rename(staging / name)
                elif (staging / name).samefile(folder / name):
                    (folder / name).unlink()
        if is_new:
            with contextlib.suppress(OSError):
                folder.rmdir()
        if isinstance(error, FileExistsError):
            raise ArgumentError(
                f"'{folder / attempts[-1]}' already exists",
                remedy="another process has just written it",
            ) from None
        raise


def _link(source: Path, target: Path) -> None:
    """Give a file or a folder a free name."""
    if source.is_dir():
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        source.rename(target)
        return
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # The file system has no links: reserve the name with an empty file, then replace that file.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        source.replace(target)
