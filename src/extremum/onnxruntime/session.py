"""onnxruntime's own session, with this package's operators in it.

Decides what a session is given: the converted model where there was something to convert, the model as it came where
there was not. Everything after that is onnxruntime's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from extremum.errors import ModelError
from extremum.graph.load import Model, open_file, require_inside
from extremum.onnxruntime.bfloat16 import has_bfloat16, run
from extremum.onnxruntime.convert import Conversion, Which, convert
from extremum.onnxruntime.library import onnxruntime, register
from extremum.printable import printable

__all__ = ["InferenceSession", "give_weights"]

_WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
# A folder that no file system has.
_NOWHERE = str(Path(os.devnull, "nowhere"))


class InferenceSession(onnxruntime.InferenceSession):  # type: ignore[misc]
    """A session of onnxruntime in which the operators of the ArgMax family are this package's.

    Takes the arguments and has the methods of ``onnxruntime.InferenceSession``. ``run`` takes and returns bfloat16
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
        given = sess_options is not None
        sess_options = sess_options if given else onnxruntime.SessionOptions()
        register(sess_options)
        before = _weights_folder(sess_options)
        folder = before
        self.conversion: Conversion | None = None
        if not _is_ort_format(path_or_bytes):
            self.conversion = convert(path_or_bytes, nodes)
            own = before if isinstance(path_or_bytes, bytes) else str(Path(path_or_bytes).absolute().parent)
            if require_inside(self.conversion.model, own):
                if not own and not given:
                    raise ModelError(
                        "the model has weights in other files, and came without a folder",
                        remedy="give the file of the model",
                    )
                # Of bytes onnxruntime would look for them wherever the process happens to be.
                folder = own or _NOWHERE
            if self.conversion.modified:
                path_or_bytes = self.conversion.model.SerializeToString()
        if folder != before:
            sess_options.add_session_config_entry(_WEIGHTS_FOLDER, folder)
        try:
            super().__init__(path_or_bytes, sess_options, providers, provider_options, **options)
        finally:
            if folder != before:
                # The next model that is opened with these options has a folder of its own.
                sess_options.add_session_config_entry(_WEIGHTS_FOLDER, before)
        if has_bfloat16(self):
            # A method of our own is 5 % of a small run, so that other sessions keep onnxruntime's.
            self.__class__ = _Bfloat16Session

    def __repr__(self) -> str:
        inputs, outputs = (
            ", ".join(printable(f"{each.name}: {each.type} {each.shape}") for each in values[:4])
            + (", ..." if values[4:] else "")
            for values in (self.get_inputs(), self.get_outputs())
        )
        changed = len(self.conversion.changes) if self.conversion else 0
        return f"<InferenceSession {inputs} -> {outputs}, {changed} node{'s'[: changed != 1]} of extremum>"


class _Bfloat16Session(InferenceSession):
    """A session with an input or an output of bfloat16."""

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None) -> Any:
        """Run the model once, as onnxruntime's session does, which takes and gives no bfloat16 arrays."""
        return run(self, super().run, output_names, input_feed, run_options)


def give_weights(options: Any, model: Model) -> None:
    """Give options the weights of a model that are not in its message: they serve sessions of this model alone."""
    if model.folder is not None:
        options.add_session_config_entry(_WEIGHTS_FOLDER, model.folder)
    parted = [tensor for tensor in model.proto.graph.initializer if tensor.name in model.weights]
    if parted:
        # onnxruntime copies them when it opens the session.
        options.add_external_initializers([each.name for each in parted], [_value(each, model) for each in parted])


def _value(tensor: onnx.TensorProto, model: Model) -> Any:
    content = model.weights[tensor.name]
    # By its bytes, as NumPy has no bfloat16.
    unsigned = f"u{len(content) // math.prod(tensor.dims)}"
    array = np.frombuffer(content, unsigned).reshape(tuple(tensor.dims))
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array, tensor.data_type)


def _weights_folder(options: Any) -> str:
    """Return the folder that options name for weights; nothing where they do not."""
    try:
        return str(options.get_session_config_entry(_WEIGHTS_FOLDER))
    except RuntimeError:
        return ""


def _is_ort_format(model: str | os.PathLike[str] | bytes) -> bool:
    if not isinstance(model, bytes):
        with open_file(model) as file:
            model = file.read(8)
    return model[4:8] == b"ORTM"
