"""Models rewritten into standard ONNX that a target runs, exact to the bit.

Decides which nodes are rewritten: those that the rules of :mod:`extremum.check` find for the target, with the rewrites
of :mod:`extremum.fix.rewrites`. Nothing else in the model changes; its opset changes only on request, by onnx's own
converter. Decides what is compared, bit by bit: every rewritten node on its own, on difficult samples; then
both models as a whole, if their inputs can be drawn and their operators have an implementation here. All NaNs count as
equal: no runtime guarantees which NaN it gives.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ArgumentError, ExtremumError, InputError, ModelError, SpecError, first_line, required_by

with required_by("extremum.fix"):
    import onnx

from extremum import backend, check, runtimes, validate
from extremum.check.question import AskedRuntime, Kind, draw, expected_outputs, model_of, refusals, samples
from extremum.check.rules import Targets
from extremum.directml import FeatureLevel, create_operator, steps
from extremum.fix.rewrites import REWRITES, Fragment, find
from extremum.graph import nodes
from extremum.graph.load import external, load
from extremum.graph.sites import Site, sites
from extremum.graph.types import declared_inputs, require_array
from extremum.printable import printable
from extremum.runtimes import Feeds, Run, shown
from extremum.runtimes.runtime import Load, Subprocess, ended
from extremum.spec import OPERATORS, Family, OperatorVersion
from extremum.tensors import TensorType

__all__ = ["REWRITES", "Change", "Fixed", "fix", "has_external_data"]
__dir__ = __all__.copy


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


@dataclass(frozen=True, slots=True)
class Change:
    """One node and the nodes that replace it.

    The place is the path of the node with its name, if it has one. The operator has its version, such as ``ArgMax-13``;
    the element type is that of its inputs. The title says what the rewrite does.

    >>> import onnx
    >>> from extremum.fix import fix
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (int16[9] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> print(fix(onnx.parser.parse_model(text)).changes[0])
    graph.node[0]: ArgMax-13 of int16 on wider integers
    """

    place: str
    path: str
    operator: str
    element: str
    title: str
    before: onnx.NodeProto
    after: tuple[onnx.NodeProto, ...]

    def __str__(self) -> str:
        return printable(f"{self.place}: {self.operator} of {self.element} {self.title}")

    def diff(self) -> str:
        """Return the node and its replacement, a line per node, marked as in a unified diff."""
        before, *after = (printable(_text(node)) for node in (self.before, *self.after))
        return "\n".join([f"@@ {self} @@", f"- {before}", *(f"+ {node}" for node in after)])

    def record(self) -> dict[str, Any]:
        """Return the change in a form that JSON can hold, nodes in ONNX's textual form."""
        words = {"place": self.place, "operator": self.operator, "element": self.element, "rewrite": self.title}
        return {**words, "before": _text(self.before), "after": [_text(node) for node in self.after]}


def _text(node: onnx.NodeProto) -> str:
    # In a graph, because only onnx 1.22 and later print single nodes.
    _, _, text = onnx.printer.to_text(onnx.helper.make_graph([node], "g", [], [])).partition("{")
    return " ".join(text.rpartition("}")[0].split())


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed model.

    The model is the original if nothing changed. Each rewritten node has a change. Each node that the target refuses
    and that cannot be rewritten has a refusal: then the target does not run the model. Each node that it answers
    differently and that has no exact rewrite has a difference and stays. The notes say what was not compared, and why,
    and which nodes answer differently for NaN.

    >>> import onnx
    >>> from extremum.fix import fix
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (int16[9] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> fixed = fix(onnx.parser.parse_model(text))
    >>> len(fixed.changes), fixed.refusals, fixed.notes
    (1, (), ())
    """

    model: onnx.ModelProto
    target: str
    changes: tuple[Change, ...]
    refusals: tuple[ExtremumError, ...]
    differences: tuple[ExtremumError, ...] = ()
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return one line that says whether the model was modified."""
        if self.refusals:
            return f"not modified: {_count(self.refusals)} cannot be rewritten for {self.target}"
        text, joint = f"not modified: {self.target} takes every node", "but"
        if self.changes:
            text, joint = f"{_count(self.changes)} rewritten for {self.target}", "which"
        return f"{text}, {joint} answers {_count(self.differences)} differently" if self.differences else text


def _count(nodes: Sequence[object]) -> str:
    return f"{len(nodes)} node{'' if len(nodes) == 1 else 's'}"


def splice(model: onnx.ModelProto, replacements: Mapping[str, Sequence[onnx.NodeProto]]) -> onnx.ModelProto:
    """Return a copy of a model with the nodes at some paths replaced."""
    copy = deepcopy(model)

    def rebuild(body: onnx.GraphProto | onnx.FunctionProto, prefix: str) -> None:
        before = list(map(deepcopy, body.node))
        del body.node[:]
        for index, node in enumerate(before):
            for name, graph in nodes.subgraphs(node):
                rebuild(graph, nodes.path(prefix, index, name))
            body.node.extend(replacements.get(nodes.path(prefix, index), [node]))

    for _, prefix, body in nodes.bodies(copy):
        rebuild(body, prefix)
    return copy


# In seconds; a model of ten thousand nodes takes a few.
_LIMIT = 300.0
_PREFIX = "hidden."
# The converter may print, and its output must stay apart from the model.
_CONVERTER = """
import os, sys
result = os.dup(1)
os.dup2(2, 1)
import onnx.version_converter
model = onnx.ModelProto.FromString(sys.stdin.buffer.read())
try:
    answer, status = onnx.version_converter.convert_version(model, int(sys.argv[1])).SerializeToString(), 0
except Exception as error:
    # The converter raises RuntimeError, ValueError and its own ConvertError.
    answer, status = str(error).strip().partition("\\n")[0].encode(errors="backslashreplace"), 3
with os.fdopen(result, "wb") as out:
    out.write(answer)
sys.exit(status)
"""


def convert(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """Return a model at an opset, or the model itself if it has that or a later opset."""
    if nodes.opsets(model.opset_import).get("", 0) >= opset:
        return model
    if model.functions:
        raise ModelError("the opset of a model with functions cannot be raised", remedy="inline them first")
    content = _with_domains(model, lambda domain: f"{_PREFIX}{domain}").SerializeToString()
    command = [sys.executable, "-c", _CONVERTER, str(opset)]
    try:
        child = subprocess.run(command, input=content, capture_output=True, timeout=_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        given = f"onnx's converter did not end in {_LIMIT:g} s"
    else:
        if child.returncode == 0:
            return _with_domains(onnx.ModelProto.FromString(child.stdout), lambda domain: domain.removeprefix(_PREFIX))
        is_refusal = child.returncode == 3
        given = child.stdout.decode() if is_refusal else f"onnx's converter ended with {ended(child.returncode)}"
    raise ModelError(f"the model cannot be raised to opset {opset}", given=given)


def _with_domains(model: onnx.ModelProto, rename: Callable[[str], str]) -> onnx.ModelProto:
    """Return a copy with renamed domains, except ONNX's own."""
    copy = deepcopy(model)
    parts: list[Any] = [*copy.opset_import, *(node for _, _, node in nodes.everywhere(copy))]
    for each in parts:
        if nodes.canonical(each.domain):
            each.domain = rename(each.domain)
    return copy


@dataclass(frozen=True)
class Target:
    """A runtime without any operator of this package, or DirectML at a feature level."""

    name: str
    # The rule for nodes that it refuses, and the rule for nodes that it answers differently, if there is one.
    refuses: str
    differs: str | None
    # The targets that these rules ask.
    targets: Targets
    load: Load
    # Whether it runs whole models; DirectML has only the operators of this package.
    whole: bool = True


def _directml(level: FeatureLevel, model: onnx.ModelProto) -> Run:
    """Return what runs a model with DirectML's operators; the backend runs nodes that DirectML lacks."""

    def run(inputs: Feeds) -> list[NDArray[Any]]:
        values, opsets = dict(inputs), nodes.opsets(model.opset_import)
        for node in model.graph.node:
            schema = nodes.version(node, opsets)
            operands = {name: values[name] for name in nodes.operand_names(node, schema)}
            answers = backend.run_node(node, operands, opset_version=opsets[""])
            values.update(zip(node.output, answers, strict=True))
            # No rewrite needs a TopK that DirectML takes.
            if schema is None or schema.family is Family.TOP:
                continue
            name, result = node.output[0], np.empty_like(answers[0], order="C")
            types = nodes.operand_types(schema, list(operands.values()))
            attributes = validate.attributes(schema, nodes.attributes_of(node, {}), types)
            tensors = {each: np.ravel(x) for each, x in {**operands, name: result}.items()}
            pairs = list(zip(operands, types, strict=True))[: schema.input.maximum]
            for step in steps(schema, attributes, pairs, [(name, TensorType.of(result))], level):
                operator = create_operator(step.desc, feature_level=level)
                operator.dispatch(inputs=[tensors[each] for each in step.inputs], outputs=[tensors[step.output]])
            values[name] = result
        return [values[each.name] for each in model.graph.output]

    return run


@contextmanager
def opened(text: str) -> Iterator[Target]:
    """Give the target called ``onnxruntime``, ``directml-4_1`` or like a runtime, until the block ends."""
    levels = {f"directml-{level}": level for level in FeatureLevel}
    if text == "onnxruntime":
        runtime = runtimes.find(text)
        yield Target(shown(runtime), "EX101", "EX108", Targets(runtime=runtime), runtime.load)
    elif (level := levels.get(text)) is not None:
        yield Target(f"DirectML {level}", "EX102", None, Targets(feature_level=level), partial(_directml, level), False)
    elif text.partition(":")[0] in runtimes.known():
        with Subprocess(text) as process:
            yield Target(shown(process), "EX106", "EX107", Targets(asked=AskedRuntime(process)), process.load)
    else:
        names = ", ".join((*runtimes.known(), *levels))
        raise ArgumentError(f"there is no target {text!r}", remedy=f"the targets are {names}")


def same_bits(first: Any, second: Any) -> bool:
    """Return whether two values agree in type, shape and every bit; any NaN agrees with any other."""
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same_bits, first, second))
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(same_bits(first[key], second[key]) for key in first)
    first, second = np.asarray(first), np.asarray(second)
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    same = first == second
    if first.dtype.kind in "fV":
        same = same & (np.signbit(first) == np.signbit(second)) | (first != first) & (second != second)
    return bool(np.all(same))


def verify_node(site: Site, change: Change, opset: int, target: Target) -> None:
    """Compare the answers of a node here with those of its replacement in the target."""
    # Attributes that come from the call of a function have their defaults here.
    node, *body = (nodes.resolve_references(each, {}) for each in (site.node, *change.after))
    run = None
    for inputs in samples(site):
        try:
            expected = expected_outputs(node, inputs, site.opsets[""])
            # All samples have the same types.
            run = run or target.load(model_of(body, opset, inputs, dict(zip(node.output, expected, strict=True))))
            with np.errstate(all="ignore"):
                answers = run(inputs)
        except Exception as error:
            # A target may raise anything.
            reason = f"{target.name} does not run the replacement of {change.operator}"
            raise ModelError(reason, where=change.place, given=first_line(error)) from error
        if not same_bits(answers, expected):
            reason = f"the replacement of {change.operator} gives other answers in {target.name}"
            raise ModelError(reason, where=change.place, given=f"{change.element} {change.title}")


def verify_model(original: onnx.ModelProto, result: onnx.ModelProto, target: Target, *, differs: bool) -> list[str]:
    """Load the fixed model in the target and compare both; ``differs`` if the target answers some nodes differently."""
    run = None
    if target.whole:
        try:
            run = target.load(result)
        except Exception as error:
            refusal = ModelError(f"{target.name} does not load the fixed model", given=first_line(error))
            # The model may need a library of another package.
            own = {function.domain for function in original.functions} | {"", "ai.onnx", "ai.onnx.ml"}
            if all(site.node.domain in own for site in sites(original)):
                raise refusal from error
            return [f"compared node by node, not as a whole: {refusal.one_line()}"]
    try:
        before = backend.prepare(original)
        # Without NaN and infinities, which other nodes of a model may not support.
        batch = [_inputs(original, kind) for kind in (Kind.RANDOM, Kind.TIES)]
        expected = [before.run(inputs) for inputs in batch]
    except ExtremumError as error:
        return [f"compared node by node, not as a whole: {error.one_line()}"]
    if not all(map(same_bits, map(backend.prepare(result).run, batch), expected)):
        raise ModelError("the fixed model gives other answers")
    if run is None:
        return []
    try:
        answers = [run(inputs) for inputs in batch]
    except Exception as error:
        raise ModelError(f"{target.name} does not run the fixed model", given=first_line(error)) from error
    if differs or all(map(same_bits, answers, expected)):
        return []
    if all(site.schema is not None for site in sites(original)):
        raise ModelError(f"the fixed model gives other answers in {target.name}")
    return [f"the same answers here; others in {target.name}, whose other operators may round differently"]


def _inputs(model: onnx.ModelProto, kind: Kind) -> dict[str, NDArray[Any]]:
    random = np.random.default_rng(0)
    arrays = {}
    for each in declared_inputs(model):
        if each.optional:
            continue
        if each.dtype is None or each.dtype.kind == "O" or each.shape is None:
            raise InputError(f"input {each.name!r} cannot be drawn: the model does not state its type and rank")
        sizes = tuple(size if isinstance(size, int) else 3 for size in each.shape)
        require_array(sizes, each.dtype, each.name)
        arrays[each.name] = draw(random, each.dtype.name, sizes, kind)
    return arrays
