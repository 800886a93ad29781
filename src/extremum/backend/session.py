"""A session of onnxruntime in place of the reference evaluator, for models that hold other operators too.

Decides when there is one and what happens when it cannot go on: the reference evaluator then runs the model, or says
what is wrong with it, in the same words as without onnxruntime. The operators of this package are this package's in
both.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from extremum.backend.executor import Executor
from extremum.errors import DependencyError, ExecutionError, ExtremumError, first_line
from extremum.graph.load import Model
from extremum.graph.nodes import is_of_family
from extremum.graph.sites import Site


def suits(sites: Iterable[Site]) -> bool:
    """Return whether there are nodes of operators that are not this package's, and onnxruntime to run them."""
    return any(not site.is_call and not is_of_family(site.node) for site in sites) and is_installed()


def is_installed() -> bool:
    """Return whether onnxruntime is there and new enough."""
    try:
        import_module("extremum.onnxruntime.library")
    except DependencyError:
        return False
    return True


def open_session(
    model: Model, sites: Sequence[Site], reference: Callable[[], Executor] | None, threads: int | None = None
) -> Session:
    """Return a session for a model whose weights are split off; by default onnxruntime decides its threads."""
    from extremum.onnxruntime import library
    from extremum.onnxruntime.convert import convert_sites

    options = library.session_options()
    if threads is not None:
        options.intra_op_num_threads = threads
    converted = convert_sites(model.unread, sites).model
    library.register(options)
    library.add_weights(options, model)
    try:
        session = library.open_session(converted.SerializeToString(), options)
    except Exception as error:
        # Too large, unknown operators, types without a kernel; its exceptions share no class of their own.
        given = f"onnxruntime {library.onnxruntime.__version__}: {first_line(error)}"
        raise ExecutionError("onnxruntime does not take the model", given=given) from None
    return Session(session, reference)


class Session:
    """A session that is run like the reference evaluator, and has it take over where onnxruntime fails."""

    def __init__(self, session: Any, reference: Callable[[], Executor] | None) -> None:
        from extremum.onnxruntime.library import has_bfloat16, run_bfloat16

        self._session = session
        self._run = partial(run_bfloat16, session, session.run) if has_bfloat16(session) else session.run
        self._reference = reference
        self._executor: Executor | None = None

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs in the model's order."""
        return [output.name for output in self._session.get_outputs()]

    def run(self, output_names: None, feeds: Mapping[str, Any]) -> Sequence[Any]:
        """Run the model once."""
        try:
            results = self._run(output_names, {name: _in_native_order(x) for name, x in feeds.items()})
            # Of two integer types of one width onnxruntime takes the one that NumPy does not call by its width.
            return [x.view(x.dtype.str) if isinstance(x, np.ndarray) and x.dtype.kind in "iu" else x for x in results]
        except Exception as error:
            if self._executor is None and self._reference is not None:
                with contextlib.suppress(ExtremumError):
                    self._executor = self._reference()
            if self._executor is None:
                raise ExecutionError("onnxruntime could not run the model", given=first_line(error)) from error
        taken_over: Sequence[Any] = self._executor.run(output_names, feeds)
        return taken_over


def _in_native_order(x: Any) -> Any:
    return x if not isinstance(x, np.ndarray) or x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))
