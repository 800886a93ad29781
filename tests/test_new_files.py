"""Files are written whole, all of them or none, never over anything, and what a killed process left is cleared."""

import errno
import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from extremum.cli import new_files
from extremum.cli.new_files import require_free, settle, write_new
from extremum.errors import ArgumentError

CONTENTS = {"a.txt": b"first" * 1000, "b.txt": b"second" * 1000, "c.txt": b"third" * 1000}
FILES = {name: lambda file, content=content: file.write(content) for name, content in CONTENTS.items()}


def tree(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


def whole(name: str) -> dict[str, bytes | None]:
    return {name: None, **{f"{name}/{file}": content for file, content in CONTENTS.items()}}


def test_makes_a_folder(tmp_path):
    write_new(tmp_path / "new", FILES)
    assert tree(tmp_path) == whole("new")


def test_uses_a_folder_that_is_there(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "mine").write_bytes(b"mine")
    write_new(tmp_path / "old", FILES)
    assert tree(tmp_path) == {**whole("old"), "old/mine": b"mine"}


@pytest.mark.parametrize(
    "make", [partial(Path.write_text, data="mine"), partial(Path.symlink_to, target="nowhere"), Path.mkdir]
)
def test_nothing_is_overwritten_and_nothing_half_there(tmp_path, make):
    (tmp_path / "old").mkdir()
    make(tmp_path / "old" / "c.txt")
    before = tree(tmp_path)
    with pytest.raises(ArgumentError, match=r"c\.txt' already exists"):
        write_new(tmp_path / "old", FILES)
    assert tree(tmp_path) == before
    assert not (tmp_path / "nowhere").exists()


def test_permissions_are_those_of_any_new_file(tmp_path):
    before = os.umask(0o027)
    try:
        write_new(tmp_path / "new", FILES)
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "new" / "a.txt").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("exists", [False, True], ids=["new", "old"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError()])
def test_a_failed_write_leaves_nothing(tmp_path, error, exists):
    folder = tmp_path / "folder"
    if exists:
        folder.mkdir()

    def fails(file):
        file.write(b"half")
        raise error

    before = tree(tmp_path)
    with pytest.raises(type(error)) as caught:
        write_new(folder, {**FILES, "d.txt": fails})
    if isinstance(error, OSError):
        assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(folder / "d.txt"))
    assert tree(tmp_path) == before


LIMITED = """
import resource, sys
from pathlib import Path
from extremum.cli.new_files import write_new
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_new(Path(sys.argv[1]), {"a": lambda file: file.write(b"x"), "b": lambda file: file.write(bytes(1_000_000))})
except OSError as error:
    print(error.filename, error.strerror)
"""


def test_a_full_disk_leaves_nothing(tmp_path):
    words = [sys.executable, "-c", LIMITED, str(tmp_path / "new")]
    result = subprocess.run(words, capture_output=True, text=True, check=True)
    assert result.stdout == f"{tmp_path / 'new' / 'b'} File too large\n"
    assert tree(tmp_path) == {}


def test_a_folder_that_nobody_may_write_to_is_named(tmp_path, monkeypatch):
    def refuses(path, *_, **__):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuses)
    with pytest.raises(PermissionError) as caught:
        write_new(tmp_path / "new", FILES)
    assert caught.value.filename == str(tmp_path)


def test_a_file_system_without_links(tmp_path, monkeypatch):
    def refuses(*_, **__):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuses)
    (tmp_path / "old").mkdir()
    write_new(tmp_path / "old", FILES)
    assert tree(tmp_path) == whole("old")
    (tmp_path / "old" / "b.txt").unlink()
    (tmp_path / "old" / "a.txt").unlink()
    before = tree(tmp_path)
    with pytest.raises(ArgumentError, match=r"c\.txt' already exists"):
        write_new(tmp_path / "old", FILES)
    assert tree(tmp_path) == before


def test_a_folder_that_another_process_makes_meanwhile(tmp_path):
    folder = tmp_path / "new"

    def makes(file):
        folder.mkdir()
        (folder / "mine").write_bytes(b"mine")

    write_new(folder, {**FILES, "d.txt": makes})
    assert tree(tmp_path) == {**whole("new"), "new/mine": b"mine", "new/d.txt": b""}


def test_a_file_that_another_process_makes_meanwhile(tmp_path):
    folder = tmp_path / "new"

    def makes(file):
        folder.mkdir()
        (folder / "b.txt").write_bytes(b"mine")

    with pytest.raises(ArgumentError, match=r"b\.txt' already exists"):
        write_new(folder, {**FILES, "d.txt": makes})
    assert tree(tmp_path) == {"new": None, "new/b.txt": b"mine"}


