"""New files: all of them or none, whole, and never over anything that is there.

Files are written into a hidden folder beside their places. Links then give them their names; a link never replaces. A
killed process leaves its hidden folder behind, and the next one that writes there removes it: a lock, which ends with
its process, tells a folder in use from one that was left.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ArgumentError
from extremum.tensors import require_memory

if sys.platform != "win32":
    import fcntl

_PREFIX = ".extremum-"
_STAGING = re.compile(rf"{re.escape(_PREFIX)}[0-9a-f]{{16}}")
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)

# Below the 255 bytes of most file systems, with the suffix.
_LONGEST = 200
# Windows has devices of these names in every folder, whatever the suffix.
_DEVICES = {"con", "prn", "aux", "nul", *(f"{device}{digit}" for device in ("com", "lpt") for digit in range(10))}


def require_free(path: Path, remedy: str = "choose another name, or move that file") -> None:
    """Refuse a path that exists, even as a broken link, or that has no folder."""
    if os.path.lexists(path):
        raise ArgumentError(f"'{path}' already exists", remedy=remedy)
    if not path.absolute().parent.is_dir():
        raise ArgumentError(f"cannot create '{path.name}': there is no folder '{path.parent}'")


@contextlib.contextmanager
def new_files(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield a temporary path for each path of one folder; when the block is done, all get their names, or none."""
    folder = paths[0].parent
    with _staging(folder if folder.is_dir() else folder.absolute().parent) as staging:
        temporaries = [staging / path.name for path in paths]
        try:
            yield temporaries
            for each in filter(Path.is_file, temporaries):
                with each.open("rb+") as file:
                    os.fsync(file.fileno())
        except OSError as error:
            # What happens to a temporary file is said of the final one.
            where = Path(error.filename or temporaries[0])
            for path, at in zip(paths, temporaries, strict=True):
                if where == at or at in where.parents:
                    raise OSError(error.errno, error.strerror or str(error), str(path)) from None
            raise
        _place(staging, folder, [path.name for path in paths])


def write_new(files: Mapping[Path, Callable[[BinaryIO], object]]) -> None:
    """Write files of one folder, which is made if it is not there."""
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
    path = place / f"{_PREFIX}{secrets.token_hex(8)}"
    with contextlib.ExitStack() as locks:
        # Another process may remove it before it is locked. Without locks, nobody removes it.
        while not path.is_dir():
            try:
                path.mkdir()
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(place)) from None
            with contextlib.suppress(OSError):
                locks.enter_context(_lock(path, wait=True))
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
        for name in names:
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
            reason = f"'{folder / attempts[-1]}' already exists"
            raise ArgumentError(reason, remedy="another process has just written it") from None
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
        # No links there: take the name with an empty file, then replace that.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        source.replace(target)


def output_paths(names: Iterable[str], folder: Path) -> dict[str, Path]:
    """Return the file for each output of a model; none of them exists yet."""
    paths = {name: folder / file for name, file in file_names(names).items()}
    if folder.is_dir():
        for path in paths.values():
            require_free(path, "choose another folder, or move that file")
    elif os.path.lexists(folder):
        raise ArgumentError(f"'{folder}' is {'a link to nothing' if folder.is_symlink() else 'a file'}, not a folder")
    elif not folder.absolute().parent.is_dir():
        raise ArgumentError(f"cannot create the folder '{folder}': there is no folder '{folder.parent}'")
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
        reason = f"output {name!r} is not a tensor and cannot be saved as .npy"
        raise ArgumentError(reason, given=f"a {type(value).__name__}")
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
    # NumPy bypasses a file's own write, and its message about a full disk names no file.
    np.lib.format.write_array(SimpleNamespace(write=file.write), np.asanyarray(array), allow_pickle=False)


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Return the name of a .npy file for each name of an output.

    No two names share a file, even where a file system ignores case or cuts long names.
    """
    quoted = {}
    for name in names:
        # A plus sign that stands alone marks what is no encoding.
        text = quote(name.encode("utf-8", "surrogatepass"), safe="") or "+"
        # A name with a dot in front is hidden, and may be one of this package's own.
        if text.startswith(".") or text.partition(".")[0].lower() in _DEVICES:
            text = f"%{ord(text[0]):02X}{text[1:]}"
        quoted[name] = text
    count = Counter(each.lower() for each in quoted.values())
    return {
        # A plus sign in a name is encoded, so no other name ends so.
        name: each + ".npy"
        if len(each) <= _LONGEST and count[each.lower()] == 1
        else f"{each[: _LONGEST - 33]}+{hashlib.sha256(each.encode()).hexdigest()[:32]}.npy"
        for name, each in quoted.items()
    }
