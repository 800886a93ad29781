"""Which nodes are rewritten, and how: those that the rules of :mod:`extremum.check` find for the target."""

from __future__ import annotations

import os
from collections.abc import Collection

import onnx

from extremum import check, validate
from extremum.check.question import refusals
from extremum.errors import ExtremumError, ModelError, SpecError
from extremum.fix.changes import Change, Fixed
from extremum.fix.convert import convert, splice
from extremum.fix.rewrites import Fragment, find
from extremum.fix.target import Target, opened
from extremum.fix.verify import verify_model, verify_node
from extremum.graph import nodes
from extremum.graph.load import external, load
from extremum.graph.sites import Site, sites
from extremum.spec import OPERATORS, OperatorVersion


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
        The opset to which the model may be raised, if a rewrite needs a later opset than the model imports.
    whole : bool
        Whether both models also run as a whole, in onnx's reference implementation; large ones take long.

    Raises
    ------
    ModelError
        If it is not an ONNX model, or the rewritten one does not give the same bits.
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
    with opened(target) as aim:
        original = load(model)
        family = [site for site in sites(original) if site.schema is not None]
        findings: dict[str, tuple[str, ExtremumError]] = {}
        for site in family:
            # A node of a function may have one finding for each input type; a refusal takes precedence.
            if (finding := _finding(site, aim)) and (site.path not in findings or finding[0] == aim.refuses):
                findings[site.path] = finding
        pairs = [(site, findings[site.path][0]) for site in family if site.path in findings]
        needs_later = raise_opset is not None and any(_needs_later(*each, raise_opset) for each in pairs)
        source = convert(original, raise_opset) if raise_opset is not None and needs_later else original
        changes, refusals, differences = _changes(family, source, findings, aim)
        notes = [
            f"an element type at {site.place} is not known, so {aim.name} was not asked about it"
            for site in family
            if any(tensor.element is None for tensor in site.operands)
        ]
        paths = {change.path for change in changes}
        notes += (
            f"{site.place}: {error.reason}; no rewrite is exact, so it stays (extremum explain EX103)"
            for site in family
            if aim.differs == "EX108" and site.path not in paths
            for error in check.find("EX103").look(site, site.version, aim.targets)
        )
        if refusals or not changes:
            return Fixed(original, aim.name, (), refusals, differences, tuple(notes))
        result = splice(source, {change.path: change.after for change in changes})
        if not whole:
            notes.append("compared node by node, not as a whole, as requested")
        elif has_external_data(original):
            notes.append("compared node by node, not as a whole: its weights are kept beside the model")
        else:
            notes += verify_model(original, result, aim, differs=bool(differences))
        return Fixed(result, aim.name, changes, (), differences, tuple(notes))


def _finding(site: Site, target: Target) -> tuple[str, ExtremumError] | None:
    """Return the code of a rule and what it finds, or None if the target runs a node and gives the right answer."""
    # Every target refuses a node that breaks a rule of its version.
    for error in refusals(site.outputs):
        return target.refuses, error
    for code in filter(None, (target.refuses, target.differs)):
        for error in check.find(code).look(site, site.version, target.targets):
            return code, error
    return None


def _changes(
    family: list[Site], source: onnx.ModelProto, findings: dict[str, tuple[str, ExtremumError]], target: Target
) -> tuple[tuple[Change, ...], tuple[ExtremumError, ...], tuple[ExtremumError, ...]]:
    """Return the changes of the nodes (`source` may have a later opset), the refusals and the differences."""
    now = [site for site in sites(source) if site.schema is not None]
    if [site.node.op_type for site in family] != [site.node.op_type for site in now]:
        raise ModelError("the conversion to a later opset moved the nodes that are to be rewritten")
    names = {name for _, _, node in nodes.everywhere(source) for name in (node.name, *node.input, *node.output)}
    names.update(value.name for value in source.graph.input)
    changes, refusals, different = dict[str, Change](), dict[str, ExtremumError](), dict[str, ExtremumError]()
    for before, site in zip(family, now, strict=True):
        code, reason = findings.get(before.path, ("", None))
        try:
            _require_same_meaning(before, site)
            if not code:
                continue
            change = _change(before, site, names, target, code)
            elements = {each.element for other in family if other.path == before.path for each in other.operands}
            if len(elements) > 1 or changes.setdefault(before.path, change) != change:
                several = f"{before.schema} is in a function that is called with several element types"
                raise SpecError(several, remedy="inline the function first")
        except ExtremumError as error:
            if reason is not None and code == target.differs:
                remedy = f"it stays as it is: {'; '.join(filter(None, (error.reason, error.remedy)))}"
                difference = type(reason)(reason.reason, where=before.where, given=reason.given, remedy=remedy)
                different.setdefault(before.path, difference)
            else:
                refusals.setdefault(before.path, error.with_context(where=before.where, given=before.given))
    rest = (change for path, change in changes.items() if path not in different)
    return tuple(rest), tuple(refusals.values()), tuple(different.values())


