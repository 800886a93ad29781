"""The rules applied to the nodes of a model.

Looks at the nodes of this package's operators, in the graph, its subgraphs and the model-local functions, and reads no
weights.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

import onnx

from extremum import runtimes
from extremum.check.findings import Finding, Report
from extremum.check.marks import replaced
from extremum.check.question import AskedRuntime
from extremum.check.rule import Rule, Targets
from extremum.check.rules import RULES, matching
from extremum.directml.enumerations import feature_level_of
from extremum.errors import ArgumentError
from extremum.graph.calls import canonical
from extremum.graph.load import load
from extremum.graph.sites import Site, sites
from extremum.runtimes.process import Subprocess
from extremum.spec import ONNX, OPERATORS


def check(
    model: onnx.ModelProto | bytes | str | os.PathLike[str],
    *,
    feature_level: int | str | None = None,
    runtime: str | AskedRuntime | None = None,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
) -> Report:
    """Apply the rules to a model.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        The model, its serialised form, or its file. Weights in other files are not read.
    feature_level : int or str, optional
        DirectML's feature level, such as ``0x4100`` or ``"4_1"``; by default DirectML is not a target.
    runtime : str or AskedRuntime, optional
        The runtime that the model is for, such as ``tract`` or ``onnxruntime:cuda``: each node runs on it, in a
        separate process. By default, the installed onnxruntime is asked which nodes it refuses.
    select : collection of str
        The rules to use: codes, or prefixes such as ``EX1``; all by default.
    ignore : collection of str
        The rules to leave out.

    Raises
    ------
    ModelError
        If it is not an ONNX model.
    ArgumentError
        If there is no such rule, feature level or installed runtime.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import onnx
    >>> from extremum.check import check
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (int64[1] y) { y = ArgMax <axis=1> (x) }'
    >>> for finding in check(onnx.parser.parse_model(text)).counted():
    ...     print(finding)
    EX003 error: ArgMax-13 has axis=1, but its input has rank 1
      at    graph.node[0], opset 13
      given x: float32[3], axis=1
      help  use a value in [-1, 0]
    """
    # What is wrong with an argument is said before the model is read.
    rules = _selected(select, ignore)
    level = None if feature_level is None else feature_level_of(feature_level)
    notes = []
    stock = None
    with ExitStack() as stack:
        # The rules ask one runtime: the named one in its own process, or else the installed onnxruntime in this one.
        if isinstance(runtime, str):
            runtime = AskedRuntime(stack.enter_context(Subprocess(runtime)))
        elif runtime is None:
            try:
                stock = runtimes.find("onnxruntime")
            except ArgumentError as error:
                notes.append(f"onnxruntime was not asked what it refuses: {error.one_line()}")
        report = apply_rules(list(sites(load(model))), rules, Targets(stock, level, runtime))
    return replace(report, notes=(*notes, *report.notes))


def _selected(select: Collection[str], ignore: Collection[str]) -> list[Rule]:
    """Return the rules that some codes select, or all, without those that others leave out."""
    chosen = [rule for code in select for rule in matching(code)] if select else RULES
    left_out = [rule for code in ignore for rule in matching(code)]
    return [rule for rule in RULES if rule in chosen and rule not in left_out]


def apply_rules(all_sites: Sequence[Site], rules: Collection[Rule], targets: Targets) -> Report:
    """Apply rules to the nodes of a model."""
    rewritten = replaced(all_sites)
    # A function that is called with several types is checked with each of them.
    findings: dict[Finding, None] = {}
    notes: dict[str, None] = {}
    places = set[str]()
    of_written = set[tuple[int, str]]()
    for number, site in enumerate(all_sites):
        # A rule about answers sees the nodes that `extremum fix` wrote as the one node that they replace.
        if (before := rewritten.before.get(number)) is not None:
            about_answers = [rule for rule in rules if rule.follows]
            findings.update(dict.fromkeys(_findings(before, about_answers, targets)))
        if ONNX not in site.opsets and (canonical(site.node.domain), site.node.op_type) in OPERATORS:
            notes[f"{site.node.op_type} at {site.place} has no version: its domain is not imported"] = None
        if site.schema is None:
            continue
        if any(tensor.element is None for tensor in site.operands):
            notes[f"an element type at {site.place} is not known, so some rules do not apply to it"] = None
        places.add(site.path)
        last = rewritten.written.get(number)
        if last is None:
            findings.update(dict.fromkeys(_findings(site, rules, targets)))
            continue
        # Of the nodes that were written in the place of one, the first with a finding of a rule stands for all.
        for finding in _findings(site, [rule for rule in rules if not rule.follows], targets):
            if (last, finding.code) not in of_written:
                of_written.add((last, finding.code))
                findings[finding] = None
    return Report(tuple(findings), len(places), tuple(notes), len({site.path for site in all_sites}))


def _findings(site: Site, rules: Collection[Rule], targets: Targets) -> Iterator[Finding]:
    """Yield what rules find at one node of this package's operators."""
    for rule in rules:
        for error in rule.look(site, site.version, targets):
            yield Finding(
                rule.code,
                rule.severity,
                operator=str(site.version),
                place=site.place,
                opset=site.opsets[ONNX],
                reason=error.reason,
                given=error.given or site.given or None,
                remedy=error.remedy,
            )
