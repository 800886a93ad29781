"""A model that is ready to run: it checks its inputs, runs, and names its outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.backend.base import BackendRep, namedtupledict

from extremum.arrays import as_array, class_name
from extremum.backend.evaluator import Executor
from extremum.backend.session import Session
from extremum.errors import ArgumentError, InputError, within
from extremum.graph.load import Model
from extremum.graph.types import declared_type, defaults, one_line
from extremum.interop import as_operand, is_table
from extremum.tensors import TensorType

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
        self.loaded = loaded
        self._executor = executor
        self.engine = "onnxruntime" if isinstance(executor, Session) else "reference"
        self._outputs: Callable[..., tuple[Any, ...]] = namedtupledict("Outputs", list(executor.output_names))
        graph = loaded.proto.graph
        # None for an input that is not a tensor.
        self._types = {each.name: _tensor_type(each.type) for each in graph.input}
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
        refuse_options(options)
        return self._outputs(*self._executor.run(None, self._bind(inputs)))

    def _bind(self, inputs: Inputs) -> dict[str, Any]:
        """Return the inputs by name, checked."""
        by_name = self._by_name(inputs)
        # The check of an array depends only on these; other inputs are checked in every run.
        signature = [
            (name, x.dtype, x.shape) if isinstance(x, np.ndarray) else None for name, x in by_name.items()
        ]
        if signature == self._signature:
            return by_name
        sizes: dict[str, tuple[int, str]] = {}
        for name, value in by_name.items():
            expected = self._types[name]
            if expected is not None:
                by_name[name] = _tensor(name, value, expected, sizes)
        self._signature = None if None in signature else signature
        return by_name

    def _by_name(self, inputs: Inputs) -> dict[str, Any]:
        """Return the inputs by name, and refuse names and counts that the model does not have."""
        names = list(self._types)
        required = self._required
        if isinstance(inputs, Mapping):
            for name in inputs:
                if name not in names:
                    raise InputError(
                        f"the model has no input {name!r}", remedy=f"its inputs are: {', '.join(names)}"
                    )
            for name in required:
                if name not in inputs:
                    raise InputError(
                        f"input {name!r} is missing", given=f"inputs {', '.join(inputs) or 'none'}"
                    )
            return dict(inputs)
        if not isinstance(inputs, list | tuple):
            raise InputError(
                "the inputs are neither a list nor a dict",
                given=type(inputs).__name__,
                remedy="put a single array into a list: run([x])",
            )
        if len(inputs) == len(required):
            return dict(zip(required, inputs, strict=True))
        if len(inputs) == len(names):
            return dict(zip(names, inputs, strict=True))
        raise InputError(
            f"the model takes {len(required)} inputs, not {len(inputs)}",
            remedy=f"in this order: {', '.join(required)}" if required else None,
        )


def refuse_options(options: Mapping[str, Any]) -> None:
    """Refuse options of onnx's interface that have no meaning here."""
    for name in options:
        raise ArgumentError(f"there is no option {name!r} here")


def _tensor_type(declared: onnx.TypeProto) -> TensorType | None:
    if declared.HasField("tensor_type"):
        return declared_type(declared)
    return None


def _tensor(name: str, value: Any, expected: TensorType, sizes: dict[str, tuple[int, str]]) -> NDArray[Any]:
    """Return an input as an array that fits its declaration; `sizes` has the symbolic dimensions of earlier inputs."""
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
        raise InputError(
            f"input {name!r} has elements of type {tensor.element}, not {expected.element}", **context
        )
    if expected.shape is None:
        return array
    if array.ndim != len(expected.shape):
        raise InputError(f"input {name!r} has rank {array.ndim}, not {len(expected.shape)}", **context)
    for axis, (size, dimension) in enumerate(zip(array.shape, expected.shape, strict=True)):
        if isinstance(dimension, str):
            first, where = sizes.setdefault(dimension, (size, name))
            if size != first:
                raise InputError(
                    f"dimension {dimension!r} is {first} in {where!r} but {size} in {name!r}", **context
                )
        elif dimension is not None and size != dimension:
            raise InputError(
                f"input {name!r} has {size} elements along axis {axis}, where the model declares {dimension}",
                **context,
            )
    return array
