"""What can be refused before a model runs, from the model alone.

Decides the order of the questions: is there an implementation, do the attributes and the known types fit the version,
would a tensor of known size fit into memory; and what of onnx's checker counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import onnx

from extremum import validate
from extremum.backend.executor import Executor
from extremum.backend.session import is_installed
from extremum.dtypes import ELEMENT_TYPES
from extremum.errors import ExtremumError, ModelError, UnknownOperatorError, first_line, needed
from extremum.graph import nodes
from extremum.graph.sites import Site
from extremum.graph.types import declared_type
from extremum.tensors import TensorType, require_memory

# The domains of which onnxruntime has operators that onnx's reference implementation has not.
_ONNXRUNTIME = ("", "ai.onnx.ml", "com.microsoft")


def require_implemented(
    graph: onnx.GraphProto, sites: Iterable[Site], *, others_too: bool = False, refusal: str | None = None
) -> None:
    """Refuse what cannot run, whatever the inputs; ``others_too`` leaves other operators to onnxruntime."""
    for each in nodes.graphs(graph):
        for value in each.input:
            _require_memory(value.name, declared_type(value.type))
    # One look-up for each operator; the answers, which hold names of the model, are not kept.
    implemented = cache(_is_implemented)

    def has_implementation(domain: str, site: Site) -> bool:
        return others_too or site.is_call or implemented(domain, site.node.op_type, site.opsets[domain])

    for site in sites:
        _require_right(site, has_implementation, refusal)


def _require_right(site: Site, has_implementation: Callable[[str, Site], bool], refusal: str | None) -> None:
    try:
        domain = nodes.canonical(site.node.domain)
        if domain not in site.opsets:
            raise ModelError(f"no version of the domain {domain!r} of {site.node.op_type} is imported")
        if not has_implementation(domain, site):
            raise _unknown(domain, site.node.op_type, refusal)
        outputs = {name: site.types.get(name, TensorType()) for name in site.node.output}
        if site.schema is not None:
            output = site.output()
            (name,) = outputs
            validate.output(site.schema, name, declared=site.declared_types.get(name, TensorType()), inferred=output)
            outputs[name] = output
        for name, tensor in outputs.items():
            _require_memory(name, tensor)
    except ExtremumError as error:
        raise error.with_context(where=site.where) from None


def _is_implemented(domain: str, operator: str, version: int) -> bool:
    node = onnx.NodeProto(domain=domain, op_type=operator)
    return Executor(onnx.GraphProto(), opsets={domain: version}).implements(node)


def _unknown(domain: str, operator: str, refusal: str | None) -> UnknownOperatorError:
    remedy = "give it as a model-local function"
    if refusal is None and domain in _ONNXRUNTIME and not is_installed():
        remedy = f"{needed('onnxruntime')}, which may have it, or {remedy}"
    name = f"{domain}.{operator}" if domain else operator
    return UnknownOperatorError(f"there is no implementation of {name}", given=refusal, remedy=remedy)


def _require_memory(name: str, tensor: TensorType) -> None:
    element = next((each for each in ELEMENT_TYPES if each.name == tensor.element), None)
    if tensor.sizes is not None and element is not None:
        require_memory(tensor.sizes, element.dtype, repr(name))


def require_valid(model: onnx.ModelProto) -> None:
    """Refuse what onnx's checker refuses, but neither a graph without a name nor a value without type or rank."""
    typed = onnx.ModelProto()
    typed.CopyFrom(model)
    for value in (*typed.graph.input, *typed.graph.output):
        # Runtimes take a value of open rank and infer outputs; the checker wants something there, and looks no further.
        if value.type.WhichOneof("value") is None:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.shape.SetInParent()
    # Nothing depends on the name of a graph.
    typed.graph.name = typed.graph.name or "graph"
    for _, _, node in nodes.everywhere(typed):
        node.domain = nodes.canonical(node.domain)
        for _, graph in nodes.subgraphs(node):
            graph.name = graph.name or "graph"
    try:
        # A function may import another version than its model: it is run with its own.
        onnx.checker.check_model(typed, skip_opset_compatibility_check=True)
    except (onnx.checker.ValidationError, ValueError) as error:
        raise ModelError("the model is not valid", given=first_line(error)) from None
