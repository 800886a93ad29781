"""Models that a target refuses or answers otherwise, rewritten into standard ONNX that it runs, exact to the bit.

Decides which nodes are rewritten: those for which the target's rules of :mod:`extremum.check` find something. The
rewrites are in :mod:`extremum.fix.rewrites`. Nothing else in the model changes, its opset least of all,
unless that is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from extremum.errors import ExtremumError, ModelError, SpecError, lacking

try:
    import onnx
except ModuleNotFoundError as error:
    raise lacking("extremum.fix", error) from None

from extremum import check, validate
from extremum.check.rule import refusals
from extremum.fix.fixed import Change, Fixed
from extremum.fix.fragment import Fragment, names, splice
from extremum.fix.opset import raised
from extremum.fix.rewrites import REWRITES, Rewrite, find
from extremum.fix.target import Target, opened
from extremum.fix.verify import verify_model, verify_node
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
    """Rewrite the nodes that a target refuses or answers otherwise, and compare the answers before returning.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        The model, its serialised form, or the file that holds it. Weights kept beside the file are not read.
    target : str
        A runtime that is installed, such as ``onnxruntime`` or ``openvino``, or a feature level of DirectML such as
        ``directml-4_1``.
    raise_opset : int, optional
        The opset to which the model may be raised, if there is a rewrite that needs a later one than it imports.
    whole : bool
        Whether both models also run as a whole, in onnx's reference implementation, which takes long for large ones.

    Returns
    -------
    Fixed
        The model, the changes, and what could not be changed.

    Raises
    ------
    ModelError
        If it is no ONNX model, or a rewritten one does not answer bit by bit as the original.
    ArgumentError
        If there is no such target, or the runtime is not installed.
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
        return _fixed(model, runtime, raise_opset, whole=whole)


def _fixed(
    model: onnx.ModelProto | bytes | str | os.PathLike[str], runtime: Target, raise_opset: int | None, *, whole: bool
) -> Fixed:
    original = load(model, weights=False)
    family = _family(original)
    found: dict[str, _Finding] = {}
    for site in family:
        finding = _finding(site, runtime)
        # A node of a function may be found for several types; a refusal counts first.
        if finding is not None and (site.path not in found or finding.code == runtime.refuses):
            found[site.path] = finding
    source = original
    if raise_opset is not None and any(
        _needs_later(site, found[site.path].code, raise_opset) for site in family if site.path in found
    ):
        source = raised(original, raise_opset)
    changes, refusals, differences = _changes(family, _family(source), found, names(source), runtime)
    notes = tuple(
        f"an element type at {site.place} is not known, so {runtime.name} was not asked about it"
        for site in family
        if any(tensor.element is None for tensor in site.operands)
    )
    changed = {change.path for change in changes}
    notes += tuple(
        f"{site.place}: {error.reason}; no rewrite is exact, so it stays (extremum explain EX103)"
        for site in family
        if runtime.differs == "EX108" and site.schema is not None and site.path not in changed
        for error in check.find("EX103").look(site, site.schema, runtime.asked)
    )
    if refusals or not changes:
        return Fixed(original, runtime.name, (), refusals, differences, notes)
    fixed = splice(source, {change.path: change.after for change in changes})
    if not whole:
        notes += ("compared node by node, not as a whole, as was asked",)
    elif has_external_data(original):
        notes += ("compared node by node, not as a whole: its weights are kept beside the model",)
    else:
        notes += verify_model(original, fixed, runtime, differs=bool(differences))
    return Fixed(fixed, runtime.name, changes, (), differences, notes)


@dataclass(frozen=True, slots=True)
class _Finding:
    """What makes a node one to be rewritten."""

    # Of the rule that finds it.
    code: str
    error: ExtremumError


def _finding(site: Site, target: Target) -> _Finding | None:
    """Return why a node is to be rewritten, or None if the target takes it and answers as it should."""
    assert site.schema is not None
    # A node that breaks its promise is refused everywhere.
    for error in refusals(site.output):
        return _Finding(target.refuses, error)
    for code in (target.refuses, target.differs):
        for error in () if code is None else check.find(code).look(site, site.schema, target.asked):
            return _Finding(code or "", error)
    return None


