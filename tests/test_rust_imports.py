"""The modules of each Rust crate import one another without a circle, and from no layer above their own."""

from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from rust_imports import ROOT, imports

NATIVE = Path(__file__).parents[1] / "native"

# Per crate from the top down. A name stands for the modules of its folder, too; what is side by side may be imported
# either way, as long as there is no circle.
LAYERS = {
    "kernels": ["lib", "operations", "kernels", "layout threads", "element", "isa"],
    "python": [
        "lib",
        "arg elementwise hardmax settings values",
        "reduce",
        "axes index number output",
        "array",
        "operand dimensions memory",
        "descriptor",
        "blocks errors options work",
        "call",
    ],
    "onnxruntime": [
        "lib",
        "registration",
        "inference kernel",
        "arg_reduce extremum one_hot reduce",
        "axes operator order",
        "attributes pool tensor",
        "api element resident host",
    ],
}


def level(crate, module):
    name = module[0] if module else "lib"
    return next(number for number, layer in enumerate(LAYERS[crate]) if name in layer.split())


def test_all_crates_have_layers():
    assert {path.parent.name for path in NATIVE.glob("*/Cargo.toml")} == set(LAYERS)


@pytest.mark.parametrize("crate", LAYERS)
def test_no_circle(crate):
    graph = imports(NATIVE / crate / "src")
    assert sum(map(len, graph.values())) > len(graph)
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("crate", LAYERS)
def test_no_import_from_above(crate):
    graph = imports(NATIVE / crate / "src")
    climbs = [
        f"{'::'.join(importer)} imports {'::'.join(imported) or 'the root'}"
        for importer, others in graph.items()
        for imported in others
        if level(crate, imported) < level(crate, importer)
    ]
    assert climbs == []


def test_imports_are_found(tmp_path):
    sources = {
        "lib.rs": "mod a;\nmod b;\nuse a::deep;\n",
        "a/mod.rs": "pub mod deep;\n// use crate::b;\n",
        "a/deep.rs": "use crate::{b::X, a::{self, Y}};\nuse std::fmt;\n#[cfg(test)]\nmod tests { use crate::Z; }\n",
        "b.rs": "fn f() { super::a::deep::g(); $crate::T }\n",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert imports(tmp_path) == {
        ROOT: {("a", "deep")},
        ("a",): set(),
        ("a", "deep"): {("b",), ("a",)},
        ("b",): {("a", "deep"), ROOT},
    }
