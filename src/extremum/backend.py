"""The interface that every ONNX backend has, as functions of this module and as the class ``Backend``.

Other operators run too, in onnxruntime if it is installed, else in onnx's reference implementation. ``prepare`` refuses
errors that the model alone shows, and a run refuses the rest. A symbolic dimension has the same size in all inputs of a
run.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import errors, lower, validate
from extremum.arrays import as_array, class_name
from extremum.errors import ArgumentError, ExecutionError, ExtremumError, InputError, ModelError, first_line, within
from extremum.interop import as_operand, is_table
from extremum.operations import Operation, results
from extremum.spec import ONNX, OPERATORS, OperatorVersion
from extremum.tensors import ELEMENT_TYPES, TensorType, element_of, require_memory

with errors.required_by("extremum.backend"):
    import onnx
    from onnx.backend.base import Backend as _OnnxBackend
    from onnx.backend.base import BackendRep, namedtupledict
    from onnx.reference import ReferenceEvaluator
    from onnx.reference.op_run import OpRun

from extremum.graph import nodes
from extremum.graph.limits import may_exceed
from extremum.graph.load import Model, Source, require_readable, with_dense
from extremum.graph.sites import Site, sites
from extremum.graph.types import declared_inputs, declared_type, defaults, one_line, skeleton

__all__ = [
    "ENGINES",
    "Backend",
    "PreparedModel",
    "is_compatible",
    "prepare",
    "reference_ops",
    "run_model",
    "run_node",
    "supports_device",
]
__dir__ = __all__.copy

ENGINES = ("onnxruntime", "reference")
"""The engines that can run operators of other packages."""
Inputs = Sequence[Any] | Mapping[str, Any]
"""Arrays in the model's order, or by name."""


class PreparedModel(BackendRep):
    """A model that has been checked and loaded, to be run any number of times.

    ``engine``, one of :data:`ENGINES`, runs it. Both engines use this package's code for this package's operators.

    >>> import numpy as np
    >>> import onnx
    >>> from extremum import backend
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[n] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> prepared = backend.prepare(onnx.parser.parse_model(text))
    >>> prepared.run([np.array([1, 3, 3], np.float32)]).y
    array([1])
    """

    def __init__(self, loaded: Model, executor: Executor | Session) -> None:
        self.loaded, self._executor = loaded, executor
        self.engine = "onnxruntime" if isinstance(executor, Session) else "reference"
        self._outputs: Callable[..., tuple[Any, ...]] = namedtupledict("Outputs", list(executor.output_names))
        graph = loaded.proto.graph
        # None for an input that is not a tensor.
        self._types = {x.name: declared_type(x.type) if x.type.HasField("tensor_type") else None for x in graph.input}
        optional = defaults(graph)
        self._required = [name for name in self._types if name not in optional]
        self._signature: object = None  # the types of the last inputs that passed: most runs repeat them

    def __repr__(self) -> str:
        graph = self.loaded.proto.graph
        inputs = [each for each in graph.input if each.name in self._required]
        return f"<PreparedModel {one_line(inputs)} -> {one_line(graph.output)}, engine={self.engine!r}>"

    @property
    def model(self) -> onnx.ModelProto:
        """The model, with its weights; the first access reads large weights from other files."""
        return self.loaded.whole

    def run(self, inputs: Inputs, **options: Any) -> tuple[Any, ...]:
        """Run the model, and return the outputs in its order; they are also accessible by name.

        Parameters
        ----------
        inputs : sequence or mapping
            Arrays in the model's order, or by name. They are not modified.

        Raises
        ------
        InputError
            If the inputs do not fit the model's declaration.
        SpecError, AxisError, ElementTypeError
            If an operator's version does not allow its inputs.
        MemoryLimitError
            If an output would not fit into memory.
        ExecutionError
            If an operator of onnx's reference implementation fails.
        """
        _refuse(options)
        return self._outputs(*self._executor.run(None, self._bind(inputs)))

    def _bind(self, inputs: Inputs) -> dict[str, Any]:
        """Return the inputs by name, checked."""
        names, required = list(self._types), self._required
        if isinstance(inputs, Mapping):
            for name in inputs:
                if name not in names:
                    raise InputError(f"the model has no input {name!r}", remedy=f"its inputs are: {', '.join(names)}")
            for name in required:
                if name not in inputs:
                    raise InputError(f"input {name!r} is missing", given=f"inputs {', '.join(inputs) or 'none'}")
            by_name = dict(inputs)
        elif not isinstance(inputs, list | tuple):
            remedy = "put a single array into a list: run([x])"
            raise InputError("the inputs are neither a list nor a dict", given=type(inputs).__name__, remedy=remedy)
        elif len(inputs) in (len(required), len(names)):
            by_name = dict(zip(required if len(inputs) == len(required) else names, inputs, strict=True))
        else:
            in_order = f"in this order: {', '.join(required)}" if required else None
            raise InputError(f"the model takes {len(required)} inputs, not {len(inputs)}", remedy=in_order)
        # If an input is an array, its check depends only on these.
        signature = [(name, x.dtype, x.shape) if isinstance(x, np.ndarray) else None for name, x in by_name.items()]
        if signature == self._signature:
            return by_name
        sizes: dict[str, tuple[int, str]] = {}
        for name, value in by_name.items():
            expected = self._types[name]
            if expected is not None:
                by_name[name] = _tensor(name, value, expected, sizes)
        self._signature = None if None in signature else signature
        return by_name


