"""A session of onnxruntime with this package's operators.

If a session fails, the evaluator runs the model, or reports the error with the same message as without onnxruntime.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from extremum import errors
from extremum.backend.evaluator import Executor, open_executor
from extremum.errors import ExecutionError, ExtremumError, first_line
from extremum.graph.load import Model, with_dense
from extremum.graph.sites import Site


def is_installed() -> bool:
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
            raise ExecutionError(
                "onnxruntime does not take the model", given=f"{RELEASE}: {first_line(error)}"
            ) from None
        self.output_names = [output.name for output in self._session.get_outputs()]
        self._model = model if falls_back else None
        self._executor: Executor | None = None

    def run(self, output_names: None, feeds: Mapping[str, Any]) -> Any:
        """Run the model once."""
        try:
            native = {name: _in_native_order(x) for name, x in feeds.items()}
            return [_named_by_width(x) for x in self._session.run(output_names, native)]
        except Exception as error:
            if self._executor is None and self._model is not None:
                with contextlib.suppress(ExtremumError):
                    self._executor = open_executor(with_dense(self._model.whole))
            if self._executor is None:
                raise ExecutionError(
                    "onnxruntime could not run the model", given=first_line(error)
                ) from error
        return self._executor.run(output_names, feeds)


def _in_native_order(x: Any) -> Any:
    """Return an array in the byte order of this machine, the only one that onnxruntime reads."""
    if isinstance(x, np.ndarray) and not x.dtype.isnative:
        return x.astype(x.dtype.newbyteorder("="))
    return x


def _named_by_width(x: Any) -> Any:
    """Return an array of integers with the type that NumPy names by its width."""
    # Where NumPy has two integer types of one width, onnxruntime returns the other one.
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        return x.view(x.dtype.str)
    return x
