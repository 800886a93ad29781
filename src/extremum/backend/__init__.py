"""The interface that every ONNX backend has, as functions of this module and as the class ``Backend``.

Decides the sequence of steps from a model to its outputs, and what is refused of a model before it runs: an operator
without an implementation, attributes and known types that do not fit a version, a tensor of known size that does not
fit into memory, and what counts of onnx's checker. Decides which arrays belong to which names, and refuses a missing,
unknown or repeated one and any whose element type or shape contradicts the declaration; a symbolic dimension has one
size in all inputs of a run. Operators of other kinds run too, through onnxruntime where it is installed and onnx's
reference implementation elsewhere.
"""

from __future__ import annotations

import itertools
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import validate
from extremum.arrays import as_array, class_name
from extremum.dtypes import ELEMENT_TYPES
from extremum.errors import ArgumentError, ExtremumError, InputError, ModelError, first_line, lacking
from extremum.interop import as_operand, is_table
from extremum.tensors import TensorType, require_memory

try:
    import onnx
    from onnx.backend.base import Backend as _OnnxBackend
    from onnx.backend.base import BackendRep, namedtupledict
except ModuleNotFoundError as error:
    raise lacking("extremum.backend", error) from None

from extremum.backend.engines import Executor, Session, open_executor, reference_ops, require_implementation, suits
from extremum.graph import nodes
from extremum.graph.load import Model, require_readable, with_dense
from extremum.graph.sites import Site, sites
from extremum.graph.types import declared_type, defaults, one_line, skeleton

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

ENGINES = ("onnxruntime", "reference")
"""Who can run operators that are not this package's."""


def __dir__() -> list[str]:
    return sorted(__all__)


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
        self.loaded, self._executor = loaded, executor
        self.engine = "onnxruntime" if isinstance(executor, Session) else "reference"
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
        _refuse(options)
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


class Backend(_OnnxBackend):
    """onnx's ``Backend`` interface, for code that takes a backend as an object.

    Examples
    --------
    >>> from extremum.backend import Backend
    >>> Backend.supports_device("CPU")
    True
    """

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Return whether ``device`` is the CPU, the one there is.

        Examples
        --------
        >>> from extremum import backend
        >>> backend.supports_device("CPU:0"), backend.supports_device("CUDA")
        (True, False)
        """
        return device.partition(":")[0] == "CPU"

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **options: Any) -> bool:
        """Return whether :meth:`prepare` takes the model.

        Examples
        --------
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
        cls,
        model: onnx.ModelProto | bytes | str | os.PathLike[str],
        device: str = "CPU",
        *,
        engine: str | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> PreparedModel:
        """Check and load a model.

        Parameters
        ----------
        model : onnx.ModelProto, bytes, str or path-like
            The model, its serialised form, or the file that holds it. Weights kept beside the file are read too.
        device : str
            ``CPU``.
        engine : str, optional
            Who runs the other operators: ``onnxruntime``, with this package's operators in it, or ``reference``,
            onnx's reference implementation. By default onnxruntime where there are others, it is installed and takes
            the model; where it fails the reference implementation takes over.
        threads : int, optional
            How many threads a session of onnxruntime computes with, where there is one; by default it decides itself.

        Returns
        -------
        PreparedModel
            To be run with inputs.

        Raises
        ------
        ModelError
            If it is no ONNX model, or not a valid one.
        UnknownOperatorError
            If there is no implementation of one of its operators.
        ArgumentError
            If there is no such device, engine or option, or less than one thread.
        DependencyError
            If the engine is ``onnxruntime``, which is missing or too old.
        ExecutionError
            If the engine is ``onnxruntime``, which does not take the model.
        SpecError, AxisError, ElementTypeError
            If a node breaks the promise of its operator's version, as far as the model alone gives it away.
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
        _refuse(options)
        cls._require_device(device)
        if engine not in (None, *ENGINES):
            raise ArgumentError(f"there is no engine {engine!r} here", remedy=f"use {' or '.join(map(repr, ENGINES))}")
        if threads is not None and operator.index(threads) < 1:
            raise ArgumentError(f"threads={threads} computes nothing", remedy="pass an integer above 0, or None")
        loaded = Model(model)
        if engine != "reference":
            loaded.split_weights()
        walk = tuple(sites(loaded.proto))
        refusal = None
        if engine == "onnxruntime" or (engine is None and suits(walk)):
            _require_implemented(loaded.proto.graph, walk, others_too=True)
            instead = None if engine else lambda: open_executor(with_dense(loaded.whole))
            try:
                return PreparedModel(loaded, Session(loaded, walk, instead, threads))
            except ExtremumError as error:
                if engine is not None:
                    raise
                # The reference implementation may do better, or says why not.
                refusal = error.given
        _require_implemented(loaded.proto.graph, walk, refusal=refusal)
        whole = with_dense(loaded.whole)
        _require_valid(skeleton(whole))
        return PreparedModel(loaded, open_executor(whole))

    @classmethod
    def run_model(
        cls,
        model: onnx.ModelProto | bytes | str | os.PathLike[str],
        inputs: Sequence[Any] | Mapping[str, Any],
        device: str = "CPU",
        *,
        engine: str | None = None,
        **options: Any,
    ) -> tuple[Any, ...]:
        """Prepare a model and run it once; see :meth:`prepare` and :meth:`PreparedModel.run`.

        Examples
        --------
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
        cls,
        node: onnx.NodeProto,
        inputs: Sequence[Any] | Mapping[str, Any],
        device: str = "CPU",
        outputs_info: Sequence[tuple[np.dtype[Any], tuple[int, ...]]] | None = None,
        **options: Any,
    ) -> tuple[Any, ...]:
        """Run one node.

        Parameters
        ----------
        node : onnx.NodeProto
            The node.
        inputs : sequence or mapping
            Arrays in the node's order, or by name.
        device : str
            ``CPU``.
        outputs_info : sequence of (dtype, shape), optional
            Part of the interface; the outputs are inferred here.
        opset_version : int
            The version of the node's domain; the newest that onnx knows by default.

        Returns
        -------
        tuple
            The outputs, which can also be had by name.

        Raises
        ------
        ExtremumError
            As :meth:`prepare` and :meth:`PreparedModel.run`.

        Examples
        --------
        >>> import numpy as np
        >>> import onnx
        >>> from extremum.backend import Backend
        >>> node = onnx.helper.make_node("Max", ["a", "b"], ["c"])
        >>> Backend.run_node(node, [np.array([1.0, 5.0]), np.array(3.0)], opset_version=8).c
        array([3., 5.])
        """
        opset = options.pop("opset_version", None)
        _refuse(options)
        cls._require_device(device)
        require_readable(node)
        domain, newest = nodes.canonical(node.domain), onnx.defs.onnx_opset_version()
        opsets = {"": newest, domain: opset or (newest if domain == "" else 1)}
        model = onnx.ModelProto(opset_import=itertools.starmap(onnx.helper.make_opsetid, opsets.items()))
        model.graph.node.append(node)
        for name in filter(None, dict.fromkeys(node.input)):
            model.graph.input.add(name=name)
        for name in node.output:
            model.graph.output.add(name=name)
        loaded = Model(model)
        _require_implemented(model.graph, sites(model))
        return PreparedModel(loaded, open_executor(model)).run(inputs)

    @classmethod
    def _require_device(cls, device: str) -> None:
        if not cls.supports_device(device):
            raise ArgumentError(f"there is no device {device!r} here", remedy="use 'CPU'")


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device


