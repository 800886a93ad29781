"""Who runs a graph: onnx's reference evaluator or a session of onnxruntime, with this package's operators in both.

Decides how an operator of the evaluator finds its version and attributes, where an error says it happened, when there
is a session and what happens when it cannot go on: the evaluator then runs the model, or says what is wrong with it in
the same words as without onnxruntime. The evaluator's own defaults come from the newest version of an operator and it
hands new operators to subgraphs but not to functions; both are put right here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from extremum import dtypes, lower
from extremum.errors import (
    DependencyError,
    ElementTypeError,
    ExecutionError,
    ExtremumError,
    MemoryLimitError,
    ModelError,
    UnknownOperatorError,
    first_line,
    needed,
)
from extremum.graph import nodes
from extremum.graph.load import Model
from extremum.graph.sites import Site
from extremum.operations import Operation, results
from extremum.spec import ONNX, OPERATORS, OperatorVersion
from extremum.tensors import require_memory

# The domains of which onnxruntime has operators that onnx's reference implementation has not.
_ONNXRUNTIME = ("", "ai.onnx.ml", "com.microsoft")
_Outputs = Sequence[tuple[tuple[int, ...], np.dtype[Any]]]
"""Sizes and type of each output of a node."""


class _Operator(OpRun):
    # Without a schema the evaluator fills in no defaults: they depend on the model's opset.
    op_schema = None
    place: str | None = None
    # The types of the last inputs, the operation and the outputs of these: most calls come with the same types.
    _last: tuple[object, Callable[..., Any], _Outputs] | None = None

    def run(
        self, *inputs: Any, linked_attributes: Mapping[str, Any] | None = None, **_: Any
    ) -> tuple[NDArray[Any], ...]:
        # The evaluator's own ``run`` would turn every TypeError, and ours about element types is one, into another.
        # Some of its operators give a NumPy scalar for a tensor of rank 0.
        inputs = tuple(np.asarray(x) if isinstance(x, np.generic) else x for x in inputs)
        try:
            signature, plan = self._signature(inputs), self._last
            # A function's attributes may differ from call to call.
            if linked_attributes or plan is None or plan[0] != signature:
                plan = (signature, *self._plan(inputs, linked_attributes or {}))
                self._last = None if linked_attributes else plan
            _signature, operation, outputs = plan
            for sizes, dtype in outputs:
                require_memory(sizes, dtype, f"the output of {self._version}")
            return results(operation(*inputs[: self._version.input.maximum]))
        except ExtremumError as error:
            place = self.place or f"the node that gives {self.onnx_node.output[0]!r}"
            raise error.with_context(where=f"{place}, opset {self.run_params['opsets']['']}") from None

    _run = run

    @cached_property
    def _version(self) -> OperatorVersion:
        version = nodes.version(self.onnx_node, self.run_params["opsets"])
        assert version is not None
        return version

    def _signature(self, inputs: Sequence[Any]) -> list[object]:
        """Return all that the plan of a node depends on: types, and the values of what stands for an attribute."""
        data = self._version.input.maximum
        return [
            (x.dtype, x.shape, x.tobytes() if at >= data else None) if isinstance(x, np.ndarray) else None
            for at, x in enumerate(inputs)
        ]

    def _plan(self, inputs: tuple[Any, ...], linked_attributes: Mapping[str, Any]) -> tuple[Operation, _Outputs]:
        version = self._version
        names = nodes.operand_names(self.onnx_node, version)
        inputs = inputs[: len(names)]
        for name, x in zip(names, inputs, strict=True):
            if not isinstance(x, np.ndarray):
                raise ElementTypeError(f"{version} takes tensors", given=f"{name}: {type(x).__name__}")
        attributes = nodes.attributes_of(self.onnx_node, linked_attributes)
        values, outputs = nodes.resolve(version, attributes, names, nodes.operand_types(version, inputs))
        types = [(each.sizes or (), dtypes.from_name(str(each.element)).dtype) for each in outputs]
        return lower.operation(version, values, inputs[0].ndim), types


# The evaluator goes by the name of a class.
_OPERATORS = [
    type(name, (_Operator,), {"__doc__": f"ONNX {name}, every version.", "__module__": __name__})
    for name in sorted(name for domain, name in OPERATORS if domain == ONNX)
]


def reference_ops() -> list[type[OpRun]]:
    """Return this package's operators for ``onnx.reference.ReferenceEvaluator(model, new_ops=...)``.

    They follow the opset of the model. The evaluator itself gives new operators to the graph and its subgraphs, but not
    to model-local functions; :func:`extremum.backend.prepare` covers those too.

    Returns
    -------
    list of type
        One class per operator.

    Examples
    --------
    >>> import numpy as np
    >>> import onnx
    >>> from extremum import backend
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> model = onnx.parser.parse_model(text)
    >>> evaluator = onnx.reference.ReferenceEvaluator(model, new_ops=backend.reference_ops())
    >>> evaluator.run(None, {"x": np.array([1, np.nan, 3], np.float32)})
    [array([1])]
    """
    return list(_OPERATORS)


class Executor(ReferenceEvaluator):
    """The reference evaluator with this package's operators in its graph, subgraphs and functions."""

    def __init__(self, proto: onnx.GraphProto | onnx.FunctionProto, **options: Any) -> None:
        super().__init__(proto, **{**options, "new_ops": reference_ops()})
        # The evaluator would ask every call for all attributes; what a call leaves out has a default or stays out.
        self.attributes_ = []
        of_function = proto.attribute_proto if isinstance(proto, onnx.FunctionProto) else ()
        self._defaults = {each.name: nodes.value(each) for each in of_function}

    def _load_impl(self, node: onnx.NodeProto, input_types: Any = None) -> Any:
        if node.domain != nodes.canonical(node.domain):
            renamed = onnx.NodeProto()
            renamed.CopyFrom(node)
            renamed.domain = nodes.canonical(node.domain)
            node = renamed
        return super()._load_impl(node, input_types)

    def locate(self, prefix: str) -> None:
        """Tell every node its place, so that its errors can say it."""
        for index, operator in enumerate(self.rt_nodes_):
            place = nodes.with_name(nodes.path(prefix, index), operator.onnx_node)
            if isinstance(operator, _Operator):
                operator.place = place
            else:
                operator.run = _located(operator, place)
            for name, _ in nodes.subgraphs(operator.onnx_node):
                getattr(operator, name).locate(nodes.path(prefix, index, name))

    def run(
        self, output_names: Any, feed_inputs: Any, attributes: Any = None, *options: Any, **named_options: Any
    ) -> Any:
        """Run, with the defaults of a function's attributes in place of those that the call leaves out."""
        return super().run(
            output_names, feed_inputs, {**self._defaults, **(attributes or {})}, *options, **named_options
        )


