"""Places of the public names that Sphinx does not find, because no ``def`` or ``class`` has that name.

These are functions that other functions make, methods that are public functions, classes under another name, and
constants.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import sys
from pathlib import Path
from types import BuiltinFunctionType, ModuleType
from typing import Any

PACKAGES = (
    "extremum",
    *(
        f"extremum.{name}"
        for name in (
            *("backend", "check", "conformance", "dask", "directml", "errors", "fix", "onnxruntime", "operations"),
            *("runtimes", "xarray"),
        )
    ),
)

# Names that have another page, or one of their own.
_ELSEWHERE = {("extremum", "errors"), ("extremum", "__version__"), ("extremum.check", "Runtime")}

Lines = tuple[str, int, int]
"""Kind (viewcode's word), first line and last line."""


def names() -> list[tuple[str, str]]:
    """Return every public name with its package."""
    public = [(package, name) for package in PACKAGES for name in importlib.import_module(package).__all__]
    return [each for each in public if each not in _ELSEWHERE]


def is_constant(value: object) -> bool:
    """Whether a public name is a value or a type alias, whose docstring Sphinx does not find."""
    return not callable(value) or getattr(value, "__module__", "").partition(".")[0] in (
        "typing",
        "collections",
        "types",
    )


@functools.cache
def place(package: str, name: str) -> tuple[str, Lines] | None:
    """Return the module that defines a name, and its lines there; None for a native function."""
    value = getattr(importlib.import_module(package), name)
    if isinstance(value, BuiltinFunctionType):
        return None
    if is_constant(value):
        module, node = _assignment(name, value)
        return module, ("other", node.lineno, node.end_lineno)
    function = inspect.unwrap(getattr(value, "__func__", value))
    module = function.__module__
    nodes = list(_definitions(module))
    if code := getattr(function, "__code__", None):
        matches = [node for node in nodes if _first(node) <= code.co_firstlineno <= node.end_lineno]
    else:
        matches = [node for node in nodes if node.name == value.__name__]
    kind = "class" if isinstance(value, type) else "def"
    return module, (kind, _first(matches[-1]), matches[-1].end_lineno)


def places(module: str) -> dict[str, Lines]:
    """Return the public names that a module defines, with their lines."""
    all_places = [(name, place(package, name)) for package, name in names()]
    return {name: at[1] for name, at in all_places if at is not None and at[0] == module}


def docstring(package: str, name: str) -> str:
    """Return the docstring below the assignment of a constant."""
    module, node = _assignment(name, getattr(importlib.import_module(package), name))
    body = _tree(module).body
    below = body[body.index(node) + 1]
    if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) and isinstance(below.value.value, str):
        return below.value.value
    raise ValueError(f"{module}.{name} has no docstring below it")


def _first(node: Any) -> int:
    """Return the first line of a definition, its decorators included."""
    return int(min([node.lineno, *(each.lineno for each in node.decorator_list)]))


def _definitions(module: str) -> list[Any]:
    """Return functions and classes of a module, and methods after their class."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    definitions: list[Any] = []
    body = _tree(module).body
    for node in body + [each for branch in body if isinstance(branch, ast.If) for each in branch.body]:
        if isinstance(node, kinds):
            definitions.append(node)
            definitions += [each for each in node.body if isinstance(node, ast.ClassDef) and isinstance(each, kinds)]
    return definitions


def _assignment(name: str, value: object) -> tuple[str, Any]:
    for module, loaded in sorted(sys.modules.items()):
        if module.partition(".")[0] == "extremum" and getattr(loaded, name, None) is value and _has_source(loaded):
            for node in _tree(module).body:
                targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                    return module, node
    raise ValueError(f"nothing is assigned to {name}")


def _has_source(module: ModuleType) -> bool:
    return (module.__file__ or "").endswith(".py")


@functools.cache
def _tree(module: str) -> ast.Module:
    return ast.parse(Path(importlib.import_module(module).__file__ or "").read_text(encoding="utf-8"))
