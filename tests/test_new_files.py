"""New files and outputs of a model: whole, all or none, never over anything, each with a name of its own."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from commands import tree
from extremum.cli import new_files as module
from extremum.cli.array_files import file_names, output_paths, read_array, write_outputs
from extremum.cli.new_files import new_files, write_new
from extremum.errors import ArgumentError
from refusal import error_of

CONTENTS = {"a.txt": b"first" * 1000, "b.txt": b"second" * 1000, "c.txt": b"third" * 1000}


def write(folder: Path, more=None) -> None:
    """Write the files of the table, and perhaps one more."""
    files = {folder / name: lambda file, content=content: file.write(content) for name, content in CONTENTS.items()}
    write_new({**files, **({folder / "d.txt": more} if more else {})})


def whole(name: str) -> dict[str, bytes | None]:
    return {name: None, **{f"{name}/{file}": content for file, content in CONTENTS.items()}}


@pytest.fixture(params=["new", "old"])
def target_folder(request, tmp_path):
    """A folder that does not exist yet, or one that exists."""
    path = tmp_path / "folder"
    if request.param == "old":
        path.mkdir()
    return path


def test_writes_into_a_folder(target_folder, tmp_path):
    before = os.umask(0o027)
    try:
        write(target_folder)
    finally:
        os.umask(before)
    assert tree(tmp_path) == whole("folder")
    assert (target_folder / "a.txt").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(partial(Path.write_text, data="mine"), id="a file"),
        pytest.param(partial(Path.symlink_to, target="nowhere"), id="a link"),
        pytest.param(Path.mkdir, id="a folder"),
    ],
)
def test_nothing_is_overwritten_and_nothing_half_there(tmp_path, make, has_links, monkeypatch):
    if not has_links:
        monkeypatch.setattr(os, "link", partial(fail, errno.EPERM))
    write(tmp_path / "free")
    (tmp_path / "old").mkdir()
    make(tmp_path / "old" / "c.txt")
    before = tree(tmp_path)
    assert "c.txt' already exists" in str(error_of(ArgumentError, write, tmp_path / "old"))
    assert tree(tmp_path) == before == {**whole("free"), **{name: before[name] for name in ("old", "old/c.txt")}}
    assert not (tmp_path / "nowhere").exists()


def fail(number, *_, **__):
    raise OSError(number, os.strerror(number))


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError()],
    ids=["a full disk", "an interrupt", "any other error"],
)
def test_a_failed_write_leaves_nothing(target_folder, tmp_path, error):
    def fails(file):
        file.write(b"half")
        raise error

    before = tree(tmp_path)
    caught = error_of(type(error), write, target_folder, fails)
    if isinstance(error, OSError):
        assert (caught.errno, caught.filename) == (errno.ENOSPC, str(target_folder / "d.txt"))
    assert tree(tmp_path) == before


def test_an_error_names_the_file_or_folder_that_it_is_about(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError) as caught, new_files([tmp_path / "x"]):
        (tmp_path / "source").read_bytes()
    assert caught.value.filename == str(tmp_path / "source")
    monkeypatch.setattr(Path, "mkdir", lambda *given: fail(errno.EACCES, *given))
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
    assert "b.txt' already exists" in str(error_of(ArgumentError, write, folder, makes))
    assert tree(tmp_path) == {"new": None, "new/b.txt": b"mine"}


def test_folders_too_get_their_names_all_or_none(tmp_path):
    paths = [tmp_path / name for name in ("a.zarr", "b.zarr")]

    def make():
        with new_files(paths) as temporaries:
            for path in (*temporaries, paths[1]):
                path.mkdir()

    assert "b.zarr' already exists" in str(error_of(ArgumentError, make))
    assert tree(tmp_path) == {"b.zarr": None}


@pytest.mark.parametrize("is_shared", [True, False], ids=["same names", "other names"])
def test_many_at_once(target_folder, tmp_path, is_shared):
    winners = []

    def run(number):
        orders = ("abc", "bca", "cab")
        names = orders[number % 3] if is_shared else [f"{number}.{each}" for each in "abc"]
        try:
            write_new({target_folder / name: lambda file: file.write(b"%d" % number) for name in names})
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
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    folder = tmp_path / "folder"
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
        """Write another file in the meantime: it leaves the unfinished files alone."""
        file.write(b"half")
        write_new({tmp_path / "other": lambda other: other.write(b"whole")})
        file.write(b" more")

    write(tmp_path / "new", writes_too)
    assert tree(tmp_path) == {**before, **whole("new"), "other": b"whole", "new/d.txt": b"half more"}


def test_a_folder_that_is_removed_before_its_lock_has_another_name_next(tmp_path, monkeypatch):
    made = []
    mkdir = Path.mkdir

    def mkdir_and_remove_the_first(path, *given, **named):
        mkdir(path, *given, **named)
        made.append(path)
        if len(made) == 1:
            path.rmdir()

    def removes_the_first_again(file):
        """Do what a process does that had found the first folder too."""
        shutil.rmtree(made[0], ignore_errors=True)
        file.write(b"more")

    monkeypatch.setattr(Path, "mkdir", mkdir_and_remove_the_first)
    write(tmp_path / "new", removes_the_first_again)
    assert tree(tmp_path) == {**whole("new"), "new/d.txt": b"more"}


def test_a_folder_without_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(module.fcntl, "flock", partial(fail, errno.ENOLCK))
    (tmp_path / ".extremum-0123456789abcdef").mkdir()
    write(tmp_path / "new")
    assert tree(tmp_path) == {".extremum-0123456789abcdef": None, **whole("new")}


# Outputs of a model.

ARRAYS = {"labels": np.arange(3), "scores": np.ones((2, 2), np.float32)}
HOSTILE = [
    "", ".", "..", "../a", "a/b", "a\\b", "a%2Fb", "a:0", "a b", "a+b", ".extremum-0123456789abcdef", "~", "-", "*",
    "?",     "\0", "\x1b[2J", "\n", "\u202e", "\u2028", "\ud800", "é", "e\u0301", "ß", "ẞ", "\U0001f600",
    "A", "a", "%41", "aB", "Ab", "AB", "é/a", "É/A", "é/A",
    "con", "CON", "Con.x", "nul", "LPT9", "com1.a", "console",
    "x" * 10_000, "x" * 10_001, "X" * 10_000, "é" * 300, "x" * 200, "x" * 201, "X" * 201, "x/" * 100,
]  # fmt: skip


def test_writes_one_file_per_output(tmp_path, monkeypatch):
    written = write_outputs(ARRAYS, tmp_path / "answers")
    assert set(tree(tmp_path)) == {"answers", "answers/labels.npy", "answers/scores.npy"}
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(np.load(written[name]), array)
    monkeypatch.setattr(np.lib.format, "write_array", partial(fail, errno.ENOSPC))
    with pytest.raises(OSError, match="No space left") as caught:
        write_outputs(ARRAYS, tmp_path / "more")
    assert caught.value.filename == str(tmp_path / "more" / "labels.npy")
    assert not (tmp_path / "more").exists()


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(np.arange(6).reshape(2, 3)),
        np.zeros((0, 3)),
        np.float32(2),
        np.arange(4).astype(ml_dtypes.bfloat16),
        np.array(["?", "żółw", "a\0b"], object),
        np.array([], object),
    ],
    ids=["Fortran's order", "no elements", "rank 0", "bfloat16", "text", "no text"],
)
def test_any_array_comes_back(tmp_path, array):
    path = write_outputs({"x": array}, tmp_path)["x"]
    result = read_array(str(path), None if array.dtype == object else array.dtype)
    assert result.tolist() == array.tolist()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([np.ones(2)], "is not a tensor and cannot be saved as .npy"),
        (None, "is not a tensor and cannot be saved as .npy"),
        (np.array(["a", None], object), "holds neither numbers nor text and cannot be saved as .npy"),
        (np.array(["a\0"], object), "holds text that ends with NUL and cannot be saved as .npy"),
    ],
)
def test_refuses_what_a_file_does_not_hold(tmp_path, value, reason):
    with pytest.raises(ArgumentError, match=f"output 'x' {reason}"):
        write_outputs({"labels": np.ones(2), "x": value}, tmp_path / "answers")
    assert tree(tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("mine", "/mine' is a file, not a folder"),
        ("link", "/link' is a link to nothing, not a folder"),
        ("no/answers", "/no/answers': there is no folder "),
        ("old", "/old/scores.npy' already exists"),
        ("linked", "/linked/scores.npy' already exists"),
    ],
)
def test_refuses_a_folder_that_cannot_be_written_to(tmp_path, name, reason):
    for folder in ("old", "linked"):
        (tmp_path / folder).mkdir()
    for path in ("mine", "old/scores.npy"):
        (tmp_path / path).write_text("mine")
    for path in ("link", "linked/scores.npy"):
        (tmp_path / path).symlink_to("nowhere")
    before = tree(tmp_path)
    assert reason in error_of(ArgumentError, write_outputs, ARRAYS, tmp_path / name).reason
    assert tree(tmp_path) == before


def test_usual_names_stand_for_themselves():
    names = {"labels": "labels.npy", "a.b-c~d": "a.b-c~d.npy", "block/scores:0": "block%2Fscores%3A0.npy"}
    assert file_names(names) == names


def test_every_name_has_a_file_of_its_own_anywhere(tmp_path):
    files = file_names(HOSTILE)
    assert list(files) == HOSTILE
    # A file system may treat names as equal that differ in case or in how accents are written.
    assert len({file.lower() for file in files.values()}) == len(HOSTILE)
    for file in files.values():
        assert file.isascii()
        assert file.isprintable()
        assert len(file) <= 210
        assert not set(file) & set('\\/:*?"<>| ')
        assert not file.startswith(".")
        assert file.partition(".")[0].lower() not in {"con", "prn", "aux", "nul", "com1", "lpt9"}
        (tmp_path / file).write_text("there")
    assert {path.name for path in tmp_path.iterdir()} == set(files.values())
    assert {path.parent for path in output_paths(HOSTILE, Path("out")).values()} == {Path("out")}
    # A shortened file name may be the name of another output.
    (long,) = file_names(["x" * 10_000]).values()
    assert len(set(file_names(["x" * 10_000, long.removesuffix(".npy")]).values())) == 2