def _refuse(options: Mapping[str, Any]) -> None:
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
        remedy = "put a single array into a list: run([x])"
        raise InputError("the inputs are neither a list nor a dict", given=type(inputs).__name__, remedy=remedy)
    for expected in (required, names):
        if len(inputs) == len(expected):
            return dict(zip(expected, inputs, strict=True))
    in_order = f"in this order: {', '.join(required)}" if required else None
    raise InputError(f"the model takes {len(required)} inputs, not {len(inputs)}", remedy=in_order)


def _table(name: str, given: Any) -> NDArray[Any]:
    """Return the columns of a table as one array, where that changes no element."""
    try:
        operand = as_operand(given)
        operand.require_valid("fill or drop them first", given=class_name(given))
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
            reason = f"input {name!r} has {size} elements along axis {axis}, where the model declares {wanted}"
            raise InputError(reason, **context)
    return array


def _require_implemented(
    graph: onnx.GraphProto, sites: Iterable[Site], *, others_too: bool = False, refusal: str | None = None
) -> None:
    """Refuse what cannot run, whatever the inputs; ``others_too`` leaves other operators to onnxruntime."""
    for each in nodes.graphs(graph):
        for value in each.input:
            _require_memory(value.name, declared_type(value.type))
    # One look-up for each operator; the answers, which hold names of the model, are not kept.
    require = cache(require_implementation)
    for site in sites:
        node = site.node
        try:
            domain = nodes.canonical(node.domain)
            if domain not in site.opsets:
                raise ModelError(f"no version of the domain {domain!r} of {node.op_type} is imported")
            if not (others_too or site.is_call):
                require(domain, node.op_type, site.opsets[domain], refusal)
            types = [site.types.get(name, TensorType()) for name in node.output]
            if site.schema is not None:
                types = list(site.outputs())
                for name, given in zip(node.output, types, strict=True):
                    declared = site.declared_types.get(name, TensorType())
                    validate.output(site.schema, name, declared=declared, inferred=given)
            for name, given in zip(node.output, types, strict=True):
                _require_memory(name, given)
        except ExtremumError as error:
            raise error.with_context(where=site.where) from None


def _require_memory(name: str, tensor: TensorType) -> None:
    element = next((each for each in ELEMENT_TYPES if each.name == tensor.element), None)
    if tensor.sizes is not None and element is not None:
        require_memory(tensor.sizes, element.dtype, repr(name))


def _require_valid(model: onnx.ModelProto) -> None:
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