class Backend(_OnnxBackend):
    """onnx's ``Backend`` interface, for code that takes a backend as an object.

    >>> from extremum.backend import Backend
    >>> Backend.supports_device("CPU")
    True
    """

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Return whether ``device`` is the CPU, the only device.

        >>> from extremum import backend
        >>> backend.supports_device("CPU:0"), backend.supports_device("CUDA")
        (True, False)
        """
        return device.partition(":")[0] == "CPU"

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **options: Any) -> bool:
        """Return whether :meth:`prepare` takes the model.

        >>> import onnx
        >>> from extremum import backend
        >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (y) { y = ArgMax <axis=1> (x) }'
        >>> backend.is_compatible(onnx.parser.parse_model(text))
        False
        """
        try:
            cls.prepare(model, device, **options)
        except ExtremumError:
            return False
        return True

    @classmethod
    def prepare(
        cls, model: Source, device: str = "CPU", *, engine: str | None = None, threads: int | None = None, **extra: Any
    ) -> PreparedModel:
        """Check and load a model.

        Parameters
        ----------
        model : onnx.ModelProto, bytes, str or path-like
            The model, its serialised form, or the file that holds it. Weights kept beside the file are read too.
        device : str
            ``CPU``.
        engine : str, optional
            What runs other operators: ``onnxruntime``, extended with this package's operators, or ``reference``, onnx's
            reference implementation. The default is onnxruntime if the model has other operators and onnxruntime is
            installed and takes the model; if it fails, the reference implementation takes over.
        threads : int, optional
            The number of threads of the onnxruntime session, if there is one; by default onnxruntime decides.

        Raises
        ------
        ModelError
            If it is not a valid ONNX model.
        UnknownOperatorError
            If one of its operators has no implementation.
        ArgumentError
            If there is no such device, engine or option, or ``threads`` is less than 1.
        DependencyError
            If the engine is ``onnxruntime`` and it is missing or too old.
        ExecutionError
            If the engine is ``onnxruntime`` and it does not take the model.
        SpecError, AxisError, ElementTypeError
            If a node breaks a rule of its operator's version and the model alone shows it.
        MemoryLimitError
            If a tensor of known size would not fit into memory.
        OSError
            If the file cannot be read.

        Examples
        --------
        >>> import numpy as np
        >>> import onnx
        >>> from extremum.backend import Backend
        >>> text = '<ir_version: 8, opset_import: ["" : 11]> g (float[n, 2] x) => (float[n, 2] y) { y = Hardmax(x) }'
        >>> Backend.prepare(onnx.parser.parse_model(text)).run([np.array([[1, 2], [4, 3]], np.float32)])[0]
        array([[0., 1.],
               [1., 0.]], dtype=float32)
        """
        _refuse(extra, device)
        if engine not in (None, *ENGINES):
            raise ArgumentError(f"there is no engine {engine!r} here", remedy=f"use {' or '.join(map(repr, ENGINES))}")
        if threads is not None and operator.index(threads) < 1:
            raise ArgumentError(f"threads={threads} computes nothing", remedy="pass an integer above 0, or None")
        source = Model(model)
        if engine != "reference":
            source.split_weights()
        walk = tuple(sites(source.proto))
        has_others = any(not site.is_call and not nodes.is_of_family(site.node) for site in walk)
        refusal = None
        if engine == "onnxruntime" or (engine is None and has_others and _is_installed()):
            _require_implemented(source.proto.graph, walk, others_too=True)
            try:
                return PreparedModel(source, Session(source, walk, threads, falls_back=engine is None))
            except ExtremumError as error:
                if engine is not None:
                    raise
                # The reference implementation may take the model, or say why it does not.
                refusal = error.given
        _require_implemented(source.proto.graph, walk, refusal=refusal)
        whole = with_dense(source.whole)
        _require_valid(whole)
        return PreparedModel(source, _open_executor(whole))

    @classmethod
    def run_model(
        cls, model: Source, inputs: Inputs, device: str = "CPU", *, engine: str | None = None, **options: Any
    ) -> tuple[Any, ...]:
        """Prepare a model and run it once; see :meth:`prepare` and :meth:`PreparedModel.run`.

        >>> import numpy as np
        >>> import onnx
        >>> from extremum import backend
        >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[n] x) => (int64[1] y) { y = ArgMin(x) }'
        >>> backend.run_model(onnx.parser.parse_model(text), {"x": np.array([2, 1, 1], np.float32)}).y
        array([1])
        """
        return cls.prepare(model, device, engine=engine, **options).run(inputs)

    @classmethod
    def run_node(
        cls, node: onnx.NodeProto, inputs: Inputs, device: str = "CPU", outputs_info: object = None, **options: Any
    ) -> tuple[Any, ...]:
        """Run one node on arrays, in input order or by name; see :meth:`prepare` and :meth:`PreparedModel.run`.

        The int ``opset_version`` is the version of the node's domain; by default the newest that onnx knows. The
        outputs are inferred; ``outputs_info`` is ignored and only completes onnx's interface.

        >>> import numpy as np
        >>> import onnx
        >>> from extremum.backend import Backend
        >>> node = onnx.helper.make_node("Max", ["a", "b"], ["c"])
        >>> Backend.run_node(node, [np.array([1.0, 5.0]), np.array(3.0)], opset_version=8).c
        array([3., 5.])
        """
        opset = options.pop("opset_version", None)
        _refuse(options, device)
        require_readable(node)
        domain, newest = nodes.canonical(node.domain), onnx.defs.onnx_opset_version()
        opsets = {"": newest, domain: opset or (newest if domain == "" else 1)}
        model = onnx.ModelProto(opset_import=[onnx.helper.make_opsetid(*each) for each in opsets.items()])
        model.graph.node.append(node)
        model.graph.input.extend(onnx.ValueInfoProto(name=name) for name in dict.fromkeys(node.input) if name)
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.output)
        source = Model(model)
        _require_implemented(model.graph, sites(model))
        return PreparedModel(source, _open_executor(model)).run(inputs)


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device


def _refuse(options: Mapping[str, Any], device: str = "CPU") -> None:
    """Refuse options of onnx's interface that have no meaning here, and any device except the CPU."""
    for name in options:
        raise ArgumentError(f"there is no option {name!r} here")
    if not supports_device(device):
        raise ArgumentError(f"there is no device {device!r} here", remedy="use 'CPU'")