def require_implementation(domain: str, operator: str, version: int, refusal: str | None) -> None:
    """Refuse an operator that the evaluator lacks, model-local functions aside; a refusal is that of onnxruntime."""
    node = onnx.NodeProto(domain=domain, op_type=operator)
    try:
        Executor(onnx.GraphProto(), opsets={domain: version})._load_impl(node)
    except onnx.reference.op_run.RuntimeContextError:
        # There is one, chosen by the types of the inputs.
        return
    except (NotImplementedError, RuntimeError, TypeError, ValueError):
        # onnx takes a version of more than 32 bits for an argument of another type.
        remedy = "give it as a model-local function"
        if refusal is None and domain in _ONNXRUNTIME and not is_installed():
            remedy = f"{needed('onnxruntime')}, which may have it, or {remedy}"
        name = f"{domain}.{operator}" if domain else operator
        raise UnknownOperatorError(f"there is no implementation of {name}", given=refusal, remedy=remedy) from None


def _located(operator: OpRun, place: str) -> Callable[..., tuple[Any, ...]]:
    inner: Callable[..., tuple[Any, ...]] = operator.run

    def run(*inputs: Any, **context: Any) -> tuple[Any, ...]:
        try:
            return inner(*inputs, **context)
        except Exception as error:
            # The evaluator wraps what comes out of a computation or a subgraph.
            cause: BaseException = error
            while cause.__cause__ is not None and not isinstance(cause, ExtremumError):
                cause = cause.__cause__
            if isinstance(cause, ExtremumError):
                raise cause from None
            given = f"{type(cause).__name__}: {first_line(cause)}"
            if isinstance(cause, MemoryError):
                raise MemoryLimitError(f"{operator.op_type} ran out of memory", where=place, given=given) from None
            raise ExecutionError(f"{operator.op_type} failed", where=place, given=given) from error

    return run


