"""A model that is ready to run, whoever runs it, and what is refused: of the model before it runs, of inputs in a run.

Decides the order of the questions to a model: is there an implementation, do the attributes and the known types fit the
version, would a tensor of known size fit into memory; and what of onnx's checker counts. Decides which arrays belong to
which names, and refuses a missing, unknown or repeated one and any whose element type or shape contradicts the
declaration. A symbolic dimension has one size in all inputs of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.backend.base import BackendRep, namedtupledict

from extremum import validate
from extremum.arrays import as_array
from extremum.backend.engines import Executor, Session, is_installed
from extremum.dtypes import ELEMENT_TYPES
from extremum.errors import (
    ArgumentError,
    ExtremumError,
    InputError,
    ModelError,
    UnknownOperatorError,
    first_line,
    needed,
)
from extremum.graph import nodes
from extremum.graph.load import Model
from extremum.graph.sites import Site
from extremum.graph.types import declared_type, defaults, one_line
from extremum.interop import as_operand, is_table
from extremum.tensors import TensorType, require_memory

# The domains of which onnxruntime has operators that onnx's reference implementation has not.
_ONNXRUNTIME = ("", "ai.onnx.ml", "com.microsoft")
ENGINES = ("onnxruntime", "reference")
"""Who can run operators that are not this package's."""


class PreparedModel(BackendRep):
    """A model that has been checked and loaded, to be run any number of times.

    Attributes
    ----------
    model : onnx.ModelProto
        The model, with its weights.
    engine : str
        Who runs it, one of :data:`ENGINES`. The operators of this package are this package's in both.

    Examples
    --------
    >>> import numpy as np
    >>> import onnx
    >>> from extremum import backend
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[n] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> prepared = backend.prepare(onnx.parser.parse_model(text))
    >>> prepared.run([np.array([1, 3, 3], np.float32)]).y
    array([1])
    """

    def __init__(self, loaded: Model, executor: Executor | Session) -> None:
        self.loaded = loaded
        self.engine = "onnxruntime" if isinstance(executor, Session) else "reference"
        self._executor = executor
        self._outputs = namedtupledict("Outputs", list(executor.output_names))
        graph = loaded.proto.graph
        # None for what is no tensor.
        self._types = {
            each.name: declared_type(each.type) if each.type.HasField("tensor_type") else None for each in graph.input
        }
        self._names, optional = list(self._types), defaults(graph)
        self._required = [name for name in self._names if name not in optional]
        # The types of the arrays of the last run that passed: most runs come with arrays of the same types.
        self._passed: object = None

    def __repr__(self) -> str:
        graph = self.loaded.proto.graph
        optional = defaults(graph)
        inputs = [each for each in graph.input if each.name not in optional]
        return f"<PreparedModel {one_line(inputs)} -> {one_line(graph.output)}, engine={self.engine!r}>"

    @property
    def model(self) -> onnx.ModelProto:
        """The model, with its weights; large ones in other files are read when this is first asked for."""
        return self.loaded.whole

    def run(self, inputs: Sequence[Any] | Mapping[str, Any], **options: Any) -> tuple[Any, ...]:
        """Run the model.

        Parameters
        ----------
        inputs : sequence or mapping
            Arrays in the model's order, or by name. They are not modified.

        Returns
        -------
        tuple
            The outputs in the model's order, which can also be had by name.

        Raises
        ------
        InputError
            If the inputs do not fit the model's declaration.
        SpecError, AxisError, ElementTypeError
            If an operator's version does not allow what reaches it.
        MemoryLimitError
            If an output would not fit into memory.
        ExecutionError
            If an operator of onnx's reference implementation fails.
        """
        refuse(options)
        outputs: tuple[Any, ...] = self._outputs(*self._executor.run(None, self._bind(inputs)))
        return outputs

    def _bind(self, inputs: Sequence[Any] | Mapping[str, Any]) -> dict[str, Any]:
        """Return the inputs by name, checked."""
        named = _named(inputs, self._names, self._required)
        # Whether an input passes depends on these alone, if it is an array.
        signature = [(name, x.dtype, x.shape) if isinstance(x, np.ndarray) else None for name, x in named.items()]
        if signature == self._passed:
            return named
        sizes: dict[str, tuple[int, str]] = {}
        for name, given in named.items():
            expected = self._types[name]
            if expected is not None:
                named[name] = _tensor(name, given, expected, sizes)
        self._passed = None if None in signature else signature
        return named


