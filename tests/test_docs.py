"""Every example in the docstrings runs, the README is complete, and what it names is there."""

import doctest
import importlib
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import extremum
from extremum import catalogue

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
        "extremum.xarray": "xarray",
        "extremum.large.": "xarray",
        "extremum.large.zarr": "zarr",
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
    assert catalogue.markdown() in README, "replace the table by the output of: extremum ops --markdown"


def test_the_table_of_the_page_about_models_is_fresh():
    onnx_table, _ = catalogue.markdown().split("\n\n")
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert onnx_table in page, "replace the table by the first one of: extremum ops --markdown"


def test_the_readme_shows_first_things_first():
    lines = README.splitlines()
    assert len(lines) <= 100
    first_screen = "\n".join(lines[:50])
    for part in (
        "![",
        "pip install",
        "make demo",
        "make test",
        ">>> ex.argmax",
        "backend.prepare",
        "InferenceSession(",
    ):
        assert part in first_screen


def test_the_package_page_has_absolute_links(tmp_path):
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    script = ROOT / ".ci" / "package-page"
    subprocess.run([sys.executable, script, "https://example.org/a/b", "v1"], cwd=tmp_path, check=True)
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((?!https?://)", page) == []
    assert "(https://example.org/a/b/blob/v1/docs/arrays.md)" in page
    assert "(https://example.org/a/b/raw/v1/docs/charts/speed.png)" in page
    project = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    assert '\n\n[project.urls]\nRepository = "https://example.org/a/b"\n' in project
    assert project.replace("[project.urls]", "").index("Changelog = ") < project.index(
        "[project.optional-dependencies]"
    )


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_every_file_and_target_that_is_named_exists(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for link in re.findall(r"\]\((?!https?://|#)([^)#]+)", text):
        assert (ROOT / link).exists(), link
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make ([a-z-]+)`", text):
        assert re.search(rf"^{target}:", makefile, re.M), target
    for path in re.findall(r"`((?:src|native|tests|docs|examples)/[\w./-]*)`", text):
        assert (ROOT / path).exists(), path