def _tensor(name: str, value: Any, expected: TensorType, sizes: dict[str, tuple[int, str]]) -> NDArray[Any]:
    if is_table(value):
        # Join its columns into one array if that changes no element.
        with within(f"input {name!r}"):
            value = as_operand(value).whole(class_name(value))
    # Text is a valid element type here, so an array is used unchanged.
    array: NDArray[Any] = value if isinstance(value, np.ndarray) else as_array(value)
    tensor = TensorType.of(array)
    context = {"given": f"{name}: {tensor}", "remedy": f"the model declares {expected}"}
    if expected.element == "string":
        if array.dtype.kind not in "OSUT":
            raise InputError(f"input {name!r} has elements of type {tensor.element}, not text", **context)
    elif expected.element is not None and tensor.element != expected.element:
        if expected.element == "bfloat16" and array.dtype.itemsize == 2 and array.dtype.kind in "uiV":
            context["remedy"] = f"if these are bit patterns, say so: {name}.view(ml_dtypes.bfloat16)"
        raise InputError(f"input {name!r} has elements of type {tensor.element}, not {expected.element}", **context)
    if expected.shape is None:
        return array
    if array.ndim != len(expected.shape):
        raise InputError(f"input {name!r} has rank {array.ndim}, not {len(expected.shape)}", **context)
    for axis, (size, dimension) in enumerate(zip(array.shape, expected.shape, strict=True)):
        if isinstance(dimension, str):
            first, where = sizes.setdefault(dimension, (size, name))
            if size != first:
                raise InputError(f"dimension {dimension!r} is {first} in {where!r} but {size} in {name!r}", **context)
        elif dimension is not None and size != dimension:
            reason = f"input {name!r} has {size} elements along axis {axis}, where the model declares {dimension}"
            raise InputError(reason, **context)
    return array


