"""The pages of the documentation: what they show runs, what they link to is there, and what is made is fresh."""

import doctest
import importlib
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sysconfig
import types
from pathlib import Path

import pytest
from click.testing import CliRunner

import extremum
from extremum.cli.program import program

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
README = (ROOT / "README.md").read_text(encoding="utf-8")
# What is read in the root of the repository, and shown by the site too.
BESIDE = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md", "security.md": "SECURITY.md"}
NEEDED = {
    "README.md": ("onnxruntime",),
    "arrays.md": ("ml_dtypes",),
    "large.md": ("distributed", "xarray", "zarr"),
    "tutorial.md": ("distributed", "onnxruntime"),
    "models.md": ("onnxruntime",),
    "onnxruntime.md": ("onnxruntime",),
}
# Minutes long, or about files that a reader has; tests/test_conformance*.py and tests/test_check*.py run the commands.
NOT_RUN = ("runtimes.md", "ci.md")


def blocks(text):
    """The blocks of code of a page: language and lines."""
    return re.findall(r"^```(\w+)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def shows_something(text):
    return ">>> " in text or re.search(r"^\$ extremum ", text, re.MULTILINE)


def run_block(language, lines, names, folder):
    if language == "python":
        test = doctest.DocTestParser().get_doctest(lines, names, "the page", None, 0)
        report: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.append, clear_globs=False)
        assert not report, "".join(report)
        return test.globs
    script = shutil.which("extremum", path=sysconfig.get_path("scripts"))
    for command in re.findall(r"^\$ extremum ([^>\n]*)", lines, re.MULTILINE):
        done = subprocess.run([script, *shlex.split(command)], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"extremum {command}: {done.stderr}"
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
    for language, lines in blocks(README if page == "README.md" else PAGES[page]):
        if language in ("python", "console"):
            names = run_block(language, lines, names, tmp_path)


def test_pages_that_show_something_are_found():
    shown = {name for name, text in PAGES.items() if shows_something(text)}
    assert shown > {"index.md", "tutorial.md", "arrays.md", "coming-from.md", "models.md", "large.md", "directml.md"}
    assert {language for text in PAGES.values() for language, _ in blocks(text)} <= {
        *("python", "console", "text", "onnx", "toml", "yaml", "cpp", "csharp", "mermaid")
    }


def contents(text):
    """What the tables of contents of a page list."""
    listed = re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.DOTALL)
    return [f"{line}.md" for table in listed for line in table.split("\n") if line and not line.startswith(":")]


def test_every_page_is_listed_once():
    listed = [name for text in PAGES.values() for name in contents(text)]
    assert sorted(listed) == sorted(PAGES.keys() - {"index.md"})


def anchors(text):
    """The places of a page, as Sphinx and GitHub name them after the headings."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page):
    for link in re.findall(r"\]\((?!https?://)([^)\s]+)\)", PAGES[page]):
        name, _, place = link.partition("#")
        path = (DOCS / page).parent / name if name else DOCS / page
        assert path.exists(), link
        if place:
            assert place in anchors(path.read_text(encoding="utf-8")), link


NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


# The help of a command speaks of two that it compares.
@pytest.mark.parametrize("page", ["README.md", *(page for page in PAGES if page != "commands.md")])
def test_a_number_of_runtimes_is_that_of_the_report_card(page):
    runtimes = len(json.loads((DOCS / "conformance.json").read_text("utf-8"))["runtimes"])
    text = README if page == "README.md" else PAGES[page]
    assert set(re.findall(rf"\b({'|'.join(NUMBERS)}|\d+) runtimes\b", text)) <= {NUMBERS[runtimes]}


QUESTIONS = {
    "how NaN is treated": "arrays.md#nan",
    "how to make a model run that is refused": "models.md#make-a-refused-model-run",
    "how to process an array of 60 GB": "large.md",
    "how fast it is on my kind of work": "performance.md#which-kind-of-case-is-yours",
    "what changes from NumPy, PyTorch, xarray and others": "coming-from.md",
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_start_page_answers_in_one_click(question):
    (row,) = (line for line in PAGES["index.md"].splitlines() if line.startswith(f"| {question} |"))
    assert f"]({QUESTIONS[question]})" in row


@pytest.mark.parametrize("page", [*PAGES, *BESIDE.values(), "README.md"])
def test_every_row_of_a_table_has_as_many_cells(page):
    text = PAGES[page] if page in PAGES else (ROOT / page).read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        rows = table.splitlines()
        cells = [len(re.findall(r"(?<!\\)\|", row)) for row in rows]
        assert set(cells) == {cells[0]}, rows[cells.index(next(count for count in cells if count != cells[0]))]


def commands(command, path=()):
    yield path
    for name in getattr(command, "list_commands", lambda _: ())(None):
        yield from commands(command.get_command(None, name), (*path, name))


@pytest.mark.parametrize("path", list(commands(program)), ids=lambda path: " ".join(("extremum", *path)))
def test_the_help_of_a_command_is_on_the_page(path):
    shown = CliRunner().invoke(program, [*path, "--help"], prog_name="extremum", terminal_width=78).output.strip()
    assert f"```text\n{shown}\n```" in PAGES["commands.md"], "write the page anew: python docs/commands.py"


def program_of_docs(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_commands_is_fresh():
    assert program_of_docs("commands").page() == PAGES["commands.md"], "write the page anew: python docs/commands.py"


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


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_a_source(package):
    """That it is on a page with a link there is what the build of the site holds, in docs/conf.py."""
    for library in {"extremum.dask": ["dask"], "extremum.xarray": ["xarray"]}.get(package, []):
        pytest.importorskip(library)
    module = importlib.import_module(package)
    assert set(module.__all__) <= set(dir(module))
    for name in set(module.__all__) - {"__version__", "errors"}:
        if package == "extremum" and name in NATIVE:
            continue
        where, (kind, first, last) = SOURCES.place(package, name)
        lines = Path(importlib.import_module(where).__file__).read_text(encoding="utf-8").splitlines()[first - 1 : last]
        assert kind in ("def", "class", "other")
        assert lines
        if kind == "other":
            assert SOURCES.said(package, name)


NATIVE = [name for name in extremum.__all__ if isinstance(getattr(extremum, name), types.BuiltinFunctionType)]


@pytest.mark.parametrize("name", NATIVE)
def test_a_native_function_is_linked_to_its_rust(name):
    assert len(NATIVE) > 5
    (line,) = (line for line in (DOCS / "conf.py").read_text(encoding="utf-8").splitlines() if f'"{name}"' in line)
    (file,) = re.findall(r'"(\w+)-rs"', line)
    assert f"## {file}.rs\n" in PAGES["api/native.md"]
    assert re.search(rf"\b{name}\b", (ROOT / "native" / "python" / "src" / f"{file}.rs").read_text(encoding="utf-8"))
