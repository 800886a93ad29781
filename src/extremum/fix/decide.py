"""Which nodes are rewritten, and how: those about which :mod:`extremum.check` has an error or a warning for the target.

So the two agree: what a check reports is rewritten, or the fix says that it stays and why.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import onnx

from extremum import validate
from extremum.check import promises
from extremum.check.findings import Severity
from extremum.check.marks import replaced
from extremum.check.question import refusals
from extremum.check.rule import Rule
from extremum.check.rules import RULES
from extremum.errors import ExtremumError, ModelError, SpecError
from extremum.fix.changes import Change, Fixed
from extremum.fix.convert import convert
from extremum.fix.draft import Draft
from extremum.fix.rewrites import Rewrite, find
from extremum.fix.share import share_work
from extremum.fix.target import Target, opened
from extremum.fix.verify import verify_model, verify_node
from extremum.graph.limits import K_IS_INPUT_SINCE, open_sizes
from extremum.graph.load import external, load
from extremum.graph.operands import resolve_node
from extremum.graph.sites import Site, sites
from extremum.graph.splice import splice
from extremum.graph.walk import all_nodes
from extremum.runtimes.runtime import refusal_of_opset
from extremum.spec import ONNX, OPERATORS, OperatorVersion
from extremum.tensors import wider_types

_CAST_TAKES_BFLOAT16_SINCE = 13


def fix(
    model: onnx.ModelProto | bytes | str | os.PathLike[str],
    target: str | None = None,
    *,
    raise_opset: int | None = None,
    whole: bool = True,
    strict: bool = False,
    limit_k: bool = False,
) -> Fixed:
    """Rewrite the nodes that a target refuses or answers differently, and compare the answers.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        The model, its serialised form, or its file. Weights in other files are not read.
    target : str, optional
        A runtime that is installed, such as ``openvino``, each of whose answers is compared, or a feature level of
        DirectML such as ``directml-4_1``. By default the installed onnxruntime, asked which nodes it refuses.
    raise_opset : int, optional
        The opset to which the model may be raised, if a rewrite needs a later opset than the model imports.
    whole : bool
        Whether both models also run as a whole, in onnx's reference implementation; large ones take long.
    strict : bool
        Whether nodes are rewritten too that the target answers differently where no specification decides: NaN, the
        sign of zero, the order of unsorted results.
    limit_k : bool
        Whether a TopK whose k may be above the size of its axis takes all elements then, instead of failing.

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
    if strict and target is None:
        target = "onnxruntime"
    with opened(target, strict=strict) as aim:
        original = load(model)
        all_sites = list(sites(original))
        family = [site for site in all_sites if site.schema is not None]
        rules = _rules(aim, limit_k=limit_k)
        found, earlier = _found(all_sites, rules, aim)

        # The opset is raised only if a node needs it.
        source = original
        if raise_opset is not None and _needs_later(family, found, raise_opset):
            source = convert(original, raise_opset)

        outcome = _outcome(family, source, found, aim, limit_k=limit_k)
        outcome.keep(earlier, "an earlier fix wrote these nodes: fix the model that it got")
        notes = [
            f"an element type at {site.place} is not known, so {aim.name} was not asked about it"
            for site in family
            if any(tensor.element is None for tensor in site.operands)
        ]
        left = {
            "differences": tuple(outcome.differences.values()),
            "kept": tuple(outcome.kept.values()),
        }
        refused = tuple(outcome.refusals.values())
        if refused or not outcome.changes:
            return Fixed(original, aim.name, (), refused, **left, notes=tuple(notes))

        # Two rewrites of one input share what both compute.
        changes = share_work(outcome.changes.values())
        result = splice(source, {change.path: change.after for change in changes})
        if outcome.limited:
            open_sizes(result, outcome.limited)
        # The new nodes may themselves be such that a check of the target names one.
        _, of_new = _found(list(sites(result)), rules, aim)
        new = {path: [each for each in found if each.code >= "EX1"] for path, found in of_new.items()}
        outcome.keep(new, "the rewrite needs it", answers=())
        left["kept"] = tuple(outcome.kept.values())
        if not whole:
            notes.append("compared node by node, not as a whole, as requested")
        elif has_external_data(original):
            notes.append("compared node by node, not as a whole: its weights are kept beside the model")
        else:
            notes += verify_model(original, result, aim, differs=bool(outcome.differences))
        return Fixed(result, aim.name, changes, (), **left, notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class _Finding:
    """What a rule finds at a node."""

    code: str
    error: ExtremumError


_Found = dict[str, list[_Finding]]
"""What the rules find, by the path of the node."""


def _rules(aim: Target, *, limit_k: bool) -> list[Rule]:
    """Return the rules whose findings are mended: those that a check counts, and what else is asked for."""
    is_strict = bool(aim.also)
    if is_strict:
        return list(RULES)
    also = {"EX017"} if limit_k else set[str]()
    return [rule for rule in RULES if rule.severity is not Severity.INFO or rule.code in also]


def _found(all_sites: Sequence[Site], rules: Collection[Rule], aim: Target) -> tuple[_Found, _Found]:
    """Return what the rules find at nodes, and what they find about nodes that an earlier fix rewrote."""
    rewritten = replaced(all_sites)
    found: _Found = {}
    earlier: _Found = {}
    for number, site in enumerate(all_sites):
        if (before := rewritten.before.get(number)) is not None:
            _look(earlier, site.path, before, [rule for rule in rules if rule.follows], aim)
        if site.schema is None:
            continue
        if (last := rewritten.written.get(number)) is not None:
            # One of them stands for all.
            _look(earlier, all_sites[last].path, site, [rule for rule in rules if not rule.follows], aim)
        else:
            _look(found, site.path, site, rules, aim)
    return found, earlier


def _look(found: _Found, path: str, site: Site, rules: Iterable[Rule], aim: Target) -> None:
    for rule in rules:
        for error in rule.look(site, site.version, aim.targets):
            context = error.with_context(where=site.where, given=site.given or None)
            found.setdefault(path, []).append(_Finding(rule.code, context))


@dataclass(slots=True)
class _Outcome:
    """What becomes of the findings: by the path of the node, and where a node may keep several, by their code too."""

    changes: dict[str, Change] = field(default_factory=dict)
    refusals: dict[str, ExtremumError] = field(default_factory=dict)
    differences: dict[tuple[str, str], ExtremumError] = field(default_factory=dict)
    kept: dict[tuple[str, str], ExtremumError] = field(default_factory=dict)
    # The outputs of selections whose k is limited now.
    limited: set[str] = field(default_factory=set)

    def keep(self, found: _Found, why: str, answers: Collection[str] = ()) -> None:
        """Say of findings that their nodes stay, and why; those of some codes are about answers of the target."""
        for path, findings in found.items():
            for finding in findings:
                table = self.differences if finding.code in answers else self.kept
                error = finding.error
                remedy = ": ".join(filter(None, ("it stays as it is", why or error.remedy)))
                left = type(error)(error.reason, where=error.where, given=error.given, remedy=remedy)
                table.setdefault((path, finding.code), left)


def _outcome(
    family: list[Site],
    source: onnx.ModelProto,
    found: _Found,
    aim: Target,
    *,
    limit_k: bool,
) -> _Outcome:
    """Return what becomes of the nodes with findings; `source` may have a later opset than the original."""
    now = [site for site in sites(source) if site.schema is not None]
    if [site.node.op_type for site in family] != [site.node.op_type for site in now]:
        raise ModelError("the conversion to a later opset moved the nodes that are to be rewritten")
    names = {value.name for value in source.graph.input}
    for _, _, node in all_nodes(source):
        names.update((node.name, *node.input, *node.output))
    elements: dict[str, set[str | None]] = {}
    for site in family:
        elements.setdefault(site.path, set()).update(each.element for each in site.operands)
    answers = {code for code in (aim.differs, *aim.also) if code}
    outcome = _Outcome()
    for before, site in zip(family, now, strict=True):
        path = before.path
        findings = found.get(path, [])
        try:
            _require_same_meaning(before, site)
        except ExtremumError as error:
            outcome.changes.pop(path, None)
            outcome.refusals.setdefault(path, error.with_context(where=before.where, given=before.given))
        if not findings or path in outcome.refusals:
            continue
        try:
            draft = _draft(before, site, names, aim, limit_k=limit_k)
            change = draft.change(before)
            is_ambiguous = len(elements[path]) > 1 or outcome.changes.get(path, change) != change
            if change is not None and is_ambiguous:
                several = f"{before.schema} is in a function that is called with several element types"
                raise SpecError(several, remedy="inline the function first")
        except ExtremumError as error:
            outcome.changes.pop(path, None)
            is_refused = any(refusals(before.outputs)) or any(each.code == aim.refuses for each in findings)
            if is_refused and refusal_of_opset(aim.load, before.opsets[ONNX]):
                # No other nodes would help.
                outcome.refusals.setdefault(path, findings[0].error)
            elif is_refused:
                outcome.refusals.setdefault(path, error.with_context(where=before.where, given=before.given))
            else:
                outcome.keep({path: findings}, _sentence(error), answers)
            continue
        if change is not None:
            outcome.changes[path] = change
            outcome.limited.update(draft.limited_outputs)
        # What the nodes that are written now no longer have is mended.
        written = draft.site
        left = {rule.code for rule in promises.RULES if any(rule.look(written, written.version, aim.targets))}
        if draft.problem is not None:
            left.update(aim.codes)
        for each in findings:
            if each.code in left:
                if draft.problem is not None and each.code in answers:
                    why = _sentence(draft.problem)
                else:
                    why = ""
                outcome.keep({path: [each]}, why, answers)
    return outcome


def _sentence(error: ExtremumError) -> str:
    return "; ".join(filter(None, (error.reason, error.remedy)))


def _needs_later(family: Iterable[Site], found: _Found, most: int) -> bool:
    """Return whether a rewrite needs a later opset, or a version of an operator up to opset `most` helps."""
    for site in family:
        findings = found.get(site.path)
        if not findings or _wider(site):
            continue
        taker = _taker(site)
        if taker is not None and taker.since <= most:
            return True
        for each in findings:
            fitting = find(site.version.family, site.element, each.code)
            if fitting and all(rewrite.since > site.opsets[ONNX] for rewrite in fitting):
                return True
            if each.code in ("EX014", "EX017") and site.opsets[ONNX] < K_IS_INPUT_SINCE:
                return True
    return False


def _wider(site: Site) -> tuple[str, ...]:
    """Return the types to which the elements of a node can be cast, if its version does not take their own."""
    element = str(site.element)
    is_taken = site.element is None or element in site.version.types
    # Before 13, Cast does not take bfloat16.
    if is_taken or (element == "bfloat16" and site.opsets[ONNX] < _CAST_TAKES_BFLOAT16_SINCE):
        return ()
    return wider_types(element, site.version.types)


def _taker(site: Site) -> OperatorVersion | None:
    """Return the first later version that takes a node that breaks a rule of its own version, if there is one."""
    if not any(refusals(site.outputs)):
        return None
    own = site.version
    later = (each for each in OPERATORS[own.domain, own.name] if each.since > own.since)
    operands = site.attributes, site.names, site.inputs
    return next((each for each in later if not any(refusals(resolve_node, each, *operands))), None)


def _require_same_meaning(before: Site, site: Site) -> None:
    """Refuse a node that means something else at the opset to which the model is raised."""
    if before.version.coerced == site.version.coerced:
        return
    rank = before.inputs[0].rank if before.inputs else None
    versions = () if rank is None else (before.version, site.version)
    axes = {validate.axes(each, validate.attributes(each, before.attributes), rank or 0) for each in versions}
    if len(axes) != 1:
        raise SpecError(
            f"{before.version} and {site.version} mean different things here",
            remedy=f"allow opset {site.version.since - 1} with raise_opset, if it suffices",
        )


def _draft(before: Site, site: Site, names: Collection[str], aim: Target, *, limit_k: bool) -> Draft:
    """Return what stands in the place of a node: ``before`` in the original, ``site`` at a later opset, if any."""
    opset = site.opsets[ONNX]
    wider = _wider(site)
    # If its own version does not take the node, a wider type or the later version defines what it computes.
    taker = None if wider else _taker(before)
    if taker is not None and opset < taker.since:
        (error,) = refusals(before.outputs)
        raise type(error)(
            error.reason,
            given=error.given,
            remedy=f"allow opset {taker.since} with raise_opset, if the whole model may be raised",
        )
    source = before if taker is None else site
    plain = Draft(source, site, _prefix(site, names))
    plain.name_outputs()
    plain.count_axes_from_the_front()
    if aim.also:
        plain.drop_what_does_nothing()
    if limit_k:
        plain.limit()
    plain.site.outputs(any_element=bool(wider))

    # Each wider type and each rewrite is tried, for the target may not take the first.
    problem: ExtremumError | None = None
    for wide in wider or ("",):
        widened = plain.copy()
        if wide:
            widened.widen(wide)
        code = next((each for each in aim.codes if any(aim.look(each, widened.site))), None)
        for rewrite in _fitting(widened.site, code):
            draft = widened.copy()
            try:
                if code is not None:
                    _rewrite(draft, rewrite, code, aim)
                verify_node(draft, aim)
            except ExtremumError as error:
                problem = problem or error
            else:
                return draft
    assert problem is not None
    is_refused = wider or any(refusals(before.outputs)) or any(aim.look(aim.refuses, plain.site))
    if is_refused:
        raise problem
    # What the target answers differently stays, but what the node itself states may be mended.
    plain.problem = problem
    return plain


def _fitting(site: Site, code: str | None) -> Sequence[Rewrite | None]:
    """Return the rewrites to try because of a finding; None stands for no rewrite."""
    if code is None:
        return [None]
    return find(site.version.family, site.element, code) or [None]


def _rewrite(draft: Draft, rewrite: Rewrite | None, code: str, aim: Target) -> None:
    """Rewrite the node of a draft because of a finding."""
    if rewrite is None:
        site = draft.site
        raise SpecError(f"{aim.name} takes no exact replacement of {site.version} of {site.element}")
    # The nodes of a rewrite for EX104 still have a Hardmax of the target.
    draft.rewrite(rewrite, is_exact=code != "EX104")


def _prefix(site: Site, names: Collection[str]) -> str:
    """Return what no name of the model begins with."""
    prefix = f"{next(filter(None, site.node.output), site.node.op_type)}/"
    while any(name.startswith(prefix) for name in names):
        prefix += "/"
    return prefix


def has_external_data(model: onnx.ModelProto) -> bool:
    """Return whether weights of the model are in other files.

    >>> import onnx
    >>> from extremum.fix import has_external_data
    >>> has_external_data(onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 13]> g () => () {}'))
    False
    """
    return any(True for _ in external(model))
