"""The picture in architecture.md, from the code: which package imports which, layer by layer.

    python docs/architecture.py    writes it anew

``make lint`` checks the same layers, from pyproject.toml.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"
_SOURCES = ROOT / "src" / "extremum"
_PICTURE = re.compile(r"(?<=```mermaid\n).*?(?=```)", re.DOTALL)


def layers() -> list[list[str]]:
    """Return the packages of each layer, the highest first."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (text_of_layers,) = re.findall(r"^layers = \[\n(.*?)^\]", text, re.DOTALL | re.MULTILINE)
    # The native module is below all of Python.
    return [*(line.split(" | ") for line in re.findall(r'"(.*?)"', text_of_layers)), ["_native"]]


def package(path: Path) -> str:
    """Return the package, or the module of the first level, to which a file belongs."""
    return path.relative_to(_SOURCES).parts[0].removesuffix(".py")


def imports() -> set[tuple[str, str]]:
    """Return who imports whom, among the packages and modules of the first level."""
    pairs = set()
    for path in sorted(_SOURCES.rglob("*.py")):
        pairs.update((package(path), name) for name in _names_in(ast.parse(path.read_text(encoding="utf-8"))))
    names = {name for layer in layers() for name in layer}
    return {(one, other) for one, other in pairs if one != other and {one, other} <= names}


def _names_in(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "extremum":
            yield from (alias.name for alias in node.names)
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.split(".")[1] for name in names if name.startswith("extremum."))


def picture() -> str:
    """Return the picture as Mermaid reads it."""
    lines = ["flowchart TD"]
    for index, layer in enumerate(layers()):
        row = [f'{_id(name)}["{name}"]' for name in layer]
        lines += (
            [f"  subgraph layer{index} [ ]", *(f"    {each}" for each in row), "  end"] if row[1:] else [f"  {row[0]}"]
        )
    lines += [f"  {_id(one)} --> {_id(other)}" for one, other in drawn()]
    return "\n".join([*lines, ""])


def table() -> str:
    """Return the same as a table in Markdown, for readers without Mermaid: a row for each package."""
    arrows = drawn()
    rows = ["| layer | package | imports |\n| --- | --- | --- |\n"]
    for number, layer in enumerate(layers(), 1):
        for name in layer:
            below = ", ".join(f"`{other}`" for one, other in arrows if one == name)
            rows.append(f"| {number} | `{name}` | {below} |\n")
    return "".join(rows)


def drawn() -> list[tuple[str, str]]:
    """Return the arrows of the picture: none where other arrows lead to the same place."""
    arrows = imports()
    below: dict[str, set[str]] = {}
    for layer in reversed(layers()):
        for name in layer:
            direct = {other for one, other in arrows if one == name}
            below[name] = direct.union(*(below[other] for other in direct))
    return [
        (one, other)
        for one, other in sorted(arrows)
        if not any(other in below[name] for start, name in arrows if start == one)
    ]


def _id(name: str) -> str:
    # ``graph`` and ``end`` are words of Mermaid.
    return f"m_{name.strip('_')}"


if __name__ == "__main__":
    PAGE.write_text(_PICTURE.sub(lambda _: picture(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