def _changes(
    family: Sequence[Site], now: Sequence[Site], found: Mapping[str, _Finding], known: frozenset[str], target: Target
) -> tuple[tuple[Change, ...], tuple[ExtremumError, ...], tuple[ExtremumError, ...]]:
    """Return the changes of the nodes, why some that are refused and some that are answered otherwise have none."""
    # ``family`` is where the nodes stood, ``now`` where they stand; a conversion to a later opset keeps their
    # order.
    if [site.node.op_type for site in family] != [site.node.op_type for site in now]:
        raise ModelError("the conversion to a later opset moved the nodes that are to be rewritten")
    elements: dict[str, set[str | None]] = {}
    for site in family:
        elements.setdefault(site.path, set()).update(tensor.element for tensor in site.operands)
    changes, refused, different = dict[str, Change](), dict[str, ExtremumError](), dict[str, ExtremumError]()
    for before, site in zip(family, now, strict=True):
        finding = found.get(before.path)
        try:
            _require_same_meaning(before, site)
            if finding is None:
                continue
            change = _change(before, site, known, target, finding.code)
            if len(elements[before.path]) > 1 or changes.setdefault(before.path, change) != change:
                raise SpecError(
                    f"{before.schema} is in a function that is called with several element types",
                    remedy="inline the function first",
                )
        except ExtremumError as error:
            if finding is not None and finding.code == target.differs:
                different.setdefault(before.path, _left(finding.error, error, before))
            else:
                refused.setdefault(before.path, error.with_context(where=before.where, given=before.given))
    kept = (change for path, change in changes.items() if path not in different)
    return tuple(kept), tuple(refused.values()), tuple(different.values())


def _left(finding: ExtremumError, error: ExtremumError, site: Site) -> ExtremumError:
    """Return what is said of a node that is answered otherwise and stays as it is."""
    why = f"{error.reason}; {error.remedy}" if error.remedy else error.reason
    return type(finding)(finding.reason, where=site.where, given=finding.given, remedy=f"it stays as it is: {why}")


def _family(model: onnx.ModelProto) -> list[Site]:
    return [site for site in sites(model) if site.schema is not None]


def _rewrite(site: Site, code: str) -> Rewrite | None:
    assert site.schema is not None
    return find(site.schema.family, site.inputs[0].element if site.inputs else None, code)


def _needs_later(site: Site, code: str, most: int) -> bool:
    """Return whether a later opset helps a node, one that is not above the most."""
    rewrite, taker = _rewrite(site, code), _taker(site)
    return (rewrite is not None and rewrite.since > site.opsets[""]) or (taker is not None and taker.since <= most)


def _taker(site: Site) -> OperatorVersion | None:
    """Return the first later version that takes a node which breaks the promise of its own, if there is one."""
    assert site.schema is not None
    if not any(refusals(site.output)):
        return None
    for version in OPERATORS[site.schema.domain, site.schema.name]:
        taken = not any(refusals(nodes.resolve, version, site.attributes, site.names, site.inputs))
        if version.since > site.schema.since and taken:
            return version
    return None


def _require_same_meaning(before: Site, site: Site) -> None:
    """Refuse a node that means something else at the opset to which the model is raised."""
    assert before.schema is not None
    assert site.schema is not None
    if before.schema.coerced == site.schema.coerced:
        return
    rank = before.inputs[0].rank if before.inputs else None
    axes = [
        None if rank is None else validate.axes(version, validate.attributes(version, before.attributes), rank)
        for version in (before.schema, site.schema)
    ]
    if rank is None or axes[0] != axes[1]:
        raise SpecError(
            f"{before.schema} and {site.schema} mean different things here",
            remedy=f"allow opset {site.schema.since - 1} with raise_opset, if it suffices",
        )


def _change(before: Site, site: Site, known: frozenset[str], target: Target, code: str) -> Change:
    """Return the change of a node that a rule finds: ``before`` is where it stood, ``site`` where it stands now."""
    opset = site.opsets[""]
    taker = _taker(before)
    if taker is not None and opset < taker.since:
        (error,) = refusals(before.output)
        remedy = f"allow opset {taker.since} with raise_opset, if the whole model may be raised"
        raise type(error)(error.reason, given=error.given, remedy=remedy)
    # What a node means that its own version does not take, the later version says.
    meant = before if taker is None else site
    meant.output()
    element = str(before.inputs[0].element)
    finding = _finding(site, target) if meant is site else None
    if meant is site and finding is None:
        title = f"as {site.schema}"
        return Change(before.place, site.path, str(before.schema), element, title, before.node, (site.node,))
    rewrite = _rewrite(meant, code if finding is None else finding.code)
    if rewrite is None:
        raise SpecError(f"{target.name} takes no exact replacement of {meant.schema} of {element}")
    if opset < rewrite.since:
        raise SpecError(
            f"{meant.schema} of {element} can be rewritten from opset {rewrite.since} on",
            remedy=f"allow opset {rewrite.since} with raise_opset, if the whole model may be raised",
        )
    fragment = Fragment(opset, _prefix(site.node.output[0], known))
    rewrite.build(fragment, site)
    after = tuple(fragment.finish(site.node))
    change = Change(before.place, site.path, str(before.schema), element, rewrite.title, before.node, after)
    verify_node(meant, change, opset, target)
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
    return any(True for _ in external(model))