def _require_implemented(
    graph: onnx.GraphProto, sites: Iterable[Site], *, others_too: bool = False, refusal: str | None = None
) -> None:
    """Refuse a model that cannot run on any inputs; with ``others_too`` onnxruntime checks the other operators."""
    for each in nodes.graphs(graph):
        for value in each.input:
            _require_memory(value.name, declared_type(value.type))
    # Look up each operator once; the cache ends with this call because it holds names of the model.
    require = cache(_require_implementation)
    # Values of a size that no memory holds because k is so large: if the axis has fewer elements, a run says so.
    doubtful = set[str]()
    for site in sites:
        node = site.node
        with within(site.where):
            domain = nodes.canonical(node.domain)
            if domain not in site.opsets:
                raise ModelError(f"no version of the domain {domain!r} of {node.op_type} is imported")
            if not (others_too or site.is_call):
                require(domain, node.op_type, site.opsets[domain], refusal)
            types = (site.types.get(name, TensorType()) for name in node.output)
            for name, tensor in zip(node.output, types if site.schema is None else site.outputs(), strict=True):
                if site.schema is not None:
                    declared = site.declared_types.get(name, TensorType())
                    validate.output(site.schema, name, declared=declared, inferred=tensor)
                try:
                    _require_memory(name, tensor)
                except errors.MemoryLimitError:
                    if not may_exceed(site) and doubtful.isdisjoint(node.input):
                        raise
                    doubtful.update(node.output)


def _require_memory(name: str, tensor: TensorType) -> None:
    element = next((each for each in ELEMENT_TYPES if each.name == tensor.element), None)
    if tensor.sizes is not None and element is not None:
        require_memory(tensor.sizes, element.dtype, repr(name))


def _require_valid(model: onnx.ModelProto) -> None:
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
    for _, _, node in nodes.everywhere(copy):
        node.domain = nodes.canonical(node.domain)
        for _, graph in nodes.subgraphs(node):
            graph.name = graph.name or "graph"
    try:
        # A function may import another version than its model, and runs with its own.
        onnx.checker.check_model(copy, skip_opset_compatibility_check=True)
    except (onnx.checker.ValidationError, ValueError) as error:
        raise ModelError("the model is not valid", given=first_line(error)) from None


