"""What a model must meet before it runs: each operator exists, each node is valid, each tensor fits into memory."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import onnx

from extremum import errors, validate
from extremum.backend.evaluator import Executor
from extremum.backend.session import is_installed
from extremum.errors import ModelError, first_line, within
from extremum.graph.calls import canonical
from extremum.graph.limits import may_exceed
from extremum.graph.sites import Site
from extremum.graph.types import declared_type, skeleton
from extremum.graph.walk import all_graphs, all_nodes, subgraphs_of
from extremum.tensors import ELEMENT_TYPES, TensorType, require_memory


def require_implemented(
    graph: onnx.GraphProto, sites: Iterable[Site], *, others_too: bool = False, refusal: str | None = None
) -> None:
    """Refuse a model that cannot run on any inputs; with ``others_too`` onnxruntime checks the other operators."""
    for each in all_graphs(graph):
        for value in each.input:
            _require_memory(value.name, declared_type(value.type))
    # Look up each operator once; the cache ends with this call because it holds names of the model.
    require = cache(_require_implementation)
    # Values of a size that no memory holds because k is so large: if the axis has fewer elements, a run says so.
    doubtful = set[str]()
    for site in sites:
        node = site.node
        with within(site.where):
            domain = canonical(node.domain)
            if domain not in site.opsets:
                raise ModelError(f"no version of the domain {domain!r} of {node.op_type} is imported")
            if not (others_too or site.is_call):
                require(domain, node.op_type, site.opsets[domain], refusal)
            types = (site.types.get(name, TensorType()) for name in node.output)
            for name, tensor in zip(
                node.output, types if site.schema is None else site.outputs(), strict=True
            ):
                if site.schema is not None:
                    declared = site.declared_types.get(name, TensorType())
                    validate.output(site.schema, name, declared=declared, inferred=tensor)
                try:
                    _require_memory(name, tensor)
                except errors.MemoryLimitError:
                    if not may_exceed(site) and doubtful.isdisjoint(node.input):
                        raise
                    doubtful.update(node.output)


def _require_implementation(domain: str, operator: str, version: int, refusal: str | None) -> None:
    """Refuse an operator that the evaluator lacks; `refusal` is onnxruntime's. Not for model-local functions."""
    node = onnx.NodeProto(domain=domain, op_type=operator)
    try:
        Executor(onnx.GraphProto(), opsets={domain: version})._load_impl(node)
    except onnx.reference.op_run.RuntimeContextError:
        # The operator exists; the types of the inputs choose its implementation.
        return
    except (NotImplementedError, RuntimeError, TypeError, ValueError):
        # TypeError: onnx reports a version of more than 32 bits as an argument of the wrong type.
        ways = ["give it as a model-local function"]
        # In these domains, onnxruntime has operators that onnx's reference implementation lacks.
        if refusal is None and domain in ("", "ai.onnx.ml", "com.microsoft") and not is_installed():
            ways.insert(0, f"{errors.needed('onnxruntime')}, which may have it")
        name = f"{domain}.{operator}" if domain else operator
        raise errors.UnknownOperatorError(
            f"there is no implementation of {name}",
            given=refusal,
            remedy=", or ".join(ways),
        ) from None


def _require_memory(name: str, tensor: TensorType) -> None:
    element = next((each for each in ELEMENT_TYPES if each.name == tensor.element), None)
    if tensor.sizes is not None and element is not None:
        require_memory(tensor.sizes, element.dtype, repr(name))


def require_valid(model: onnx.ModelProto) -> None:
    """Refuse what onnx's checker refuses, except a graph without a name and a value without a type or rank."""
    copy = skeleton(model)
    for value in (*copy.graph.input, *copy.graph.output):
        # Runtimes take a value of open rank and infer outputs; the checker only requires a type and a shape.
        if value.type.WhichOneof("value") is None:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.shape.SetInParent()
    # Nothing depends on the name of a graph.
    copy.graph.name = copy.graph.name or "graph"
    for _, _, node in all_nodes(copy):
        node.domain = canonical(node.domain)
        for _, graph in subgraphs_of(node):
            graph.name = graph.name or "graph"
    try:
        # A function may import another version than its model, and runs with its own.
        onnx.checker.check_model(copy, skip_opset_compatibility_check=True)
    except (onnx.checker.ValidationError, ValueError) as error:
        raise ModelError("the model is not valid", given=first_line(error)) from None
