"""Models rewritten into standard ONNX that a target runs, exact to the bit.

Decides which nodes are rewritten: those that the rules of :mod:`extremum.check` find for the target. The rewrites are
in :mod:`extremum.fix.rewrites`. Nothing else in the model changes; its opset changes only on request.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence

from extremum.errors import ExtremumError, ModelError, SpecError, lacking

try:
    import onnx
except ModuleNotFoundError as error:
    raise lacking("extremum.fix", error) from None

from extremum import check, validate
from extremum.check.rules import refusals
from extremum.fix.changes import Change, Fixed, convert, splice
from extremum.fix.rewrites import REWRITES, Fragment, find
from extremum.fix.target import Target, opened, verify_model, verify_node
from extremum.graph import nodes
from extremum.graph.load import external, load
from extremum.graph.sites import Site, sites
from extremum.spec import OPERATORS, OperatorVersion

__all__ = ["REWRITES", "Change", "Fixed", "fix", "has_external_data"]


def __dir__() -> list[str]:
    return sorted(__all__)


def fix(
    model: onnx.ModelProto | bytes | str | os.PathLike[str],
    target: str = "onnxruntime",
    *,
    raise_opset: int | None = None,
    whole: bool = True,
) -> Fixed:
    """Rewrite the nodes that a target refuses or answers differently, and compare the answers.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        The model, its serialised form, or its file. Weights in other files are not read.
    target : str
        A runtime that is installed, such as ``onnxruntime`` or ``openvino``, or a feature level of DirectML such as
        ``directml-4_1``.
    raise_opset : int, optional
        The opset to which the model may be raised, if a rewrite needs a later one than it imports.
    whole : bool
        Whether both models also run as a whole, in onnx's reference implementation; large ones take long.

    Returns
    -------
    Fixed
        The model, the changes, and what could not be changed.

    Raises
    ------
    ModelError
        If it is no ONNX model, or the rewritten one does not give the same bits.
    ArgumentError
        If there is no such target, or it is not installed.
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
    with opened(target) as runtime:
        return _fixed(load(model, weights=False), runtime, raise_opset, whole=whole)


def _fixed(original: onnx.ModelProto, target: Target, raise_opset: int | None, *, whole: bool) -> Fixed:
    family = _family(original)
    findings: dict[str, _Finding] = {}
    for site in family:
        finding = _finding(site, target)
        # A node of a function may have a finding for each of several types; a refusal counts first.
        if finding is not None and (site.path not in findings or finding[0] == target.refuses):
            findings[site.path] = finding
    refused = [(site, findings[site.path][0]) for site in family if site.path in findings]
    needs_later = raise_opset is not None and any(_needs_later(site, code, raise_opset) for site, code in refused)
    source = convert(original, raise_opset) if raise_opset is not None and needs_later else original
    changes, refusals, differences = _changes(family, source, findings, target)
    notes = [
        f"an element type at {site.place} is not known, so {target.name} was not asked about it"
        for site in family
        if any(tensor.element is None for tensor in site.operands)
    ]
    changed = {change.path for change in changes}
    notes += (
        f"{site.place}: {error.reason}; no rewrite is exact, so it stays (extremum explain EX103)"
        for site in family
        if target.differs == "EX108" and site.schema is not None and site.path not in changed
        for error in check.find("EX103").look(site, site.schema, target.asked)
    )
    if refusals or not changes:
        return Fixed(original, target.name, (), refusals, differences, tuple(notes))
    fixed = splice(source, {change.path: change.after for change in changes})
    if not whole:
        notes.append("compared node by node, not as a whole, as requested")
    elif has_external_data(original):
        notes.append("compared node by node, not as a whole: its weights are kept beside the model")
    else:
        notes += verify_model(original, fixed, target, differs=bool(differences))
    return Fixed(fixed, target.name, changes, (), differences, tuple(notes))


_Finding = tuple[str, ExtremumError]
"""The code of a rule, and what it finds."""


def _finding(site: Site, target: Target) -> _Finding | None:
    """Return why a node needs a rewrite, or None if the target runs it and gives the right answer."""
    assert site.schema is not None
    # Every target refuses a node that breaks its promise.
    for error in refusals(site.outputs):
        return target.refuses, error
    for code in filter(None, (target.refuses, target.differs)):
        for error in check.find(code).look(site, site.schema, target.asked):
            return code, error
    return None


