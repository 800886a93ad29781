"""A few of the mutants of `make test-the-tests`; and all of them are stated of lines that exist."""

import pytest

from mutants import ROOT, Mutant, python, rust
from mutants.suite import Package, Suite

SAMPLE = [
    mutant
    for mutant in python.MUTANTS
    if mutant.says
    in {
        "Hardmax 11 looks along the last axis by default",
        "an axis may equal the rank",
        "keepdims=0 keeps the dimensions of an inferred shape",
        "a coerced Hardmax looks along one axis",
    }
]


@pytest.mark.parametrize("mutant", [*python.MUTANTS, *rust.MUTANTS], ids=lambda mutant: mutant.says)
def test_a_mutant_is_stated_of_a_line_that_is_there(mutant, tmp_path):
    copy = tmp_path / "copy"
    copy.write_bytes((ROOT / mutant.path).read_bytes())
    mutant.plant(copy)
    if mutant.path.endswith(".py"):
        compile(copy.read_text(encoding="utf-8"), mutant.path, "exec")
    assert all((ROOT / "tests" / name).exists() for name in mutant.tests)


@pytest.mark.parametrize("mutant", SAMPLE, ids=lambda mutant: mutant.says)
def test_a_mutant_does_not_survive(mutant, tmp_path):
    assert not Suite(tmp_path).plant(mutant)


def test_what_does_no_harm_survives(tmp_path):
    harmless = Mutant("a comment", "src/extremum/lower.py", "import numpy as np\n", "import numpy as np  # a\n", ())
    suite = Suite(tmp_path)
    package = Package(suite)
    package.plant(harmless)
    assert suite.passes(package, ["test_lower.py"])
