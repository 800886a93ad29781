"""A message about a part that is not installed says which command installs it, and that command exists."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from extremum.errors import EXTRAS, lacking, needed

ROOT = Path(__file__).parents[1]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
(OPTIONAL,) = re.findall(r"\[project\.optional-dependencies\]\n(.*?)\n\n", PROJECT, re.DOTALL)
PARTS = dict(re.findall(r"^(\w+) = \[(.*)\]$", OPTIONAL, re.MULTILINE))
TEXTS = [
    *(ROOT / "src").rglob("*.py"),
    *(ROOT / "native").rglob("*.rs"),
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / ".github").rglob("*.yml"),
    ROOT / "README.md",
    ROOT / "action.yml",
    ROOT / ".pre-commit-hooks.yaml",
]


def test_every_extra_that_is_named_anywhere_exists():
    named = {
        (extra.strip(), path.name)
        for path in TEXTS
        for extras in re.findall(r"(?:extremum|\.)\[([a-z][\w, ]*)\]'?", path.read_text(encoding="utf-8"))
        for extra in extras.split(",")
    }
    assert {each for each in named if each[0] not in PARTS} == set()
    assert {extra for extra, _ in named} == PARTS.keys()


def test_every_command_that_installs_is_written_once():
    """An extra in a message comes from the table, which is held to pyproject.toml below, or stands beside a runtime."""
    found = [
        path.relative_to(ROOT / "src" / "extremum").as_posix()
        for path in (ROOT / "src").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"pip install [^`]*['{]", line)
    ]
    assert sorted(found) == ["errors.py", "runtimes/__init__.py"]


@pytest.mark.parametrize("library", EXTRAS)
def test_an_extra_brings_its_library(library):
    listed = PARTS[EXTRAS[library]].lower().replace("-", "_")
    assert re.search(rf"[\"\[,]{library.lower()}\b", listed)
    assert needed(library) == f"pip install 'extremum[{EXTRAS[library]}]'"


def test_what_no_extra_brings_has_its_own_name():
    assert needed("cubed") == "pip install cubed"


def test_a_broken_installation_is_no_missing_library():
    error = ModuleNotFoundError("No module named 'extremum.gone'", name="extremum.gone")
    assert lacking("this", error) is error


FRONTENDS = {
    "import extremum.backend": ("extremum.backend needs onnx", "onnx", "extremum[onnx]"),
    "import extremum.check": ("extremum.check needs onnx", "onnx", "extremum[onnx]"),
    "import extremum.fix": ("extremum.fix needs onnx", "onnx", "extremum[onnx]"),
    "import extremum.conformance": ("extremum.conformance needs onnx", "onnx", "extremum[onnx]"),
    "import extremum.runtimes": ("extremum.runtimes needs onnx", "onnx", "extremum[onnx]"),
    "import extremum.onnxruntime": ("extremum.onnxruntime needs onnx", "onnx", "extremum[onnxruntime]"),
    "import extremum.directml as d; d.lower('')": ("extremum.directml.lower needs onnx", "onnx", "extremum[onnx]"),
    "from extremum.onnxruntime import InferenceSession": (
        "onnxruntime cannot be imported",
        "onnxruntime",
        "extremum[onnxruntime]",
    ),
    "import extremum.dask": ("extremum.dask needs dask", "dask", "extremum[dask]"),
    "import extremum.xarray": ("extremum.xarray needs xarray", "xarray", "extremum[xarray]"),
    "import extremum.cubed": ("extremum.cubed needs cubed", "cubed", "pip install cubed"),
}


@pytest.mark.parametrize("statement", FRONTENDS)
def test_a_frontend_says_what_it_needs(statement):
    reason, library, remedy = FRONTENDS[statement]
    code = f"import sys; sys.modules['{library}'] = None\ntry:\n    {statement}\n"
    code += "except ImportError as error:\n    print(type(error).__name__, error)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"DependencyError {reason}\n")
    assert remedy in said


MODULES = re.findall(
    r"^\| \[`(extremum\S*)`\]\(.*?\) \| .* \| (.*?) ?\|$",
    (ROOT / "docs" / "api.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


@pytest.mark.parametrize(("module", "needs"), MODULES)
def test_the_page_of_public_names_says_what_each_module_needs(module, needs):
    assert len(MODULES) == 12
    code = f"import sys\nsys.modules.update(dict.fromkeys({sorted(EXTRAS)}))\ntry:\n    import {module}\n"
    code += "except ImportError as error:\n    print(error.remedy)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    # What a part of a module needs stands behind the name of the part.
    assert said == ("" if not needs or needs.startswith("`lower`") else f"pip install '{needs.strip('`')}'")


INSTALL = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")


def test_the_page_about_installing_has_every_extra_and_what_it_brings():
    rows = dict(re.findall(r"^\| `([a-z]+)` \| (.*?) \|", INSTALL, re.MULTILINE))
    assert rows.keys() == PARTS.keys()
    for extra, packages in PARTS.items():
        for package in re.findall(r'"(?!extremum|tomli)(\w+)', packages):
            assert package.lower() in rows[extra].lower(), f"{extra} brings {package}"


def test_the_page_about_installing_has_every_variable():
    read = {
        name
        for folder in ("src/extremum", "native/kernels/src", "native/python/src", "native/onnxruntime/src")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".rs")
        for name in re.findall(r'"(EXTREMUM_\w+)"', path.read_text(encoding="utf-8"))
    }
    assert read == set(re.findall(r"^\| `(EXTREMUM_\w+)[=`]", INSTALL, re.MULTILINE))
