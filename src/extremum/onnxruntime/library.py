"""The installed onnxruntime: its release, which the import of this module checks, and its sessions."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum.errors import DependencyError, needed, required_by
from extremum.graph.load import Model
from extremum.onnxruntime.operators import library_path
from extremum.tensors import element_of

with required_by("onnxruntime's version"):
    from packaging.version import Version
try:
    import onnxruntime
except ImportError as error:
    raise DependencyError(
        "onnxruntime cannot be imported", given=str(error), remedy=needed("onnxruntime")
    ) from None

OLDEST = Version("1.21")
"""The first release that takes a model as bytes and its weights from a folder; the library itself works with 1.18."""
RELEASE = f"onnxruntime {onnxruntime.__version__}"
if Version(onnxruntime.__version__) < OLDEST:
    raise DependencyError(
        f"onnxruntime is too old: {OLDEST} is the first to run what is converted here",
        given=RELEASE,
        remedy=needed("onnxruntime"),
    )

StockSession: Any = onnxruntime.InferenceSession
"""onnxruntime's own session."""

WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
"""The option of a session that names the folder of weights."""
_BFLOAT16 = onnx.TensorProto.BFLOAT16
_BFLOAT16_TENSOR = "tensor(bfloat16)"


def new_options() -> Any:
    """Return onnxruntime's default options of a session."""
    return onnxruntime.SessionOptions()


def session_options() -> Any:
    """Return options of a session that prints nothing: a refusal is an answer here, not a line on the terminal."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # fatal
    return options


def open_session(model: bytes, options: Any) -> Any:
    """Return a session on the processor; any exception is a refusal."""
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    take_bfloat16(session)
    return session


def register(options: Any) -> None:
    """Add the operators to the options of a session; a second call changes nothing."""
    path = str(library_path())
    try:
        options.register_custom_ops_library(path)
    except Exception as error:
        # onnxruntime's exceptions have no public class.
        raise DependencyError(
            "onnxruntime cannot load the library of custom operators",
            where=path,
            given=str(error),
        ) from None


def add_weights(options: Any, model: Model) -> None:
    """Add to options the weights that a model's message lacks; the options then serve sessions of this model alone."""
    if model.folder is not None:
        options.add_session_config_entry(WEIGHTS_FOLDER, model.folder)
    values = {}
    for tensor in model.proto.graph.initializer:
        if (content := model.weights.get(tensor.name)) is not None:
            # As unsigned integers of the same size, because NumPy has no bfloat16.
            array = np.frombuffer(content, f"u{len(content) // math.prod(tensor.dims)}").reshape(
                tuple(tensor.dims)
            )
            values[tensor.name] = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(
                array, tensor.data_type
            )
    if values:
        # onnxruntime copies the values when it opens the session.
        options.add_external_initializers(list(values), list(values.values()))


# NumPy has no bfloat16, so onnxruntime refuses such arrays. It takes and gives the bits as an OrtValue.
def take_bfloat16(session: Any) -> None:
    """Let a session with a bfloat16 input or output run on bfloat16 arrays."""
    if any(each.type == _BFLOAT16_TENSOR for each in (*session.get_inputs(), *session.get_outputs())):
        # A `run` in Python costs 5 % of a small run, so other sessions keep onnxruntime's.
        session.__class__ = type(type(session).__name__, (_Bfloat16Run, type(session)), {})


def _can_be_bound(x: Any) -> bool:
    """Return whether a binding takes a value: it has no text and no sequences."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind not in "OSUT"
    return isinstance(x, onnxruntime.OrtValue)


class _Bfloat16Run:
    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any], run_options: Any = None
    ) -> Any:
        """Run the model once, as onnxruntime's session does, with bfloat16 arrays."""
        session: Any = self
        feed = {name: _bits(x) for name, x in input_feed.items()}
        types = {each.name: each.type for each in session.get_outputs()}
        names = output_names or list(types)
        kinds = {types.get(name, "") for name in names}
        # A binding takes tensors of numbers, and returns tensors.
        gives_tensors = all(kind.startswith("tensor(") for kind in kinds)
        takes_tensors = all(map(_can_be_bound, feed.values()))
        if _BFLOAT16_TENSOR not in kinds or not (gives_tensors and takes_tensors):
            return super().run(output_names, feed, run_options)  # type: ignore[misc]
        # `run_with_ort_values` takes ten times as long for small arrays.
        binding = session.io_binding()
        for name, x in feed.items():
            if isinstance(x, np.ndarray):
                binding.bind_cpu_input(name, np.require(x, requirements="C"))
            else:
                binding.bind_ortvalue_input(name, x)
        for name in names:
            binding.bind_output(name)
        session.run_with_iobinding(binding, run_options)
        arrays = dict(zip(dict.fromkeys(names), map(_array, binding.get_outputs()), strict=True))
        return [arrays[name] for name in names]


def _bits(x: Any) -> Any:
    """Return a bfloat16 array as an OrtValue of its bits, and anything else unchanged."""
    # NumPy's kind of foreign types is V.
    if not (isinstance(x, np.ndarray) and x.dtype.kind == "V" and x.dtype.name == "bfloat16"):
        return x
    # The value keeps alive the array whose memory it uses.
    bits = np.ascontiguousarray(x).view(np.uint16).reshape(x.shape)
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, _BFLOAT16)


def _array(value: Any) -> NDArray[Any]:
    if value.element_type() != _BFLOAT16:
        array: NDArray[Any] = value.numpy()
        return array
    bits = np.empty(value.shape(), np.uint16)
    if bits.size:
        ctypes.memmove(bits.ctypes.data, value.data_ptr(), bits.nbytes)
    return bits.view(element_of("bfloat16").dtype)