@pytest.mark.parametrize("exists", [False, True], ids=["new", "old"])
def test_many_at_once(tmp_path, exists):
    folder = tmp_path / "folder"
    if exists:
        folder.mkdir()
    outcomes = []

    def run(number):
        try:
            settle(folder)
            write_new(folder, {name: lambda file: file.write(b"%d" % number) for name in ("a", "b", "c")})
            outcomes.append(number)
        except ArgumentError:
            return

    threads = [threading.Thread(target=run, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = outcomes
    expected = {"folder": None, **{f"folder/{name}": b"%d" % winner for name in "abc"}}
    assert tree(tmp_path) == expected


def test_different_names_at_once_lose_nothing(tmp_path):
    def run(number):
        settle(tmp_path / "folder")
        write_new(tmp_path / "folder", {f"{number}.{each}": lambda file: file.write(b"x") for each in "ab"})

    threads = [threading.Thread(target=run, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(tree(tmp_path)) == {"folder", *(f"folder/{number}.{each}" for number in range(16) for each in "ab")}


# Killed at the n-th time it asks something of the file system; status 0 when it asks less often.
KILLED = """
import os, signal, sys
from pathlib import Path
from extremum.cli.new_files import write_new
folder, left = Path(sys.argv[1]), int(sys.argv[2])
words = {"a.txt": b"first", "b.txt": b"second", "c.txt": b"third"}
files = {name: lambda file, word=word: file.write(word * 1000) for name, word in words.items()}
def kill(event, arguments):
    global left
    if event in ("open", "os.mkdir", "os.rename", "os.link", "os.remove", "os.rmdir", "fcntl.flock", "os.listdir"):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(kill)
write_new(folder, files)
# What the end of the process does, such as writing down what was covered, is no step.
left = 0
"""


@pytest.mark.skipif(sys.platform == "win32", reason="nothing can be killed there so that it does not know")
@pytest.mark.parametrize("exists", [False, True], ids=["new", "old"])
def test_killed_at_every_step(tmp_path, exists):
    left_behind = finished = 0
    for step in range(1, 200):
        around = tmp_path / str(step)
        around.mkdir()
        folder = around / "folder"
        if exists:
            folder.mkdir()
        words = [sys.executable, "-c", KILLED, str(folder), str(step)]
        status = subprocess.run(words, check=False).returncode
        if status == 0:
            assert tree(around) == whole("folder")
            break
        found = tree(around)
        # Whatever has its name is whole.
        assert {f"folder/{name}" for name in CONTENTS} & set(found) <= {
            f"folder/{name}" for name, content in CONTENTS.items() if found.get(f"folder/{name}") == content
        }
        left_behind += any(new_files._PREFIX in path for path in found)
        settle(folder)
        after = tree(around)
        # All of them or none, and nothing beside them.
        assert after in (whole("folder"), {"folder": None} if exists else {})
        finished += after == whole("folder")
        if after != whole("folder"):
            write_new(folder, FILES)
            assert tree(around) == whole("folder")
    else:
        pytest.fail("the process is killed however many steps it is left")
    assert left_behind >= 5
    # A new folder gets its name with everything in it, and there is nothing to finish.
    assert bool(finished) == exists


def staged(folder: Path, name: str, files: dict[str, bytes]) -> Path:
    scratch = folder / name
    scratch.mkdir()
    for file, content in files.items():
        (scratch / file).write_bytes(content)
    return scratch


def test_what_was_half_put_into_place_is_taken_back_where_a_name_is_taken_now(tmp_path):
    scratch = staged(tmp_path, ".extremum-0123456789abcdef.complete", CONTENTS)
    os.link(scratch / "a.txt", tmp_path / "a.txt")
    (tmp_path / "c.txt").write_bytes(b"mine")
    settle(tmp_path)
    assert tree(tmp_path) == {"c.txt": b"mine"}


def test_only_what_is_its_own_is_removed(tmp_path):
    kept = [
        ".extremum-notes",
        ".extremum-0123456789abcdeg",
        "x.extremum-0123456789abcdef",
        ".extremum-0123456789ABCDEF",
    ]
    for name in kept:
        staged(tmp_path, name, {"a": b"mine"})
    (tmp_path / ".extremum-aaaaaaaaaaaaaaaa").symlink_to("x.extremum-0123456789abcdef")
    (tmp_path / ".extremum-bbbbbbbbbbbbbbbb").write_bytes(b"mine")
    odd = staged(tmp_path, ".extremum-cccccccccccccccc", {})
    (odd / "folder").mkdir()
    (odd / "folder" / "file").write_bytes(b"mine")
    before = tree(tmp_path)
    settle(tmp_path)
    assert tree(tmp_path) == before


def test_what_is_still_written_is_left_alone(tmp_path):
    def write(file):
        file.write(b"half")
        settle(tmp_path / "new")
        file.write(b" more")

    write_new(tmp_path / "new", {**FILES, "d.txt": write})
    assert tree(tmp_path) == {**whole("new"), "new/d.txt": b"half more"}


@pytest.mark.skipif(sys.platform == "win32", reason="users have no numbers there")
def test_what_another_user_left_is_left_alone(tmp_path, monkeypatch):
    scratch = staged(tmp_path, ".extremum-0123456789abcdef.complete", CONTENTS)
    os.link(scratch / "a.txt", tmp_path / "a.txt")
    monkeypatch.setattr(os, "geteuid", lambda: scratch.stat().st_uid + 1)
    before = tree(tmp_path)
    settle(tmp_path)
    assert tree(tmp_path) == before


def test_a_folder_without_locks(tmp_path, monkeypatch):
    def refuses(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(new_files.fcntl, "flock", refuses)
    staged(tmp_path, ".extremum-0123456789abcdef", CONTENTS)
    before = tree(tmp_path)
    settle(tmp_path / "new")
    write_new(tmp_path / "new", FILES)
    assert tree(tmp_path) == {**before, **whole("new")}


def test_a_name_is_free_or_not(tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(ArgumentError, match=r"link' already exists"):
        require_free(tmp_path / "link")
    with pytest.raises(ArgumentError, match="there is no folder"):
        require_free(tmp_path / "no" / "file")
    require_free(tmp_path / "file")
