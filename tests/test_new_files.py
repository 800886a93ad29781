"""Files are written whole, all of them or none, never over anything, and what a killed process left is removed."""

import errno
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from extremum.cli import new_files as module
from extremum.cli.new_files import new_files, require_free, write_new
from extremum.errors import ArgumentError

CONTENTS = {"a.txt": b"first" * 1000, "b.txt": b"second" * 1000, "c.txt": b"third" * 1000}


def write(folder: Path, more=None) -> None:
    """Write the files of the table, and perhaps one more."""
    files = {folder / name: lambda file, content=content: file.write(content) for name, content in CONTENTS.items()}
    write_new({**files, **({folder / "d.txt": more} if more else {})})


def tree(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


def whole(name: str) -> dict[str, bytes | None]:
    return {name: None, **{f"{name}/{file}": content for file, content in CONTENTS.items()}}


@pytest.fixture(params=["new", "old"])
def folder(request, tmp_path):
    """A folder that has to be made, or one that is there."""
    path = tmp_path / "folder"
    if request.param == "old":
        path.mkdir()
    return path


def test_writes_into_a_folder(folder, tmp_path):
    before = os.umask(0o027)
    try:
        write(folder)
    finally:
        os.umask(before)
    assert tree(tmp_path) == whole("folder")
    assert (folder / "a.txt").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize(
    "make", [partial(Path.write_text, data="mine"), partial(Path.symlink_to, target="nowhere"), Path.mkdir]
)
def test_nothing_is_overwritten_and_nothing_half_there(tmp_path, make, has_links, monkeypatch):
    if not has_links:
        monkeypatch.setattr(os, "link", partial(fail, errno.EPERM))
    write(tmp_path / "free")
    (tmp_path / "old").mkdir()
    make(tmp_path / "old" / "c.txt")
    before = tree(tmp_path)
    with pytest.raises(ArgumentError, match=r"c\.txt' already exists"):
        write(tmp_path / "old")
    assert tree(tmp_path) == before == {**whole("free"), **{name: before[name] for name in ("old", "old/c.txt")}}
    assert not (tmp_path / "nowhere").exists()


def fail(number, *_, **__):
    raise OSError(number, os.strerror(number))


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError()])
def test_a_failed_write_leaves_nothing(folder, tmp_path, error):
    def fails(file):
        file.write(b"half")
        raise error

    before = tree(tmp_path)
    with pytest.raises(type(error)) as caught:
        write(folder, fails)
    if isinstance(error, OSError):
        assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(folder / "d.txt"))
    assert tree(tmp_path) == before


def test_an_error_of_another_file_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, new_files([tmp_path / "x"]):
        (tmp_path / "source").read_bytes()
    assert caught.value.filename == str(tmp_path / "source")


def test_a_folder_that_nobody_may_write_to_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "mkdir", partial(fail, errno.EACCES))
    with pytest.raises(PermissionError) as caught:
        write(tmp_path / "new")
    assert caught.value.filename == str(tmp_path)


@pytest.mark.parametrize("taken", ["mine", "b.txt"])
def test_a_folder_that_another_process_makes_meanwhile(tmp_path, taken):
    folder = tmp_path / "new"

    def makes(file):
        folder.mkdir()
        (folder / taken).write_bytes(b"mine")

    if taken == "mine":
        write(folder, makes)
        assert tree(tmp_path) == {**whole("new"), "new/mine": b"mine", "new/d.txt": b""}
        return
    with pytest.raises(ArgumentError, match=r"b\.txt' already exists"):
        write(folder, makes)
    assert tree(tmp_path) == {"new": None, "new/b.txt": b"mine"}


@pytest.mark.parametrize("is_shared", [True, False], ids=["same names", "other names"])
def test_many_at_once(folder, tmp_path, is_shared):
    winners = []

    def run(number):
        names = "abc" if is_shared else [f"{number}.{each}" for each in "abc"]
        try:
            write_new({folder / name: lambda file: file.write(b"%d" % number) for name in names})
            winners.append(number)
        except ArgumentError:
            return

    threads = [threading.Thread(target=run, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if is_shared:
        assert len(winners) == 1
        assert tree(tmp_path) == {"folder": None, **{f"folder/{name}": b"%d" % winners[0] for name in "abc"}}
    else:
        names = {f"folder/{number}.{each}" for number in range(16) for each in "abc"}
        assert set(tree(tmp_path)) == {"folder", *names}


KILLED = """
import os, signal, sys
from pathlib import Path
from extremum.cli.new_files import write_new
write_new({Path(sys.argv[1], name): lambda file, name=name: (
    file.write(b"half"), file.flush(), name == "b" and os.kill(os.getpid(), signal.SIGKILL)) for name in "ab"})
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_what_a_killed_process_left_is_removed_by_the_next(folder, tmp_path):
    before = tree(tmp_path)
    words = [sys.executable, "-c", KILLED, str(folder)]
    assert subprocess.run(words, check=False).returncode == -signal.SIGKILL
    (hidden,) = {path.split("/")[-2] for path in tree(tmp_path) if path.endswith("/b")}
    assert hidden.startswith(module._PREFIX)
    assert {path for path in tree(tmp_path) if hidden not in path} == set(before)
    write(folder)
    assert tree(tmp_path) == whole("folder")


def test_only_what_was_left_is_removed(tmp_path):
    for name in (".extremum-notes", ".extremum-0123456789abcdeg", "x.extremum-0123456789abcdef"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_bytes(b"mine")
    (tmp_path / ".extremum-aaaaaaaaaaaaaaaa").symlink_to("x.extremum-0123456789abcdef")
    (tmp_path / ".extremum-bbbbbbbbbbbbbbbb").write_bytes(b"mine")
    before = tree(tmp_path)

    def writes_too(file):
        """Write another file meanwhile: what is still written stays."""
        file.write(b"half")
        write_new({tmp_path / "other": lambda other: other.write(b"whole")})
        file.write(b" more")

    write(tmp_path / "new", writes_too)
    assert tree(tmp_path) == {**before, **whole("new"), "other": b"whole", "new/d.txt": b"half more"}


def test_a_folder_without_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(module.fcntl, "flock", partial(fail, errno.ENOLCK))
    (tmp_path / ".extremum-0123456789abcdef").mkdir()
    write(tmp_path / "new")
    assert tree(tmp_path) == {".extremum-0123456789abcdef": None, **whole("new")}


def test_a_name_is_free_or_not(tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(ArgumentError, match=r"link' already exists"):
        require_free(tmp_path / "link")
    with pytest.raises(ArgumentError, match="there is no folder"):
        require_free(tmp_path / "no" / "file")
    require_free(tmp_path / "file")
