"""The interface that every ONNX backend has, as functions of this module and as the class ``Backend``.

Decides the sequence of steps from a model to its outputs; each step is a module of this package. Operators of other
kinds run too, through onnxruntime where it is installed and onnx's reference implementation elsewhere.
"""

from __future__ import annotations

import itertools
import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from extremum.errors import ArgumentError, ExtremumError, lacking

try:
    import onnx
    from onnx.backend.base import Backend as _OnnxBackend
except ModuleNotFoundError as error:
    raise lacking("extremum.backend", error) from None

from extremum.backend.engines import open_executor, open_session, reference_ops, suits
from extremum.backend.prepared import ENGINES, PreparedModel, refuse, require_implemented, require_valid
from extremum.graph import nodes
from extremum.graph.load import Model, require_readable, with_dense
from extremum.graph.sites import sites
from extremum.graph.types import skeleton

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


def __dir__() -> list[str]:
    return sorted(__all__)


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
        refuse(options)
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
            require_implemented(loaded.proto.graph, walk, others_too=True)
            instead = None if engine else lambda: open_executor(with_dense(loaded.whole))
            try:
                return PreparedModel(loaded, open_session(loaded, walk, instead, threads))
            except ExtremumError as error:
                if engine is not None:
                    raise
                # The reference implementation may do better, or says why not.
                refusal = error.given
        require_implemented(loaded.proto.graph, walk, refusal=refusal)
        whole = with_dense(loaded.whole)
        require_valid(skeleton(whole))
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
        refuse(options)
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
        require_implemented(model.graph, sites(model))
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
