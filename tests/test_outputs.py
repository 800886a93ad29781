"""Outputs of a model as files: each has a name of its own on every file system; all are written or none."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from extremum.cli.inputs import read_array
from extremum.cli.new_files import file_names, output_paths, write_outputs
from extremum.errors import ArgumentError

ARRAYS = {"labels": np.arange(3), "scores": np.ones((2, 2), np.float32)}
HOSTILE = [
    "", ".", "..", "../a", "a/b", "a\\b", "a%2Fb", "a:0", "a b", "a+b", ".extremum-0123456789abcdef", "~", "-", "*",
    "?",     "\0", "\x1b[2J", "\n", "\u202e", "\u2028", "\ud800", "é", "e\u0301", "ß", "ẞ", "\U0001f600",
    "A", "a", "%41", "aB", "Ab", "AB", "é/a", "É/A", "é/A",
    "con", "CON", "Con.x", "nul", "LPT9", "com1.a", "console",
    "x" * 10_000, "x" * 10_001, "X" * 10_000, "é" * 300, "x" * 200, "x" * 201, "X" * 201, "x/" * 100,
]  # fmt: skip


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_writes_one_file_per_output(tmp_path):
    written = write_outputs(ARRAYS, tmp_path / "answers")
    assert files(tmp_path) == ["answers", "answers/labels.npy", "answers/scores.npy"]
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(np.load(written[name]), array)


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
    ids=lambda array: str(array.dtype),
)
def test_any_array_comes_back(tmp_path, array):
    path = write_outputs({"x": array}, tmp_path)["x"]
    found = read_array(str(path), None if array.dtype == object else array.dtype)
    assert found.tolist() == array.tolist()


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
    assert files(tmp_path) == []


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
    before = files(tmp_path)
    with pytest.raises(ArgumentError) as caught:
        write_outputs(ARRAYS, tmp_path / name)
    assert reason in caught.value.reason
    assert files(tmp_path) == before
    assert (tmp_path / "old" / "scores.npy").read_text() == "mine"


def test_an_output_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    def fails(file, array, *, allow_pickle):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", fails)
    with pytest.raises(OSError, match="No space left") as caught:
        write_outputs(ARRAYS, tmp_path / "answers")
    assert caught.value.filename == str(tmp_path / "answers" / "labels.npy")
    assert files(tmp_path) == []


def test_usual_names_stand_for_themselves():
    assert file_names(["labels", "output_0", "Identity", "a.b-c~d"]) == {
        name: f"{name}.npy" for name in ("labels", "output_0", "Identity", "a.b-c~d")
    }
    assert file_names(["block/scores:0"])["block/scores:0"] == "block%2Fscores%3A0.npy"


def test_every_name_has_a_file_of_its_own_anywhere(tmp_path):
    found = file_names(HOSTILE)
    assert list(found) == HOSTILE
    # What a file system may take for one: case, and how accents are written.
    assert len({file.lower() for file in found.values()}) == len(HOSTILE)
    for file in found.values():
        assert file.isascii()
        assert file.isprintable()
        assert len(file) <= 210
        assert not set(file) & set('\\/:*?"<>| ')
        assert not file.startswith(".")
        assert file.partition(".")[0].lower() not in {"con", "prn", "aux", "nul", "com1", "lpt9"}
        (tmp_path / file).write_text("there")
    assert {path.name for path in tmp_path.iterdir()} == set(found.values())
    assert {path.parent for path in output_paths(HOSTILE, Path("out")).values()} == {Path("out")}
    # The name of a file that is cut may be the name of another output.
    (long,) = file_names(["x" * 10_000]).values()
    assert len(set(file_names(["x" * 10_000, long.removesuffix(".npy")]).values())) == 2