def _needs_later(site: Site, code: str, most: int) -> bool:
    """Return whether a rewrite needs a later opset, or a version of the operator up to opset `most` helps."""
    rewrite, taker = find(site.version.family, site.element, code), _taker(site)
    return (rewrite is not None and rewrite.since > site.opsets[""]) or (taker is not None and taker.since <= most)


def _taker(site: Site) -> OperatorVersion | None:
    """Return the first later version that takes a node that breaks a rule of its own version, if there is one."""
    if not any(refusals(site.outputs)):
        return None
    own = site.version
    later = (each for each in OPERATORS[own.domain, own.name] if each.since > own.since)
    operands = site.attributes, site.names, site.inputs
    return next((each for each in later if not any(refusals(nodes.resolve, each, *operands))), None)


def _require_same_meaning(before: Site, site: Site) -> None:
    """Refuse a node that means something else at the opset to which the model is raised."""
    if before.version.coerced == site.version.coerced:
        return
    rank = before.inputs[0].rank if before.inputs else None
    versions = () if rank is None else (before.version, site.version)
    axes = {validate.axes(each, validate.attributes(each, before.attributes), rank or 0) for each in versions}
    if len(axes) != 1:
        reason = f"{before.version} and {site.version} mean different things here"
        raise SpecError(reason, remedy=f"allow opset {site.version.since - 1} with raise_opset, if it suffices")


def _change(before: Site, site: Site, names: Collection[str], target: Target, code: str) -> Change:
    """Return the change of a node with a finding: ``before`` in the original, ``site`` at a later opset, if any."""
    opset, taker = site.opsets[""], _taker(before)
    if taker is not None and opset < taker.since:
        (error,) = refusals(before.outputs)
        remedy = f"allow opset {taker.since} with raise_opset, if the whole model may be raised"
        raise type(error)(error.reason, given=error.given, remedy=remedy)
    # If its own version does not take the node, the later version defines what it computes.
    source = before if taker is None else site
    source.outputs()
    version, element = source.version, str(before.element)
    place = before.place, site.path, str(before.version), element
    if source is site:
        finding = _finding(site, target)
        if finding is None:
            return Change(*place, f"as {version}", before.node, (site.node,))
        code, _ = finding
    rewrite = find(version.family, source.element, code)
    if rewrite is None:
        raise SpecError(f"{target.name} takes no exact replacement of {version} of {element}")
    if opset < rewrite.since:
        remedy = f"allow opset {rewrite.since} with raise_opset, if the whole model may be raised"
        raise SpecError(f"{version} of {element} can be rewritten from opset {rewrite.since} on", remedy=remedy)
    prefix = f"{site.node.output[0]}/"
    while any(name.startswith(prefix) for name in names):
        prefix += "/"
    fragment = Fragment(site, opset, prefix)
    rewrite.build(fragment)
    change = Change(*place, rewrite.title, before.node, tuple(fragment.finish()))
    verify_node(source, change, opset, target)
    return change


def has_external_data(model: onnx.ModelProto) -> bool:
    """Return whether weights of the model are in other files.

    >>> import onnx
    >>> from extremum.fix import has_external_data
    >>> has_external_data(onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 13]> g () => () {}'))
    False
    """
    return any(True for _ in external(model))
