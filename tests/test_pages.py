"""The documentation pages: their examples run, their links have targets, and their generated parts are fresh."""

import contextlib
import doctest
import importlib
import importlib.util
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

from extremum.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
OTHERS = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")}
EVERY_PAGE = {**PAGES, **OTHERS}
NEEDED = {
    "README.md": ("onnxruntime",),
    "arrays.md": ("ml_dtypes",),
    "large.md": ("distributed", "xarray", "zarr"),
    "tutorial.md": ("distributed", "onnxruntime"),
    "models.md": ("onnxruntime",),
    "onnxruntime.md": ("onnxruntime",),
}
# They take minutes or need a reader's files; tests/test_conformance*.py and tests/test_check*.py run the commands.
NOT_RUN = ("runtimes.md", "ci.md")


def blocks(text):
    """The blocks of code of a page: language and lines."""
    return re.findall(r"^```(\w+)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def shows_something(text):
    return ">>> " in text or re.search(r"^\$ extremum ", text, re.MULTILINE)


def run_block(language, lines, names):
    if language == "python":
        test = doctest.DocTestParser().get_doctest(lines, names, "the page", None, 0)
        report: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append, clear_globs=False)
        assert not report, "".join(report)
        return test.globs
    for command in re.findall(r"^\$ extremum ([^>\n]*)", lines, re.MULTILINE):
        with pytest.raises(SystemExit) as ended, contextlib.redirect_stdout(io.StringIO()):
            main(shlex.split(command))
        assert ended.value.code == 0, f"extremum {command}"
    return names


@pytest.mark.parametrize("page", ["README.md", *(name for name, text in PAGES.items() if shows_something(text))])
def test_what_a_page_shows_runs(page, tmp_path, monkeypatch):
    if page in NOT_RUN:
        return
    for library in NEEDED.get(page, ()):
        pytest.importorskip(library)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names = {}
    for language, lines in blocks(EVERY_PAGE[page]):
        if language in ("python", "console"):
            names = run_block(language, lines, names)


@pytest.mark.parametrize("page", EVERY_PAGE)
def test_every_file_that_a_page_names_is_there(page):
    text = EVERY_PAGE[page]
    named = re.findall(r"`((?:src|tests|native|benchmarks|examples|\.ci)/[\w./-]+)`", text)
    named += [f"tests/{name}" for name in re.findall(r"`(test_\w+\.py)`", text)]
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", EVERY_PAGE)
def test_every_row_of_a_table_has_the_cells_of_its_head(page):
    for table in re.findall(r"(?:^\|.*\n)+", EVERY_PAGE[page], re.MULTILINE):
        head, *rows = table.splitlines()
        for row in rows:
            assert len(re.findall(r"(?<!\\)\|", row)) == len(re.findall(r"(?<!\\)\|", head)), row


def program_of_docs(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_commands_is_fresh():
    assert program_of_docs("commands").page() == PAGES["commands.md"], "write the page anew: python docs/commands.py"


def test_the_picture_of_the_code_is_fresh():
    assert program_of_docs("architecture").picture() in PAGES["architecture.md"], "python docs/architecture.py draws it"


SOURCES = program_of_docs("sources")
PACKAGES = SOURCES.PACKAGES


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_package_has_a_page(package):
    page = f"api/{package.partition('.')[2] or 'arrays'}.md"
    assert f".. automodule:: {package}\n" in PAGES[page]
    assert f"[`{package}`]({page})" in PAGES["api.md"]


def test_every_page_of_a_package_is_one_of_a_public_package():
    pages = {name.removeprefix("api/").removesuffix(".md") for name in PAGES if name.startswith("api/")}
    assert {f"extremum.{page}" for page in pages - {"arrays", "native"}} == set(PACKAGES) - {"extremum"}
