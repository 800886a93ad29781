"""Files are small: what is longer than 300 lines is here with its reason."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST = 300
TABLE = "a table of cases that are read side by side"
REASONS = {
    "src/extremum/dask/__init__.py": "signatures and docstrings of public functions; what they do is elsewhere",
    "src/extremum/directml/descriptions.py": "docstrings of public classes, one for each description of DirectML",
    "tests/conformance_mutants.py": TABLE,
    "tests/hostile_models.py": TABLE,
    "tests/mutants/python.py": TABLE,
    "tests/random_calls.py": "one class, whose calls are drawn and held against the reference in the same breath",
    "tests/test_array_file.py": TABLE,
    "tests/test_backend_refusals.py": TABLE,
    "tests/test_cli.py": TABLE,
    "tests/test_directml_acceptance.py": TABLE,
    "tests/test_directml_dispatch.py": TABLE,
    "tests/test_directml_formats.py": "one model, and what each format makes of it",
    "tests/test_directml_lowering.py": TABLE,
    "tests/test_external.py": TABLE,
    "tests/test_new_files.py": "programs that are killed at each step stand beside the tests that start them",
    "tests/test_onnxruntime_session.py": TABLE,
}


def sources():
    for folder in ("src", "native", "benchmarks", "tests", "docs", "examples"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".rs") and "target" not in path.parts:
                yield path


def lines(path):
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_file_is_long_without_a_reason():
    assert {path.relative_to(ROOT).as_posix() for path in sources() if lines(path) > MOST} - set(REASONS) == set()


@pytest.mark.parametrize("name", REASONS)
def test_no_reason_is_out_of_date(name):
    assert lines(ROOT / name) > MOST
