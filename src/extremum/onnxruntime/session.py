"""A session of onnxruntime in which these operators are this package's."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from extremum.errors import ModelError
from extremum.files import open_file
from extremum.graph.load import require_inside
from extremum.onnxruntime.convert import Conversion, Which, convert
from extremum.onnxruntime.library import WEIGHTS_FOLDER, StockSession, new_options, register, take_bfloat16
from extremum.printable import counted, printable


class InferenceSession(StockSession):  # type: ignore[misc]
    """A session of onnxruntime in which the operators of the ArgMax family are this package's.

    It has the arguments and methods of ``onnxruntime.InferenceSession``. ``run`` takes and returns bfloat16
    arrays of ml_dtypes too.

    Parameters
    ----------
    path_or_bytes : str, path-like or bytes
        The model. Weights beside the file stay there and are read by onnxruntime. A model in onnxruntime's own format
        is taken as it is.
    sess_options : onnxruntime.SessionOptions, optional
        The operators are added to them.
    providers, provider_options, **options
        As onnxruntime takes them.
    nodes : str
        Which nodes are rewritten: ``all``, or ``unsupported`` for only those that the installed onnxruntime does not
        run.
    limit_k : bool
        Whether a TopK whose k may be above the size of its axis takes all elements then, instead of failing.

    Attributes
    ----------
    conversion : Conversion or None
        What was changed; None for a model in onnxruntime's own format.

    Raises
    ------
    DependencyError
        If onnxruntime is missing or too old, or the library of operators cannot be loaded.
    ModelError
        If it is not an ONNX model.
    SpecError, AxisError, ElementTypeError
        If a node breaks the promise of its operator's version.

    Examples
    --------
    >>> import numpy as np
    >>> import onnx
    >>> from extremum.onnxruntime import InferenceSession
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (uint16[2, 3] x) => (int64[1, 3] y) { y = ArgMax(x) }'
    >>> session = InferenceSession(onnx.parser.parse_model(text).SerializeToString())
    >>> session.run(None, {"x": np.array([[1, 3, 3], [7, 0, 3]], np.uint16)})[0].tolist()
    [[1, 0, 0]]
    """

    def __init__(
        self,
        path_or_bytes: str | os.PathLike[str] | bytes,
        sess_options: Any = None,
        providers: Any = None,
        provider_options: Any = None,
        *,
        nodes: Which = "all",
        limit_k: bool = False,
        **options: Any,
    ) -> None:
        has_options = sess_options is not None
        sess_options = sess_options if has_options else new_options()
        register(sess_options)
        before = ""
        with contextlib.suppress(RuntimeError):
            before = str(sess_options.get_session_config_entry(WEIGHTS_FOLDER))
        folder = before
        start = path_or_bytes
        if not isinstance(start, bytes):
            with open_file(start) as file:
                start = file.read(8)
        self.conversion: Conversion | None = None
        # These bytes mark a model in onnxruntime's own format.
        if start[4:8] != b"ORTM":
            self.conversion = convert(path_or_bytes, nodes, limit_k=limit_k)
            if isinstance(path_or_bytes, bytes):
                own = before
            else:
                own = str(Path(path_or_bytes).absolute().parent)
            if require_inside(self.conversion.model, own):
                if not own and not has_options:
                    raise ModelError(
                        "the model has weights in other files, and came without a folder",
                        remedy="give the file of the model",
                    )
                # For a model in bytes onnxruntime would look in the current folder; this folder exists nowhere.
                folder = own or str(Path(os.devnull, "nowhere"))
            if self.conversion.modified or limit_k:
                path_or_bytes = self.conversion.model.SerializeToString()
        if folder != before:
            sess_options.add_session_config_entry(WEIGHTS_FOLDER, folder)
        try:
            super().__init__(path_or_bytes, sess_options, providers, provider_options, **options)
        finally:
            if folder != before:
                # The next model with these options has a folder of its own.
                sess_options.add_session_config_entry(WEIGHTS_FOLDER, before)
        take_bfloat16(self)

    def __repr__(self) -> str:
        inputs, outputs = (
            ", ".join(printable(f"{each.name}: {each.type} {each.shape}") for each in values[:4])
            + (", ..." if values[4:] else "")
            for values in (self.get_inputs(), self.get_outputs())
        )
        count = len(self.conversion.changes) if self.conversion else 0
        return f"<InferenceSession {inputs} -> {outputs}, {counted(count, 'node')} of extremum>"