def refuse(options: Mapping[str, Any]) -> None:
    """Refuse options of onnx's interface that mean nothing here."""
    for name in options:
        raise ArgumentError(f"there is no option {name!r} here")


def _named(inputs: Any, names: list[str], required: list[str]) -> dict[str, Any]:
    if isinstance(inputs, Mapping):
        for name in inputs:
            if name not in names:
                raise InputError(f"the model has no input {name!r}", remedy=f"its inputs are: {', '.join(names)}")
        for name in required:
            if name not in inputs:
                raise InputError(f"input {name!r} is missing", given=f"inputs {', '.join(inputs) or 'none'}")
        return dict(inputs)
    if not isinstance(inputs, list | tuple):
        raise InputError(
            "the inputs are neither a list nor a dict",
            given=type(inputs).__name__,
            remedy="put a single array into a list: run([x])",
        )
    for expected in (required, names):
        if len(inputs) == len(expected):
            return dict(zip(expected, inputs, strict=True))
    raise InputError(
        f"the model takes {len(required)} inputs, not {len(inputs)}",
        remedy=f"in this order: {', '.join(required)}" if required else None,
    )


def _table(name: str, given: Any) -> NDArray[Any]:
    """Return the columns of a table as one array, where that changes no element."""
    try:
        operand = as_operand(given)
        operand.require_valid("fill or drop them first", given=f"{type(given).__module__}.{type(given).__qualname__}")
    except ExtremumError as error:
        raise error.with_context(where=f"input {name!r}") from None
    return operand.array


def _tensor(name: str, given: Any, expected: TensorType, sizes: dict[str, tuple[int, str]]) -> NDArray[Any]:
    # Text is a legitimate element type here, so an array is taken as it is.
    array = given if isinstance(given, np.ndarray) else _table(name, given) if is_table(given) else as_array(given)
    found = TensorType.of(array)
    context = {"given": f"{name}: {found}", "remedy": f"the model declares {expected}"}
    if expected.element == "string":
        if array.dtype.kind not in "OSUT":
            raise InputError(f"input {name!r} has elements of type {found.element}, not text", **context)
    elif expected.element is not None and found.element != expected.element:
        if expected.element == "bfloat16" and array.dtype.itemsize == 2 and array.dtype.kind in "uiV":
            context["remedy"] = f"if these are bit patterns, say so: {name}.view(ml_dtypes.bfloat16)"
        raise InputError(f"input {name!r} has elements of type {found.element}, not {expected.element}", **context)
    if expected.shape is None:
        return array
    if array.ndim != len(expected.shape):
        raise InputError(f"input {name!r} has rank {array.ndim}, not {len(expected.shape)}", **context)
    for axis, (size, wanted) in enumerate(zip(array.shape, expected.shape, strict=True)):
        if isinstance(wanted, str):
            first, where = sizes.setdefault(wanted, (size, name))
            if size != first:
                raise InputError(f"dimension {wanted!r} is {first} in {where!r} but {size} in {name!r}", **context)
        elif wanted is not None and size != wanted:
            raise InputError(
                f"input {name!r} has {size} elements along axis {axis}, where the model declares {wanted}", **context
            )
    return array


def require_implemented(
    graph: onnx.GraphProto, sites: Iterable[Site], *, others_too: bool = False, refusal: str | None = None
) -> None:
    """Refuse what cannot run, whatever the inputs; ``others_too`` leaves other operators to onnxruntime."""
    for each in nodes.graphs(graph):
        for value in each.input:
            _require_memory(value.name, declared_type(value.type))
    # One look-up for each operator; the answers, which hold names of the model, are not kept.
    implemented = cache(_is_implemented)
    for site in sites:
        node = site.node
        try:
            domain = nodes.canonical(node.domain)
            if domain not in site.opsets:
                raise ModelError(f"no version of the domain {domain!r} of {node.op_type} is imported")
            if not (others_too or site.is_call or implemented(domain, node.op_type, site.opsets[domain])):
                raise _unknown(domain, node.op_type, refusal)
            for name, tensor in _outputs(site).items():
                _require_memory(name, tensor)
        except ExtremumError as error:
            raise error.with_context(where=site.where) from None


def _outputs(site: Site) -> dict[str, TensorType]:
    """Return the types of a node's outputs; what the family gives is held against what is declared."""
    if site.schema is None:
        return {name: site.types.get(name, TensorType()) for name in site.node.output}
    outputs = dict(zip(site.node.output, site.outputs(), strict=True))
    for name, output in outputs.items():
        validate.output(site.schema, name, declared=site.declared_types.get(name, TensorType()), inferred=output)
    return outputs


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
