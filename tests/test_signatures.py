"""One description of the options: the native functions, their types, Dask, xarray and cubed have the same ones."""

import ast
import inspect
import runpy
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import extremum
from extremum import _native
from extremum.errors import ArgumentTypeError
from extremum.functions import FUNCTIONS
from refusal import error_of

STUB_PATH = Path(extremum.__file__).with_name("_native.pyi")
STUB = ast.parse(STUB_PATH.read_text("utf-8"))
OTHERS = {
    "extremum.dask": {"split_every"},
    "extremum.cubed": set(),
    "extremum.xarray": {"dim", "as_dict", "fill_value"},
}


FRONT_ENDS = [
    (module, name)
    for module in OTHERS
    for name in FUNCTIONS
    if module != "extremum.cubed" or name in ("argmax", "argmin")
]


def front_end(module, name):
    library = module.partition(".")[2]
    pytest.importorskip(library, reason=f"{library} is not installed")
    return getattr(import_module(module), name)


def keywords(function):
    return {p.name: p.default for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY}


def typed(name):
    """Return the keywords that the types of a native function name, each with its annotation."""
    same_as = {
        node.targets[0].id: node.value.id
        for node in STUB.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
    }
    types = runpy.run_path(str(STUB_PATH))
    result = []
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef) and node.name == same_as.get(name, name):
            names = {each.arg for each in node.args.kwonlyargs}
            if node.args.kwarg:
                names |= set(types[node.args.kwarg.annotation.slice.id].__annotations__)
            result.append(names)
    return result


@pytest.mark.parametrize("name", FUNCTIONS)
def test_types_name_every_keyword_of_the_native_function(name):
    overloads = typed(name)
    assert overloads
    assert set.union(*overloads) == set(keywords(getattr(_native, name)))


@pytest.mark.parametrize(("module", "name"), FRONT_ENDS)
def test_a_front_end_has_the_options_and_defaults_of_the_native_function(module, name):
    function = front_end(module, name)
    native = keywords(getattr(_native, name))
    own = keywords(function)
    left_out = native.keys() - own.keys()
    assert left_out == ({"out"} & native.keys() if module == "extremum.xarray" else set())
    assert own.keys() - native.keys() <= OTHERS[module]
    assert {key: own[key] for key in own.keys() & native.keys()} == {
        key: each for key, each in native.items() if key not in left_out
    }
    assert function.__name__ == name
    assert f"{module}.{name}" in function.__doc__


@pytest.mark.parametrize(("module", "name"), FRONT_ENDS)
def test_a_docstring_describes_every_parameter_once(module, name):
    function = front_end(module, name)
    section = inspect.cleandoc(function.__doc__).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    names = [line.partition(" : ")[0].split(", ") for line in section.splitlines() if not line.startswith(" ")]
    described = [each.lstrip("*") for several in names for each in several]
    assert sorted(described) == sorted(inspect.signature(function).parameters)


OTHER_WORDS = {
    "dim": "axis",
    "dims": "axis",
    "axes": "axis",
    "keepdim": "keepdims",
    "skipna": "nan_policy='omit', which leaves out NaN and what is missing",
    "initial": "default, which is the answer where no element takes part",
    "largest": "mode='smallest' for the smallest; the largest are found without it",
    "n": "k",
    "mask": "where, which is True where an element takes part",
    "skip": "",
}


@pytest.mark.parametrize(("module", "name"), [*(("extremum", name) for name in FUNCTIONS), *FRONT_ENDS])
def test_a_word_of_another_library_is_answered_with_ours(module, name):
    function = getattr(extremum, name) if module == "extremum" else front_end(module, name)
    known = inspect.signature(function).parameters
    words = {("axis" if ours == "axis" else theirs): ours for theirs, ours in OTHER_WORDS.items()}
    words = {**words, "axis": "dim"} if module == "extremum.xarray" else OTHER_WORDS
    inputs = (np.ones(3), [1, 2]) if module == "extremum" else (1,)
    for (theirs, ours), x in product((each for each in words.items() if each[0] not in known), inputs):
        error = error_of(ArgumentTypeError, function, x, **{theirs: 0, "out": None} if "out" in known else {theirs: 0})
        assert error.reason == f"{name}() got an unexpected keyword argument {theirs!r}"
        assert error.remedy.startswith(remedy_of(theirs, ours, known))


def remedy_of(theirs, ours, known):
    if ours and ours.partition(",")[0].partition("=")[0] in known:
        return f"use {ours}"
    if theirs == "keepdim" and "k" in known:
        return "leave it out: the axis always stays"
    # hardmax keeps its axes and needs no default.
    return "the keywords are "


def test_what_lint_checks_the_types_of_runs():
    front_end("extremum.dask", "max")
    front_end("extremum.xarray", "max")
    runpy.run_path(str(Path(__file__).parent / "support" / "typed_uses.py"))


@pytest.mark.parametrize("name", ["argmax", "hardmax", "maximum", "minmax"])
def test_what_a_front_end_lacks_is_not_among_the_keywords(name):
    with pytest.raises(ArgumentTypeError, match=r"unexpected keyword argument 'out'") as caught:
        front_end("extremum.xarray", name)(1, out=None)
    assert "out" not in caught.value.remedy.replace(",", "").split()