# onnx's reference evaluator or a session of onnxruntime runs a graph, each with this package's operators. The evaluator
# takes attribute defaults from the newest version of an operator, and passes new operators to subgraphs but not to
# functions; the code below corrects both. If a session fails, the evaluator runs the model, or reports the error with
# the same message as without onnxruntime.
class _Operator(OpRun):
    op_schema = None  # so that the evaluator fills in no defaults: they depend on the model's opset
    place: str | None = None
    # The types of the last inputs, with their operation and outputs: most calls repeat the same types.
    _last: tuple[object, Operation, Sequence[Any]] | None = None

    def run(self, *inputs: Any, linked_attributes: Mapping[str, Any] | None = None, **_: Any) -> tuple[Any, ...]:
        # The evaluator's own ``run`` replaces every TypeError, and our ElementTypeError is a TypeError.
        # Some of its operators return a NumPy scalar for a tensor of rank 0.
        inputs = tuple(np.asarray(x) if isinstance(x, np.generic) else x for x in inputs)
        try:
            plan, data = self._last, self._version.input.maximum
            # A plan depends on the types, and on the values of inputs that stand for attributes.
            signature: list[Any] = [(x.dtype, x.shape) if isinstance(x, np.ndarray) else None for x in inputs]
            if len(inputs) > data:
                signature += (x.tobytes() for x in inputs[data:] if isinstance(x, np.ndarray))
            # A function's attributes may differ from call to call.
            if linked_attributes or plan is None or plan[0] != signature:
                plan = (signature, *self._plan(inputs, linked_attributes or {}))
                self._last = None if linked_attributes else plan
            _signature, operation, outputs = plan
            for output in outputs:
                require_memory(*output)
            return results(operation(*inputs[:data]))
        except ExtremumError as error:
            place = self.place or f"the node that gives {self.onnx_node.output[0]!r}"
            raise error.with_context(where=f"{place}, opset {self.run_params['opsets']['']}") from None

    _run = run

    @cached_property
    def _version(self) -> OperatorVersion:
        version = nodes.version(self.onnx_node, self.run_params["opsets"])
        assert version is not None
        return version

    def _plan(self, inputs: tuple[Any, ...], linked_attributes: Mapping[str, Any]) -> tuple[Operation, Sequence[Any]]:
        """Return the operation, and for each output its sizes, its type and its name in errors."""
        version = self._version
        names = nodes.operand_names(self.onnx_node, version)
        inputs = inputs[: len(names)]
        for name, x in zip(names, inputs, strict=True):
            if not isinstance(x, np.ndarray):
                raise errors.ElementTypeError(f"{version} takes tensors", given=f"{name}: {type(x).__name__}")
        attributes = nodes.attributes_of(self.onnx_node, linked_attributes)
        values, outputs = nodes.resolve(version, attributes, names, nodes.operand_types(version, inputs))
        what = f"the output of {version}"
        types = [(each.sizes or (), element_of(str(each.element)).dtype, what) for each in outputs]
        return lower.operation(version, values, inputs[0].ndim), types


# The evaluator finds an operator by the name of its class.
_OPERATORS = [
    type(name, (_Operator,), {"__doc__": f"ONNX {name}, every version.", "__module__": __name__})
    for domain, name in sorted(OPERATORS)
    if domain == ONNX
]


