"""What can be refused before a model runs, from the model alone.

Decides the order of the questions: is there an implementation, do the attributes and the known types fit the version,
would a tensor of known size fit into memory. It walks the graph, its subgraphs and the model-local functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import onnx

from extremum import dtypes
from extremum.backend import node as nodes
from extremum.backend.executor import Executor
from extremum.errors import ElementTypeError, ExtremumError, ModelError, SpecError, UnknownOperatorError
from extremum.memory import require_memory
from extremum.tensors import TensorType

__all__ = ["declared", "known", "survey"]

Types = Mapping[str, TensorType]


def survey(model: onnx.ModelProto, *, others_too: bool = False) -> None:
    """Refuse what cannot run, whatever the inputs.

    Parameters
    ----------
    model : onnx.ModelProto
        With the value infos of shape inference in it; the weights are not needed.
    others_too : bool
        Whether somebody else may run the operators of which there is no implementation here.

    Raises
    ------
    UnknownOperatorError
        If there is no implementation of an operator, unless somebody else may have one.
    SpecError, AxisError, ElementTypeError
        If a node breaks the promise of its version.
    MemoryLimitError
        If a tensor of known size would not fit into memory.
    ModelError
        If an operator's domain is not imported.

    Examples
    --------
    >>> import onnx
    >>> from extremum.backend.survey import survey
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (int64[1] y) { y = ArgMax <axis=1> (x) }'
    >>> survey(onnx.parser.parse_model(text))
    Traceback (most recent call last):
        ...
    extremum.errors.AxisError: ArgMax-13 has axis=1, but its input has rank 1
      at    graph.node[0], opset 13
      given x: float32[3], axis=1
      help  use a value in [-1, 0]
    """
    functions = frozenset((nodes.canonical(each.domain), each.name) for each in model.functions)
    _Scope(nodes.opsets(model.opset_import), functions, others_too).graph(model.graph, "graph", {})
    for index, function in enumerate(model.functions):
        types = dict(_typed(function.value_info))
        scope = _Scope(nodes.opsets(function.opset_import), functions, others_too)
        scope.nodes(function.node, f"functions[{index}]", types)


def declared(value: onnx.TypeProto) -> TensorType:
    """Return what a declaration says of a tensor; nothing for what is no tensor.

    Examples
    --------
    >>> import onnx
    >>> from extremum.backend.survey import declared
    >>> str(declared(onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ("n", 3))))
    'float32[n, 3]'
    """
    if not value.HasField("tensor_type"):
        return TensorType()
    tensor = value.tensor_type
    shape = None
    if tensor.HasField("shape"):
        shape = tuple(
            each.dim_value if each.HasField("dim_value") else each.dim_param or None for each in tensor.shape.dim
        )
    return TensorType(_element(tensor.elem_type), shape)


def _element(number: int) -> str | None:
    if not number or number not in onnx.TensorProto.DataType.values():
        return None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(number)
    return "string" if dtype.kind == "O" else str(dtype.name)


def known(graph: onnx.GraphProto) -> dict[str, TensorType]:
    """Return what a graph says of its tensors, by name.

    Examples
    --------
    >>> import onnx
    >>> from extremum.backend.survey import known
    >>> str(known(onnx.parser.parse_graph("g (float[n, 3] x) => (float[n, 3] y) { y = Hardmax(x) }"))["y"])
    'float32[n, 3]'
    """
    constants = ((each.name, TensorType(_element(each.data_type), tuple(each.dims))) for each in graph.initializer)
    return dict((*_typed(graph.value_info), *_typed(graph.output), *constants, *_typed(graph.input)))


def _typed(values: Iterable[onnx.ValueInfoProto]) -> Iterable[tuple[str, TensorType]]:
    return ((value.name, declared(value.type)) for value in values)


@dataclass(frozen=True, slots=True)
class _Scope:
    """A graph or function body: what it imports, which functions it may call, whether others may run its operators."""

    opsets: Mapping[str, int]
    functions: frozenset[tuple[str, str]]
    others_too: bool

    def graph(self, graph: onnx.GraphProto, prefix: str, outer: Types) -> None:
        own = known(graph)
        for value in graph.input:
            _require_memory(value.name, own[value.name])
        self.nodes(graph.node, prefix, {**outer, **own})

    def nodes(self, body: Iterable[onnx.NodeProto], prefix: str, types: dict[str, TensorType]) -> None:
        probe = Executor(onnx.GraphProto(), opsets=self.opsets)
        for index, node in enumerate(body):
            for name, graph in nodes.subgraphs(node):
                self.graph(graph, f"{prefix}.node[{index}].{name}", types)
            try:
                self._implemented(node, probe)
                types.update(self._output(node, types))
                for name in node.output:
                    _require_memory(name, types.get(name, TensorType()))
            except ExtremumError as error:
                place = nodes.place(prefix, index, node)
                opset = self.opsets.get(nodes.canonical(node.domain))
                raise error.with_context(where=f"{place}, opset {opset}" if opset else place) from None

    def _implemented(self, node: onnx.NodeProto, probe: Executor) -> None:
        domain = nodes.canonical(node.domain)
        if domain not in self.opsets:
            raise ModelError(f"no version of the domain {domain!r} of {node.op_type} is imported")
        if self.others_too or (domain, node.op_type) in self.functions:
            return
        if not probe.implements(node):
            name = f"{domain}.{node.op_type}" if domain else node.op_type
            raise UnknownOperatorError(
                f"there is no implementation of {name}", remedy="give it as a model-local function"
            )

    def _output(self, node: onnx.NodeProto, types: Types) -> Types:
        row = nodes.version(node, self.opsets)
        if row is None:
            return {}
        inputs = [types.get(name, TensorType()) for name in node.input]
        attributes = nodes.stated(node, {})
        if len(attributes) < len(node.attribute):
            # Some values come with the call of the function: what does not depend on them is checked, ranks are not.
            inputs = [TensorType(tensor.element) for tensor in inputs]
        _, output = nodes.resolve(row, attributes, list(node.input), inputs)
        if len(node.output) != 1:
            raise SpecError(f"{row} has 1 output, not {len(node.output)}")
        (name,) = node.output
        known = types.get(name, TensorType())
        if None not in (known.element, output.element) and known.element != output.element:
            raise ElementTypeError(f"{row} gives {output.element}, but its output {name!r} is declared {known.element}")
        return {name: output}


def _require_memory(name: str, tensor: TensorType) -> None:
    if tensor.sizes is None or tensor.element is None:
        return
    try:
        row = dtypes.from_name(tensor.element)
    except ElementTypeError:
        return
    require_memory(tensor.sizes, row.dtype, repr(name))
