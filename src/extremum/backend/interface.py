"""The interface of ONNX backends, as the class ``Backend`` and as functions."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import onnx
from onnx.backend.base import Backend as _OnnxBackend

from extremum.backend.evaluator import open_executor
from extremum.backend.prepared import Inputs, PreparedModel, refuse_options
from extremum.backend.requirements import require_implemented, require_valid
from extremum.backend.session import Session, is_installed
from extremum.errors import ArgumentError, ExtremumError
from extremum.graph.calls import canonical, is_of_family
from extremum.graph.load import Model, Source, require_readable, with_dense
from extremum.graph.sites import sites

ENGINES = ("onnxruntime", "reference")
"""The engines that can run operators of other packages."""


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
        cls,
        model: Source,
        device: str = "CPU",
        *,
        engine: str | None = None,
        threads: int | None = None,
        **extra: Any,
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
            known = " or ".join(map(repr, ENGINES))
            raise ArgumentError(f"there is no engine {engine!r} here", remedy=f"use {known}")
        if threads is not None and operator.index(threads) < 1:
            raise ArgumentError(
                f"threads must be at least 1, not {threads}", remedy="pass an integer above 0, or None"
            )
        source = Model(model)
        if engine != "reference":
            source.split_weights()
        walk = tuple(sites(source.proto))
        has_others = any(not site.is_call and not is_of_family(site.node) for site in walk)
        refusal = None
        if engine == "onnxruntime" or (engine is None and has_others and is_installed()):
            require_implemented(source.proto.graph, walk, others_too=True)
            try:
                return PreparedModel(source, Session(source, walk, threads, falls_back=engine is None))
            except ExtremumError as error:
                if engine is not None:
                    raise
                # The reference implementation may take the model, or say why it does not.
                refusal = error.given
        require_implemented(source.proto.graph, walk, refusal=refusal)
        whole = with_dense(source.whole)
        require_valid(whole)
        return PreparedModel(source, open_executor(whole))

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
        cls,
        node: onnx.NodeProto,
        inputs: Inputs,
        device: str = "CPU",
        outputs_info: object = None,
        **options: Any,
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
        domain = canonical(node.domain)
        newest = onnx.defs.onnx_opset_version()
        opsets = {"": newest, domain: opset or (newest if domain == "" else 1)}
        model = onnx.ModelProto(opset_import=[onnx.helper.make_opsetid(*each) for each in opsets.items()])
        model.graph.node.append(node)
        model.graph.input.extend(onnx.ValueInfoProto(name=name) for name in dict.fromkeys(node.input) if name)
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.output)
        source = Model(model)
        require_implemented(model.graph, sites(model))
        return PreparedModel(source, open_executor(model)).run(inputs)


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device


def _refuse(options: Mapping[str, Any], device: str = "CPU") -> None:
    """Refuse options of onnx's interface that have no meaning here, and any device except the CPU."""
    refuse_options(options)
    if not supports_device(device):
        raise ArgumentError(f"there is no device {device!r} here", remedy="use 'CPU'")
