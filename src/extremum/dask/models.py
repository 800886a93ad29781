"""A model mapped over the chunks of a Dask array.

Decides along which axis of an output the entries of a batch lie: the one that grows with the batch, which is found by
running the model on a few zeros. A model is prepared once in each process and kept there: twice where both the caller
and tasks run it, because a session that is opened in a task computes with the task's share of the processors.
"""

from __future__ import annotations

import hashlib
import operator
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from extremum.dask.graphs import most, require_chunked, require_known, share
from extremum.errors import ArgumentError, AxisError, ModelError

if TYPE_CHECKING:
    import onnx

    from extremum.backend import PreparedModel
    from extremum.batches import Output

__all__ = ["run"]

_KEPT = 4
"""How many sessions a process keeps."""


def run(
    model: onnx.ModelProto | bytes | str | os.PathLike[str], array: Any, axis: int = 0, *, output: str | None = None
) -> Any:
    """Run an ONNX model on every chunk of a Dask array, with one session in each process that computes.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        A model with one input. It travels with the graph; one above 2 GB stays in its file, which every process has to
        see then.
    array : dask.array.Array
        The input, in chunks along `axis` and along no other axis.
    axis : int, default 0
        The axis of the input that the entries of a batch lie along. They must not depend on each other.
    output : str, optional
        The one output that is wanted; by default all are.

    Returns
    -------
    dask.array.Array or tuple of dask.array.Array
        The outputs, in the chunks of the input: one array where there is one output, or one is wanted.

    Raises
    ------
    ArgumentError
        Chunks are of unknown size along another axis, lie along another axis or are not of the batch that the model
        declares, or an output has no axis that grows with the batch, or there is none of that name.
    AxisError
        The axis is out of range.
    ModelError
        It is no ONNX model, or has several inputs.
    InputError
        The array does not fit the model's input.

    Examples
    --------
    >>> import dask.array as da
    >>> import onnx
    >>> import extremum.dask
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (int32[n, 3] x) => (int64[n, 1] y) { y = ArgMax<axis=1>(x) }'
    >>> x = da.from_array([[1, 5, 2], [7, 0, 7], [0, 0, 1]], chunks=(2, 3)).astype("int32")
    >>> extremum.dask.run(onnx.parser.parse_model(text), x).compute().ravel()
    array([1, 0, 2])
    """
    from extremum.batches import outputs

    require_chunked("run", array)
    axis = _along(array, axis)
    require_known("run", array, set(range(array.ndim)) - {axis})
    source = _Source.of(model)
    found = outputs(source.prepared(), array.shape, array.dtype, axis, array.chunks[axis], output)
    name = f"extremum-run-{tokenize(source.digest, array.name, axis)}"
    # One node for all chunks: a process is sent the model once.
    tasks: dict[Any, Any] = {f"{name}-model": source}
    for at in range(array.numblocks[axis]):
        place = (at if each == axis else 0 for each in range(array.ndim))
        tasks[name, at] = (_run, f"{name}-model", (array.name, *place))
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[array])
    results = tuple(_output(graph, name, each, array.chunks[axis]) for each in found)
    return results if results[1:] else results[0]


def _along(array: Any, axis: int) -> int:
    """Return the axis of the batch, counted from the first; refuse chunks along another one."""
    rank, number = int(array.ndim), operator.index(axis)
    if not -rank <= number < rank:
        raise AxisError(
            f"run: axis {number} is out of range for an array with {rank} dimension{'s'[: rank != 1]}",
            remedy=f"use an axis in [-{rank}, {rank - 1}]",
        )
    number %= rank
    for other, count in enumerate(array.numblocks):
        if other != number and count > 1:
            raise ArgumentError(
                f"run: axis {other} is cut into {count} chunks, and a model takes whole entries",
                remedy=f"pass x.rechunk({{{other}: -1}}), or axis={other}",
            )
    return number


@dataclass(frozen=True, slots=True)
class _Source:
    """A model as it travels: what it is, or the file it is in."""

    content: bytes | str
    digest: str

    @classmethod
    def of(cls, model: Any) -> _Source:
        from extremum.backend import prepare

        prepared = prepare(model, threads=most())
        try:
            content: bytes | str = prepared.model.SerializeToString()
        except ValueError:
            # More than protobuf writes into one message.
            if not isinstance(model, str | os.PathLike):
                raise ModelError("run: the model has more than 2 GB", remedy="pass the name of its file") from None
            content = os.path.abspath(model)  # noqa: PTH100 - Path.absolute keeps what `..` stands for
        digest = hashlib.sha256(content if isinstance(content, bytes) else content.encode()).hexdigest()
        _keep(digest, prepared)
        return cls(content, digest)

    def prepared(self) -> PreparedModel:
        """Return this process's session, with as many threads as whoever asks may have."""
        with _lock:
            if (prepared := _sessions.get((self.digest, most()))) is None:
                from extremum.backend import prepare

                prepared = prepare(self.content, threads=most())
                _keep(self.digest, prepared)
            return prepared


_lock = threading.RLock()
_sessions: dict[tuple[str, int | None], PreparedModel] = {}


def _keep(digest: str, prepared: PreparedModel) -> None:
    """Keep a session, and let the one go that was prepared first."""
    with _lock:
        _sessions.setdefault((digest, most()), prepared)
        while len(_sessions) > _KEPT:
            del _sessions[next(iter(_sessions))]


def _output(graph: HighLevelGraph, name: str, output: Output, sizes: tuple[int, ...]) -> Any:
    own, rank = f"{name}-{output.number}", len(output.shape)
    tasks = {
        (own, *(at if each == output.batch else 0 for each in range(rank))): (
            operator.getitem,
            (name, at),
            output.number,
        )
        for at in range(len(sizes))
    }
    chunks = tuple(sizes if each == output.batch else (length,) for each, length in enumerate(output.shape))
    whole = HighLevelGraph({**graph.layers, own: tasks}, {**graph.dependencies, own: {name}})
    return da.Array(whole, own, chunks, meta=np.empty((0,) * rank, output.dtype))


def _run(source: _Source, block: Any) -> tuple[Any, ...]:
    with share():
        # Text is of objects, whoever ran the model: chunks of fixed width would differ in their types.
        return tuple(x.astype(object) if _is_text(x) else x for x in source.prepared().run([block]))


def _is_text(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "SUT"
