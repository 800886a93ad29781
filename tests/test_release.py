"""The version is one everywhere."""

from pathlib import Path

import pytest

import extremum

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("name", "line"), [("Cargo.toml", 'version = "{}"'), ("CITATION.cff", "version: {}")])
def test_the_version_is_one_everywhere(name, line):
    assert line.format(extremum.__version__) in (ROOT / name).read_text(encoding="utf-8").splitlines()
