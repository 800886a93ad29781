"""Sphinx's settings for the site of these pages: `make docs`.

The pages are the Markdown files of this folder, which people read in the repository too. The site differs in four
points: it has CHANGELOG, CONTRIBUTING and SECURITY, the report card lists the differences of each runtime, a table
stands for the picture of the packages, and functions of the native module have a link to their Rust source.
"""

from __future__ import annotations

import enum
import importlib
import importlib.util
import json
import re
from collections.abc import Iterable
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer
from sphinx.util import logging

import extremum
from extremum import functions
from extremum.conformance import card

ROOT = Path(__file__).resolve().parents[1]

project = "extremum"
author = "the extremum authors"
project_copyright = "the extremum authors, Apache-2.0"
version = release = extremum.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "sphinx.ext.linkcode"]
root_doc = "index"
default_role = "code"

myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
# No docstrings of other libraries' classes.
autodoc_inherit_docstrings = False
autodoc_default_options = {"members": True, "no-value": True}
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
viewcode_line_numbers = True

html_theme = "furo"
html_title = f"extremum {release}"
html_static_path = ["site"]
html_favicon = "site/favicon.svg"
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "tango"
pygments_dark_style = "github-dark"

_ROOT_FILES = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md", "security": "SECURITY.md"}
_PAGES = {f"../{file}": f"{page}.md" for page, file in _ROOT_FILES.items()}


def _as_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Turn a file of the repository into a page of the site."""
    text = source[0]
    if page in _ROOT_FILES:
        # Their links start at the root of the repository.
        text = (ROOT / _ROOT_FILES[page]).read_text(encoding="utf-8")
        text = re.sub(r"\]\(docs/", "](", text)
        text = re.sub(r"\]\((CHANGELOG|CONTRIBUTING|SECURITY)\.md", lambda link: f"]({link[1].lower()}.md", text)
    if page == "conformance":
        text = card.markdown(json.loads((ROOT / "docs" / "conformance.json").read_bytes()), "charts/conformance.png")
    for link, target in _PAGES.items():
        text = text.replace(f"]({link}", f"]({target}")
    if page.startswith("api/"):
        text += _constants(f"extremum.{page.removeprefix('api/')}")
    # In the repository a link shows the name of a file; on the site it shows the title of the page.
    text = re.sub(r"\[(?:docs/)?[\w-]+\.md\]\(([\w/-]+\.md(?:#[\w-]+)?)\)", r"[](\1)", text)
    source[0] = re.sub(r"```mermaid\n.*?```\n", lambda _: _packages(), text, flags=re.DOTALL)


def _constants(package: str) -> str:
    """Return the constants that a package imports from its modules; autodoc leaves them out."""
    parts = []
    for each, name in sources.names():
        if each == package and sources.is_constant(getattr(importlib.import_module(package), name)):
            place = sources.place(package, name)
            if place[0] != package:
                parts.append(f".. py:data:: {name}\n   :module: {package}\n\n   {sources.docstring(package, name)}\n")
    return "\n```{eval-rst}\n" + "\n".join(parts) + "```\n" if parts else ""


def _load(name: str) -> Any:
    """Return a program of this folder as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sources = _load("sources")


def _packages() -> str:
    """Return the picture of architecture.md as a table: drawing it would need a program in the reader's browser."""
    return str(_load("architecture").table())


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Return the link to the Rust source of a native function; viewcode links Python."""
    function = getattr(extremum, info["fullname"], None) if info["module"] == "extremum" else None
    return f"native.html#{_RUST[info['fullname']]}" if isinstance(function, BuiltinFunctionType) else None


_RUST = {
    **dict.fromkeys(functions.OVER_AXES, "reductions-rs"),
    **dict.fromkeys(functions.of_kind(functions.Kind.SELECTION), "top-k-rs"),
    **dict.fromkeys(functions.of_kind(functions.Kind.ELEMENTWISE), "elementwise-rs"),
    **dict.fromkeys(("set_kept_memory", "get_kept_memory"), "memory-rs"),
    **dict.fromkeys(("set_num_threads", "get_num_threads"), "settings-rs"),
}


def _without_modules(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Leave out the docstring of a module: it is for readers of the code."""
    if what == "module":
        lines.clear()


def _keep_enumerators(app: Sphinx, what: str, name: str, thing: object, skip: bool, options: object) -> bool | None:
    """Show enumerators; the docstring of the class describes other attributes."""
    return False if isinstance(thing, enum.Enum) else None


def _module_of(app: Sphinx, package: str, name: str) -> str | None:
    place = sources.place(package, name) if (package, name) in sources.names() else None
    return None if place is None else place[0]


def _source_of(app: Sphinx, module: str) -> tuple[str, dict[str, Any]] | None:
    """Return the source of a module with the places of the public names that have no ``def`` of their own."""
    if not (places := sources.places(module)):
        return None
    analyzer = ModuleAnalyzer.for_module(module)
    return analyzer.code, {**places, **analyzer.find_tags()}


def _check_names(app: Sphinx, error: Exception | None) -> None:
    """Warn of a public name without a page or a link to its source; a warning ends the build."""
    objects = {name for name, *_ in app.env.get_domain("py").get_objects()}
    used = app.env._viewcode_modules  # type: ignore[attr-defined]
    for package, name in sources.names():
        place = sources.place(package, name)
        if f"{package}.{name}" not in objects:
            logging.getLogger(__name__).warning("%s.%s is on no page", package, name)
        elif place is not None and name not in used[place[0]][2]:
            logging.getLogger(__name__).warning("%s.%s has no link to its source", package, name)


def _without_source(app: Sphinx) -> Iterable[tuple[str, dict[str, Any], str]]:
    """Drop the modules without Python source from viewcode's list: the native one."""
    modules = app.env._viewcode_modules  # type: ignore[attr-defined]
    for name in [name for name, entry in modules.items() if not entry]:
        del modules[name]
    return ()


def _correct_links(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Link each name in a source to its own page: viewcode assumes one package for all names of a module."""
    if page.startswith("_modules/"):
        context["body"] = re.sub(
            r"(/api/(\w+)\.html#)extremum\.\w+\.",
            lambda link: f"{link[1]}extremum.{link[2]}." if f"extremum.{link[2]}" in sources.PACKAGES else link[0],
            context["body"],
        )


def setup(app: Sphinx) -> None:
    """Connect the functions above to Sphinx."""
    app.connect("source-read", _as_page)
    app.connect("autodoc-process-docstring", _without_modules)
    app.connect("autodoc-skip-member", _keep_enumerators)
    app.connect("viewcode-follow-imported", _module_of)
    app.connect("viewcode-find-source", _source_of)
    app.connect("build-finished", _check_names)
    app.connect("html-page-context", _correct_links)
    app.connect("html-collect-pages", _without_source, priority=100)  # before viewcode's own
    # There is no lexer for ONNX's text form.
    app.add_lexer("onnx", TextLexer)
