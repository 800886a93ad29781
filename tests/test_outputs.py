"""Outputs are written all or not at all, and never over a file."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from extremum.cli.inputs import read_array
from extremum.cli.new_files import output_paths, write_outputs
from extremum.errors import ArgumentError

ARRAYS = {"labels": np.arange(3), "scores": np.ones((2, 2), np.float32)}


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_writes_one_file_per_output_into_a_new_folder(tmp_path):
    written = write_outputs(ARRAYS, tmp_path / "answers")
    assert files(tmp_path) == ["answers", "answers/labels.npy", "answers/scores.npy"]
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(np.load(written[name]), array)


def test_leaves_other_files_of_the_folder_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    write_outputs(ARRAYS, tmp_path)
    assert files(tmp_path) == ["labels.npy", "notes.txt", "scores.npy"]


def test_bfloat16_survives_the_round_trip(tmp_path):
    expected = np.arange(4).astype(ml_dtypes.bfloat16)
    path = write_outputs({"x": expected}, tmp_path)["x"]
    np.testing.assert_array_equal(read_array(str(path), expected.dtype), expected)


def test_no_output_name_leaves_the_folder_or_meets_another():
    names = ["a/b", "a%2Fb", "../a", "a:0", "..", "a b"]
    paths = output_paths(names, Path("out"))
    assert len(set(paths.values())) == len(names)
    assert {path.parent for path in paths.values()} == {Path("out")}


def test_refuses_to_overwrite(tmp_path):
    (tmp_path / "scores.npy").write_text("mine")
    with pytest.raises(ArgumentError) as caught:
        write_outputs(ARRAYS, tmp_path)
    assert caught.value.reason == f"'{tmp_path / 'scores.npy'}' already exists"
    assert files(tmp_path) == ["scores.npy"]
    assert (tmp_path / "scores.npy").read_text() == "mine"


def test_refuses_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "answers").write_text("mine")
    with pytest.raises(ArgumentError, match="is a file, not a folder"):
        write_outputs(ARRAYS, tmp_path / "answers")


def test_refuses_a_folder_in_no_folder(tmp_path):
    with pytest.raises(ArgumentError, match=r"cannot create the folder .*: there is no folder"):
        write_outputs(ARRAYS, tmp_path / "no" / "answers")


@pytest.mark.parametrize("value", [[np.ones(2)], None, np.array(["a", None], dtype=object)])
def test_refuses_what_is_no_array_of_numbers(tmp_path, value):
    with pytest.raises(ArgumentError, match=r"output 'x' (is not a tensor|holds neither numbers nor text)"):
        write_outputs({"labels": np.ones(2), "x": value}, tmp_path / "answers")
    assert files(tmp_path) == []


def test_an_output_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    def fails(file, array, *, allow_pickle):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", fails)
    with pytest.raises(OSError, match="No space left") as caught:
        write_outputs(ARRAYS, tmp_path / "answers")
    assert caught.value.filename == str(tmp_path / "answers" / "labels.npy")
    assert files(tmp_path) == []


def test_refuses_a_link_to_nothing(tmp_path):
    (tmp_path / "answers").symlink_to("nowhere")
    with pytest.raises(ArgumentError, match="is a link to nothing, not a folder"):
        write_outputs(ARRAYS, tmp_path / "answers")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "scores.npy").symlink_to("nowhere")
    with pytest.raises(ArgumentError, match=r"scores\.npy' already exists"):
        write_outputs(ARRAYS, tmp_path / "folder")
    assert files(tmp_path) == ["answers", "folder", "folder/scores.npy"]


def test_what_a_killed_run_left_does_not_stop_the_next(tmp_path):
    left = tmp_path / ".extremum-0123456789abcdef"
    left.mkdir()
    (left / "labels.npy").write_text("half")
    write_outputs(ARRAYS, tmp_path / "answers")
    assert files(tmp_path) == ["answers", "answers/labels.npy", "answers/scores.npy"]


@pytest.mark.parametrize("array", [np.asfortranarray(np.arange(6).reshape(2, 3)), np.zeros((0, 3)), np.float32(2)])
def test_any_layout_is_written(tmp_path, array):
    path = write_outputs({"x": array}, tmp_path)["x"]
    np.testing.assert_array_equal(np.load(path), array)