def reference_ops() -> list[type[OpRun]]:
    """Return this package's operators, one class each, for ``onnx.reference.ReferenceEvaluator(model, new_ops=...)``.

    They follow the opset of the model. The evaluator itself gives new operators to the graph and its subgraphs, but not
    to model-local functions; :func:`extremum.backend.prepare` covers those too.

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
        # The evaluator would require all attributes in a call; an omitted attribute has a default or stays absent.
        self.attributes_ = []
        of_function = proto.attribute_proto if isinstance(proto, onnx.FunctionProto) else ()
        self._defaults = {each.name: nodes.value(each) for each in of_function}

    def _load_impl(self, node: onnx.NodeProto, input_types: Any = None) -> Any:
        if node.domain != nodes.canonical(node.domain):
            node = deepcopy(node)
            node.domain = nodes.canonical(node.domain)
        return super()._load_impl(node, input_types)

    def locate(self, prefix: str) -> None:
        """Tell every node its place, so that its errors can name the place."""
        for index, each in enumerate(self.rt_nodes_):
            place = nodes.with_name(nodes.path(prefix, index), each.onnx_node)
            if isinstance(each, _Operator):
                each.place = place
            else:
                each.run = partial(_run_located, each, each.run, place)
            for name, _ in nodes.subgraphs(each.onnx_node):
                getattr(each, name).locate(nodes.path(prefix, index, name))

    def run(self, output_names: Any, feed_inputs: Any, attributes: Any = None, *options: Any, **extra: Any) -> Any:
        """Run, with a function's defaults for the attributes that the call omits."""
        return super().run(output_names, feed_inputs, {**self._defaults, **(attributes or {})}, *options, **extra)


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
        remedy = "give it as a model-local function"
        # In these domains, onnxruntime has operators that onnx's reference implementation lacks.
        if refusal is None and domain in ("", "ai.onnx.ml", "com.microsoft") and not _is_installed():
            remedy = f"{errors.needed('onnxruntime')}, which may have it, or {remedy}"
        reason = f"there is no implementation of {f'{domain}.{operator}' if domain else operator}"
        raise errors.UnknownOperatorError(reason, given=refusal, remedy=remedy) from None


def _run_located(operator: OpRun, run: Callable[..., Any], place: str, /, *inputs: Any, **context: Any) -> Any:
    """Run a node of another operator, and add the place of the node to an error."""
    try:
        return run(*inputs, **context)
    except Exception as error:
        # The evaluator wraps exceptions of a computation or a subgraph.
        cause: BaseException = error
        while cause.__cause__ is not None and not isinstance(cause, ExtremumError):
            cause = cause.__cause__
        if isinstance(cause, ExtremumError):
            raise cause from None
        given = f"{type(cause).__name__}: {first_line(cause)}"
        if isinstance(cause, MemoryError):
            reason = f"{operator.op_type} ran out of memory"
            raise errors.MemoryLimitError(reason, where=place, given=given) from None
        raise ExecutionError(f"{operator.op_type} failed", where=place, given=given) from error


def _open_executor(model: onnx.ModelProto) -> Executor:
    """Return an executor for a model without sparse initializers."""
    for _, place, node in nodes.everywhere(model):
        count = max((each.i for each in node.attribute if each.name == "num_scan_inputs"), default=0)
        if node.op_type == "Scan" and count > len(node.input):
            # The evaluator makes lists of that length before it checks the inputs.
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


def _is_installed() -> bool:
    """Return whether onnxruntime is installed and new enough."""
    with contextlib.suppress(errors.DependencyError):
        return bool(import_module("extremum.onnxruntime.library"))
    return False


class Session:
    """An onnxruntime session of a model whose weights are split off; if it fails, the evaluator may take over."""

    def __init__(self, model: Model, sites: Sequence[Site], threads: int | None, *, falls_back: bool) -> None:
        from extremum.onnxruntime.convert import convert_sites
        from extremum.onnxruntime.library import RELEASE, add_weights, open_session, register, session_options

        options = session_options()
        if threads is not None:
            options.intra_op_num_threads = threads
        proto = convert_sites(model.proto, sites).model
        register(options)
        add_weights(options, model)
        try:
            self._session = open_session(proto.SerializeToString(), options)
        except Exception as error:
            # The model is too large, or has unsupported operators or types. The exceptions have no common class.
            given = f"{RELEASE}: {first_line(error)}"
            raise ExecutionError("onnxruntime does not take the model", given=given) from None
        self.output_names = [output.name for output in self._session.get_outputs()]
        self._model = model if falls_back else None
        self._executor: Executor | None = None

    def run(self, output_names: None, feeds: Mapping[str, Any]) -> Any:
        """Run the model once."""
        try:
            native = {
                name: x.astype(x.dtype.newbyteorder("=")) if isinstance(x, np.ndarray) and not x.dtype.isnative else x
                for name, x in feeds.items()
            }
            results = self._session.run(output_names, native)
            # If NumPy has two integer types of one width, onnxruntime returns the one not named by its width.
            return [x.view(x.dtype.str) if isinstance(x, np.ndarray) and x.dtype.kind in "iu" else x for x in results]
        except Exception as error:
            if self._executor is None and self._model is not None:
                with contextlib.suppress(ExtremumError):
                    self._executor = _open_executor(with_dense(self._model.whole))
            if self._executor is None:
                raise ExecutionError("onnxruntime could not run the model", given=first_line(error)) from error
        return self._executor.run(output_names, feeds)


