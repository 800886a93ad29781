"""Models that a target refuses, rewritten into standard ONNX that it runs, with the same answers bit by bit.

Decides which nodes are rewritten: those for which the target's rule of :mod:`extremum.check` finds something. The
rewrites are in :mod:`extremum.fix.rewrites`, one per file. Nothing else in the model changes, its opset least of all,
unless that is asked for.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import onnx

from extremum import check
from extremum.backend.model import inferred, load, skeleton
from extremum.backend.node import graphs
from extremum.backend.sites import Site, sites
from extremum.check.rule import refusals
from extremum.errors import ExtremumError, SpecError
from extremum.fix.change import Change
from extremum.fix.fragment import Fragment
from extremum.fix.opset import raised
from extremum.fix.rewrite import Rewrite
from extremum.fix.rewrites import REWRITES, find
from extremum.fix.splice import names, splice
from extremum.fix.target import Target, parse
from extremum.fix.verify import verify_model, verify_node

__all__ = ["REWRITES", "Change", "Fixed", "fix", "has_external_data"]


@dataclass(frozen=True, slots=True)
class Fixed:
    """What became of a model.

    Attributes
    ----------
    model : onnx.ModelProto
        The fixed model; the original where nothing changed.
    target : str
        The runtime it is for.
    changes : tuple of Change
        One per rewritten node; none if the target refuses nothing.
    refusals : tuple of ExtremumError
        One per node that the target refuses and that cannot be rewritten. The model does not run there then.
    notes : tuple of str
        What was not compared, and why.
    """

    model: onnx.ModelProto
    target: str
    changes: tuple[Change, ...]
    refusals: tuple[ExtremumError, ...]
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return one line that says whether the model was modified."""
        if self.refusals:
            return f"not modified: {_nodes(len(self.refusals))} cannot be rewritten for {self.target}"
        if self.changes:
            return f"{_nodes(len(self.changes))} rewritten for {self.target}"
        return f"not modified: {self.target} takes every node"


def fix(
    model: onnx.ModelProto | bytes | str | os.PathLike[str],
    target: str = "onnxruntime",
    *,
    raise_opset: int | None = None,
) -> Fixed:
    """Rewrite the nodes that a target refuses, and compare the answers before returning.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        The model, its serialised form, or the file that holds it. Weights kept beside the file are not read.
    target : str
        ``onnxruntime``, the one installed, or a feature level of DirectML such as ``directml-4_1``.
    raise_opset : int, optional
        The opset to which the model may be raised, if there is a rewrite that needs a later one than it imports.

    Returns
    -------
    Fixed
        The model, the changes, and what could not be changed.

    Raises
    ------
    ModelError
        If it is no ONNX model, or a rewritten one does not answer bit by bit as the original.
    ArgumentError
        If there is no such target, or onnxruntime is not installed.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import onnx
    >>> from extremum.fix import fix
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (int16[9] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> fixed = fix(onnx.parser.parse_model(text))
    >>> [node.op_type for node in fixed.model.graph.node]
    ['Cast', 'ArgMax']
    """
    runtime = parse(target)
    original = load(model, weights=False)
    refused = [(site, _is_refused(site, runtime)) for site in _family(original)]
    source = original
    if raise_opset is not None and any(_needs_later(site, runtime) for site, is_refused in refused if is_refused):
        source = raised(original, raise_opset)
    known = names(source)
    elements = {(site.path, site.inputs[0].element) for site, _ in refused if site.inputs}
    changes, unchanged = dict[str, Change](), dict[str, ExtremumError]()
    # A conversion to a later opset keeps these nodes and their order.
    for (before, is_refused), site in zip(refused, _family(source), strict=True):
        if is_refused:
            try:
                change = _change(before, site, known, runtime)
                if sum(path == before.path for path, _ in elements) > 1 or changes.get(site.path, change) != change:
                    raise SpecError(
                        f"{before.row} is in a function that is called with several types of tensors",
                        remedy="inline the function first",
                    )
                changes[site.path] = change
            except ExtremumError as error:
                unchanged.setdefault(site.path, error.with_context(where=before.where, given=before.given))
    unknown = tuple(
        f"an element type at {site.place} is not known, so {runtime.name} was not asked about it"
        for site, _ in refused
        if any(tensor.element is None for tensor in site.inputs)
    )
    if unchanged or not changes:
        return Fixed(original, runtime.name, (), tuple(unchanged.values()), unknown)
    fixed = splice(source, {path: change.after for path, change in changes.items()})
    if has_external_data(original):
        compared: tuple[str, ...] = ("compared node by node, not as a whole: its weights are kept beside the model",)
    else:
        compared = verify_model(original, fixed, runtime)
    return Fixed(fixed, runtime.name, tuple(changes.values()), (), (*unknown, *compared))


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"


def _family(model: onnx.ModelProto) -> list[Site]:
    return [site for site in sites(inferred(skeleton(model))) if site.row is not None]


def _is_refused(site: Site, target: Target) -> bool:
    assert site.row is not None
    # A node that breaks its promise is refused everywhere, and there is nothing exact to put in its place.
    return any(refusals(site.output)) or any(check.find(target.code).look(site, site.row, target.asked))


def _rewrite(site: Site, target: Target) -> Rewrite | None:
    assert site.row is not None
    return find(site.row.family, site.inputs[0].element if site.inputs else None, target.code)


def _needs_later(site: Site, target: Target) -> bool:
    rewrite = _rewrite(site, target)
    return rewrite is not None and rewrite.since > site.opsets[""]


def _change(before: Site, site: Site, known: frozenset[str], target: Target) -> Change:
    """Return the change of a node: ``before`` is where it stood, ``site`` where it stands now."""
    before.output()
    rewrite, opset, element = _rewrite(before, target), site.opsets[""], str(before.inputs[0].element)
    if rewrite is None:
        raise SpecError(f"nothing that {target.name} takes stands for {before.row} of {element} exactly")
    if opset < rewrite.since:
        raise SpecError(
            f"{before.row} of {element} can be rewritten from opset {rewrite.since} on",
            remedy=f"--raise-opset {rewrite.since}, if the whole model may be raised",
        )
    fragment = Fragment(opset, _prefix(site.node.output[0], known))
    rewrite.build(fragment, site)
    after = tuple(fragment.finish(site.node))
    change = Change(before.place, site.path, str(before.row), element, rewrite.title, before.node, after)
    verify_node(before, change, opset, target)
    return change


def _prefix(output: str, known: frozenset[str]) -> str:
    """Return what no name begins with."""
    prefix = f"{output}/"
    while any(name.startswith(prefix) for name in known):
        prefix += "/"
    return prefix


def has_external_data(model: onnx.ModelProto) -> bool:
    """Return whether weights are kept beside the model rather than in it.

    Examples
    --------
    >>> import onnx
    >>> from extremum.fix import has_external_data
    >>> has_external_data(onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 13]> g () => () {}'))
    False
    """
    return any(
        onnx.external_data_helper.uses_external_data(tensor)
        for graph in graphs(model.graph)
        for tensor in graph.initializer
    )
