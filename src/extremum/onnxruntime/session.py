"""onnxruntime's own session with this package's operators.

A session gets the converted model, or the model as it came if nothing was converted.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from extremum.errors import ModelError
from extremum.graph.load import open_file, require_inside
from extremum.onnxruntime.convert import Conversion, Which, convert
from extremum.onnxruntime.library import WEIGHTS_FOLDER, onnxruntime, register, take_bfloat16
from extremum.printable import printable

__all__ = ["InferenceSession"]

_NO_FOLDER = str(Path(os.devnull, "nowhere"))
"""A folder that no file system has."""


class InferenceSession(onnxruntime.InferenceSession):  # type: ignore[misc]
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
        Which nodes are rewritten: ``all``, or ``unsupported`` for those alone that the installed onnxruntime does not
        run.

    Attributes
    ----------
    conversion : Conversion or None
        What was changed; None for a model in onnxruntime's own format.

    Raises
    ------
    DependencyError
        If onnxruntime is missing or too old, or the library of operators cannot be loaded.
    ModelError
        If it is no ONNX model.
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
        **options: Any,
    ) -> None:
        has_options = sess_options is not None
        sess_options = sess_options if has_options else onnxruntime.SessionOptions()
        register(sess_options)
        before = folder = _weights_folder(sess_options)
        self.conversion: Conversion | None = None
        if not _is_ort_format(path_or_bytes):
            self.conversion = convert(path_or_bytes, nodes)
            own = before if isinstance(path_or_bytes, bytes) else str(Path(path_or_bytes).absolute().parent)
            if require_inside(self.conversion.model, own):
                if not own and not has_options:
                    reason = "the model has weights in other files, and came without a folder"
                    raise ModelError(reason, remedy="give the file of the model")
                # For bytes onnxruntime would look in the current folder.
                folder = own or _NO_FOLDER
            if self.conversion.modified:
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
        changed = len(self.conversion.changes) if self.conversion else 0
        return f"<InferenceSession {inputs} -> {outputs}, {changed} node{'s'[: changed != 1]} of extremum>"


def _weights_folder(options: Any) -> str:
    """Return the folder of weights in the options, or an empty text."""
    try:
        return str(options.get_session_config_entry(WEIGHTS_FOLDER))
    except RuntimeError:
        return ""


def _is_ort_format(model: str | os.PathLike[str] | bytes) -> bool:
    if not isinstance(model, bytes):
        with open_file(model) as file:
            model = file.read(8)
    return model[4:8] == b"ORTM"