def open_executor(model: onnx.ModelProto) -> Executor:
    """Return what runs a model without sparse initializers."""
    for _, place, node in nodes.everywhere(model):
        count = max((each.i for each in node.attribute if each.name == "num_scan_inputs"), default=0)
        if node.op_type == "Scan" and count > len(node.input):
            # The evaluator makes lists of that length before it looks at the inputs.
            text = f"num_scan_inputs of Scan is {count}, and the node has {len(node.input)} inputs"
            raise ModelError(text, where=nodes.with_name(place, node), remedy="correct the attribute")
    functions = nodes.callees_first(model.functions)
    try:
        executor = Executor(model.graph, opsets=nodes.opsets(model.opset_import), functions=functions)
    except Exception as error:
        raise ModelError("the model cannot be loaded", given=first_line(error)) from error
    executor.locate("graph")
    for index, function in enumerate(model.functions):
        inner = executor.functions_[function.domain, function.name]
        assert isinstance(inner, Executor)
        inner.locate(f"functions[{index}]")
    return executor


def suits(sites: Iterable[Site]) -> bool:
    """Return whether there are nodes of operators that are not this package's, and onnxruntime to run them."""
    return any(not site.is_call and not nodes.is_of_family(site.node) for site in sites) and is_installed()


def is_installed() -> bool:
    """Return whether onnxruntime is there and new enough."""
    try:
        import_module("extremum.onnxruntime.library")
    except DependencyError:
        return False
    return True


class Session:
    """A session that is run like the reference evaluator, and has it take over where onnxruntime fails.

    It is of a model whose weights are split off; by default onnxruntime decides its threads.
    """

    def __init__(
        self, model: Model, sites: Sequence[Site], reference: Callable[[], Executor] | None, threads: int | None
    ) -> None:
        from extremum.onnxruntime import convert_sites
        from extremum.onnxruntime.library import RELEASE, add_weights, open_session, register, session_options

        options = session_options()
        if threads is not None:
            options.intra_op_num_threads = threads
        converted = convert_sites(model.proto, sites).model
        register(options)
        add_weights(options, model)
        try:
            self._session = open_session(converted.SerializeToString(), options)
        except Exception as error:
            # Too large, unknown operators, types without a kernel; its exceptions share no class of their own.
            given = f"{RELEASE}: {first_line(error)}"
            raise ExecutionError("onnxruntime does not take the model", given=given) from None
        self.output_names = [output.name for output in self._session.get_outputs()]
        self._reference = reference
        self._executor: Executor | None = None

    def run(self, output_names: None, feeds: Mapping[str, Any]) -> Sequence[Any]:
        """Run the model once."""
        try:
            native = {
                name: x.astype(x.dtype.newbyteorder("=")) if isinstance(x, np.ndarray) and not x.dtype.isnative else x
                for name, x in feeds.items()
            }
            results = self._session.run(output_names, native)
            # Of two integer types of one width onnxruntime takes the one that NumPy does not call by its width.
            return [x.view(x.dtype.str) if isinstance(x, np.ndarray) and x.dtype.kind in "iu" else x for x in results]
        except Exception as error:
            if self._executor is None and self._reference is not None:
                with contextlib.suppress(ExtremumError):
                    self._executor = self._reference()
            if self._executor is None:
                raise ExecutionError("onnxruntime could not run the model", given=first_line(error)) from error
        taken_over: Sequence[Any] = self._executor.run(output_names, feeds)
        return taken_over
