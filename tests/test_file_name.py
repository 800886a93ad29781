"""Every name of an output has a file of its own, on every file system."""

import pytest

from extremum.cli.new_files import file_names

HOSTILE = [
    "", ".", "..", "../a", "a/b", "a\\b", "a%2Fb", "a:0", "a b", "a+b", ".extremum-0123456789abcdef", "~", "-", "*",
    "?",     "\0", "\x1b[2J", "\n", "\u202e", "\u2028", "\ud800", "é", "e\u0301", "ß", "ẞ", "\U0001f600",
    "A", "a", "%41", "aB", "Ab", "AB", "é/a", "É/A", "é/A",
    "con", "CON", "Con.x", "nul", "LPT9", "com1.a", "console",
    "x" * 10_000, "x" * 10_001, "X" * 10_000, "é" * 300, "x" * 200, "x" * 201, "X" * 201, "x/" * 100,
]  # fmt: skip


def test_usual_names_stand_for_themselves():
    assert file_names(["labels", "output_0", "Identity", "a.b-c~d"]) == {
        name: f"{name}.npy" for name in ("labels", "output_0", "Identity", "a.b-c~d")
    }
    assert file_names(["block/scores:0"])["block/scores:0"] == "block%2Fscores%3A0.npy"


def test_no_two_names_share_a_file():
    files = file_names(HOSTILE)
    assert list(files) == HOSTILE
    # What a file system may take for one: case, and how accents are written.
    assert len({file.lower() for file in files.values()}) == len(HOSTILE)


@pytest.mark.parametrize("name", HOSTILE)
def test_every_file_can_be_made_anywhere(name, tmp_path):
    file = file_names(HOSTILE)[name]
    assert file.isascii()
    assert file.isprintable()
    assert len(file) <= 210
    assert not set(file) & set('\\/:*?"<>| ')
    assert not file.startswith(".")
    assert file.partition(".")[0].lower() not in {"con", "prn", "aux", "nul", "com1", "lpt9"}
    (tmp_path / file).write_text("there")
    assert [path.name for path in tmp_path.iterdir()] == [file]


def test_the_name_of_a_cut_file_is_no_name_of_an_output():
    long = "x" * 10_000
    stem = file_names([long])[long].removesuffix(".npy")
    files = file_names([long, stem])
    assert len(set(files.values())) == 2
