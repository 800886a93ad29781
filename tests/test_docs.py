"""Every example in the docstrings runs; the README, the picture of the code and the version are fresh."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import extremum
from commands import printed

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MODULES = sorted(
    module.name for module in pkgutil.walk_packages(extremum.__path__, "extremum.") if module.name != "extremum._native"
)


def run_doctest(test: doctest.DocTest) -> None:
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_run(name):
    needed = {
        "extremum.cubed": "cubed",
        "extremum.dask": "dask",
        "extremum.gpu": "triton",
        "extremum.xarray": "xarray",
    }
    for start, library in needed.items():
        if name.startswith(start):
            pytest.importorskip(library)
    for test in doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name)):
        run_doctest(test)


ANSWERS = [
    pytest.param(block, id=block.partition("\n")[0])
    for page in sorted((ROOT / "tests" / "answers").glob("*.txt"))
    for block in re.split(r"\n(?=extremum\.\S+\n\n>>>)", page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("block", ANSWERS)
def test_what_is_not_public_answers_as_written_down(block):
    name = block.partition("\n")[0]
    test = doctest.DocTestParser().get_doctest(block, {}, name, None, None)
    assert test.examples
    run_doctest(test)


@pytest.mark.parametrize(
    "name", sorted({name for name in extremum.__all__ if name.islower()} - {"__version__", "errors"})
)
def test_a_public_function_has_an_example_and_it_runs(name):
    docstring = getattr(extremum, name).__doc__
    test = doctest.DocTestParser().get_doctest(docstring, {}, name, None, None)
    assert test.examples
    run_doctest(test)


PUBLIC = [
    pytest.param(getattr(importlib.import_module(f"extremum.{package}"), name), id=f"{package}.{name}")
    for package in ("backend", "check", "dask", "directml", "fix", "onnxruntime", "xarray")
    for name in importlib.import_module(f"extremum.{package}").__all__
    if name not in ("ENGINES", "REWRITES", "RULES", "Runtime")
]


@pytest.mark.parametrize("public", PUBLIC)
def test_every_public_class_and_function_has_an_example(public):
    # That they run is tested above, module by module.
    assert doctest.DocTestParser().get_examples(public.__doc__)


def test_the_table_of_the_readme_is_what_extremum_ops_prints():
    assert printed("ops", "--markdown") in README, "replace the table by the output of: extremum ops --markdown"


@pytest.mark.parametrize(("name", "line"), [("Cargo.toml", 'version = "{}"'), ("CITATION.cff", "version: {}")])
def test_the_version_is_one_everywhere(name, line):
    assert line.format(extremum.__version__) in (ROOT / name).read_text(encoding="utf-8").splitlines()
