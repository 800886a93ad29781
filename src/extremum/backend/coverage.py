"""What can be refused before a model runs, from the model alone.

Decides the order of the questions: is there an implementation, do the attributes and the known types fit the version,
would a tensor of known size fit into memory. The nodes come from :mod:`extremum.graph.sites`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import onnx

from extremum import dtypes, validate
from extremum.backend.executor import Executor
from extremum.backend.session import is_installed
from extremum.errors import ElementTypeError, ExtremumError, ModelError, UnknownOperatorError, needed
from extremum.graph import nodes
from extremum.graph.sites import Site
from extremum.graph.types import declared
from extremum.tensors import TensorType, require_memory

__all__ = ["require_implemented"]

# The domains of which onnxruntime has operators that onnx's reference implementation has not.
_ONNXRUNTIME = ("", "ai.onnx.ml", "com.microsoft")


def require_implemented(
    graph: onnx.GraphProto, sites: Iterable[Site], *, others_too: bool = False, refusal: str | None = None
) -> None:
    """Refuse what cannot run, whatever the inputs."""
    for each in nodes.graphs(graph):
        for value in each.input:
            _require_memory(value.name, declared(value.type))
    # Each operator is asked about once, and the answers, which hold names of the model, are not kept.
    implemented = cache(_is_implemented)
    for site in sites:
        _node(site, others_too, refusal, implemented)


def _node(site: Site, others_too: bool, refusal: str | None, implemented: Callable[[str, str, int], bool]) -> None:
    try:
        _require_implementation(site, others_too, refusal, implemented)
        outputs = {name: site.types.get(name, TensorType()) for name in site.node.output}
        if site.schema is not None:
            output = site.output()
            (name,) = outputs
            validate.output(site.schema, name, declared=site.stated.get(name, TensorType()), inferred=output)
            outputs[name] = output
        for name, tensor in outputs.items():
            _require_memory(name, tensor)
    except ExtremumError as error:
        raise error.with_context(where=site.where) from None


def _is_implemented(domain: str, operator: str, version: int) -> bool:
    node = onnx.NodeProto(domain=domain, op_type=operator)
    return Executor(onnx.GraphProto(), opsets={domain: version}).implements(node)


def _require_implementation(
    site: Site, others_too: bool, refusal: str | None, implemented: Callable[[str, str, int], bool]
) -> None:
    node = site.node
    domain = nodes.canonical(node.domain)
    if domain not in site.opsets:
        raise ModelError(f"no version of the domain {domain!r} of {node.op_type} is imported")
    if others_too or site.is_call:
        return
    if not implemented(domain, node.op_type, site.opsets[domain]):
        name = f"{domain}.{node.op_type}" if domain else node.op_type
        remedy = "give it as a model-local function"
        if refusal is None and domain in _ONNXRUNTIME and not is_installed():
            remedy = f"{needed('onnxruntime')}, which may have it, or {remedy}"
        raise UnknownOperatorError(f"there is no implementation of {name}", given=refusal, remedy=remedy)


def _require_memory(name: str, tensor: TensorType) -> None:
    if tensor.sizes is None or tensor.element is None:
        return
    try:
        schema = dtypes.from_name(tensor.element)
    except ElementTypeError:
        return
    require_memory(tensor.sizes, schema.dtype, repr(name))