@dataclass(frozen=True, slots=True)
class BatchOutput:
    """An output: its number in the model, its name, its batch axis, its shape for some batch size, its type."""

    number: int
    name: str
    batch: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def batch_outputs(model: PreparedModel, x: Any, axis: int, sizes: Sequence[int], one: str | None) -> list[BatchOutput]:
    """Run a model on zeros to learn shapes and types of its outputs, or of output `one`, for batches of `x`."""
    shape, dtype = x.shape, x.dtype
    inputs = [each for each in declared_inputs(model.loaded.proto) if not each.optional]
    if len(inputs) != 1:
        reason = f"run: the model has {len(inputs)} inputs"
        raise ModelError(reason, remedy="pass a model with one input; make the others constants")
    declared = inputs[0].shape
    own = declared[axis] if declared is not None and len(declared) == len(shape) else None
    # An unknown size (NaN) is checked when the model runs.
    if isinstance(own, int) and not {size for size in sizes if size == size} <= {own}:
        reason = f"run: the model takes {own} entries at a time, and the chunks along axis {axis} have others"
        remedy = f"cut the array into chunks of {own}, or make that dimension of the model symbolic"
        raise ArgumentError(reason, given=f"chunks of {', '.join(map(str, sorted(set(sizes))[:5]))}", remedy=remedy)
    names = [output.name for output in model.loaded.proto.graph.output]
    if one not in (None, *names):
        raise ArgumentError(f"run: the model has no output {one!r}", remedy=f"name one of {', '.join(names)}")
    batches = [own] if isinstance(own, int) else [2, 3]
    runs = []
    for size in batches:
        zeros = np.zeros([size if each == axis else length for each, length in enumerate(shape)], dtype)
        try:
            runs.append(model.run({inputs[0].name: zeros}))
        except InputError as error:
            # The error describes the zeros, but the user passed another array.
            given = f"{inputs[0].name}: {dtype.name}[{', '.join(map(str, shape))}]"
            raise InputError(error.reason, where=error.where, given=given, remedy=error.remedy) from None
    every = enumerate(zip(names, zip(*runs, strict=True), strict=True))
    return [_output(at, name, axis, batches, arrays) for at, (name, arrays) in every if one in (None, name)]


def _output(number: int, name: str, axis: int, sizes: list[int], arrays: tuple[NDArray[Any], ...]) -> BatchOutput:
    if not isinstance(arrays[0], np.ndarray | np.generic):
        remedy = "name an output that is a tensor, or pass a model that has no others"
        raise ArgumentError(f"run: output {name!r} is no tensor", given=f"a {type(arrays[0]).__name__}", remedy=remedy)
    shapes = [np.shape(each) for each in arrays]
    axes = [each for each, lengths in enumerate(zip(*shapes, strict=False)) if list(lengths) == sizes]
    if not sizes[1:]:
        # With only one batch size, other axes may have the same size by chance.
        axes = [axis] if axis in axes else []
    if len(axes) != 1 or len({len(shape) for shape in shapes}) > 1:
        reason = f"run: output {name!r} has no axis for the entries of the batch"
        given = " and ".join(f"{list(shape)} for {size}" for shape, size in zip(shapes, sizes, strict=True))
        remedy = "name an output that has one entry for each of the batch, or pass a model that has no others"
        raise ArgumentError(reason, given=given, remedy=remedy)
    # The zeros do not show how long the text of other entries is.
    dtype = np.dtype(object) if arrays[0].dtype.kind in "SUT" else arrays[0].dtype
    return BatchOutput(number, name, axes[0], shapes[0], dtype)