def _changes(
    family: Sequence[Site], source: onnx.ModelProto, findings: Mapping[str, _Finding], target: Target
) -> tuple[tuple[Change, ...], tuple[ExtremumError, ...], tuple[ExtremumError, ...]]:
    """Return the changes, and why some nodes have none that the target refuses, or answers differently.

    ``family`` has the nodes of the original; ``source`` is at a later opset, if that is converted to one.
    """
    now = _family(source)
    if [site.node.op_type for site in family] != [site.node.op_type for site in now]:
        raise ModelError("the conversion to a later opset moved the nodes that are to be rewritten")
    names = {value.name for value in source.graph.input}
    for _, _, node in nodes.everywhere(source):
        names.update((node.name, *node.input, *node.output))
    elements: dict[str, set[str | None]] = {}
    for site in family:
        elements.setdefault(site.path, set()).update(tensor.element for tensor in site.operands)
    changes, refused, different = dict[str, Change](), dict[str, ExtremumError](), dict[str, ExtremumError]()
    for before, site in zip(family, now, strict=True):
        code, reason = findings.get(before.path, ("", None))
        try:
            _require_same_meaning(before, site)
            if not code:
                continue
            change = _change(before, site, names, target, code)
            if len(elements[before.path]) > 1 or changes.setdefault(before.path, change) != change:
                several = f"{before.schema} is in a function that is called with several element types"
                raise SpecError(several, remedy="inline the function first")
        except ExtremumError as error:
            if reason is not None and code == target.differs:
                remedy = f"it stays as it is: {'; '.join(filter(None, (error.reason, error.remedy)))}"
                left = type(reason)(reason.reason, where=before.where, given=reason.given, remedy=remedy)
                different.setdefault(before.path, left)
            else:
                refused.setdefault(before.path, error.with_context(where=before.where, given=before.given))
    kept = (change for path, change in changes.items() if path not in different)
    return tuple(kept), tuple(refused.values()), tuple(different.values())


def _family(model: onnx.ModelProto) -> list[Site]:
    return [site for site in sites(model) if site.schema is not None]


def _needs_later(site: Site, code: str, most: int) -> bool:
    """Return whether a later opset helps a node, up to some opset."""
    assert site.schema is not None
    rewrite, taker = find(site.schema.family, site.element, code), _taker(site)
    return (rewrite is not None and rewrite.since > site.opsets[""]) or (taker is not None and taker.since <= most)


def _taker(site: Site) -> OperatorVersion | None:
    """Return the first later version that takes a node which breaks the promise of its own, if there is one."""
    assert site.schema is not None
    if not any(refusals(site.outputs)):
        return None
    later = (each for each in OPERATORS[site.schema.domain, site.schema.name] if each.since > site.schema.since)
    operands = site.attributes, site.names, site.inputs
    return next((each for each in later if not any(refusals(nodes.resolve, each, *operands))), None)


def _require_same_meaning(before: Site, site: Site) -> None:
    """Refuse a node that means something else at the opset to which the model is raised."""
    assert before.schema is not None
    assert site.schema is not None
    if before.schema.coerced == site.schema.coerced:
        return
    rank = before.inputs[0].rank if before.inputs else None
    versions = () if rank is None else (before.schema, site.schema)
    axes = {validate.axes(each, validate.attributes(each, before.attributes), rank or 0) for each in versions}
    if len(axes) != 1:
        reason = f"{before.schema} and {site.schema} mean different things here"
        raise SpecError(reason, remedy=f"allow opset {site.schema.since - 1} with raise_opset, if it suffices")


def _change(before: Site, site: Site, names: Collection[str], target: Target, code: str) -> Change:
    """Return the change of a node with a finding: ``before`` in the original, ``site`` at a later opset, if any."""
    opset = site.opsets[""]
    taker = _taker(before)
    if taker is not None and opset < taker.since:
        (error,) = refusals(before.outputs)
        remedy = f"allow opset {taker.since} with raise_opset, if the whole model may be raised"
        raise type(error)(error.reason, given=error.given, remedy=remedy)
    # If its own version does not take the node, the later version defines what it computes.
    source = before if taker is None else site
    source.outputs()
    assert source.schema is not None
    element = str(before.element)
    if source is site:
        finding = _finding(site, target)
        if finding is None:
            title = f"as {site.schema}"
            return Change(before.place, site.path, str(before.schema), element, title, before.node, (site.node,))
        code, _ = finding
    rewrite = find(source.schema.family, source.element, code)
    if rewrite is None:
        raise SpecError(f"{target.name} takes no exact replacement of {source.schema} of {element}")
    if opset < rewrite.since:
        remedy = f"allow opset {rewrite.since} with raise_opset, if the whole model may be raised"
        raise SpecError(f"{source.schema} of {element} can be rewritten from opset {rewrite.since} on", remedy=remedy)
    prefix = f"{site.node.output[0]}/"
    while any(name.startswith(prefix) for name in names):
        prefix += "/"
    fragment = Fragment(site, opset, prefix)
    rewrite.build(fragment)
    after = tuple(fragment.finish())
    change = Change(before.place, site.path, str(before.schema), element, rewrite.title, before.node, after)
    verify_node(source, change, opset, target)
    return change


def has_external_data(model: onnx.ModelProto) -> bool:
    """Return whether weights of the model are in other files.

    Examples
    --------
    >>> import onnx
    >>> from extremum.fix import has_external_data
    >>> has_external_data(onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 13]> g () => () {}'))
    False
    """
    return any(True for _ in external(model))
