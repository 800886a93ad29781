"""A model on every chunk of a Dask array, with one session in each process that computes."""

from __future__ import annotations

import functools
import os
import threading
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask import delayed
from dask.base import tokenize

from extremum.arrays import class_name
from extremum.dask.chunks import require_chunked, require_known
from extremum.dask.processors import most, share
from extremum.dask.tasks import META, pick
from extremum.errors import ArgumentError, ArgumentTypeError, ModelError
from extremum.indices import axis_error, integers

if TYPE_CHECKING:
    import onnx
    from dask.array import Array

    from extremum.backend import PreparedModel


def run(
    model: onnx.ModelProto | bytes | str | os.PathLike[str],
    array: Any,
    axis: int = 0,
    *,
    output: str | None = None,
) -> Any:
    """Run an ONNX model on every chunk of a Dask array, with one session in each process that computes.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        A model with one input. It travels with the graph. A model above 2 GB stays in its file, which every process
        has to see.
    array : dask.array.Array
        The input, in chunks along `axis` and along no other axis.
    axis : int, default 0
        The axis of the input along which the entries of a batch lie. Entries must not depend on each other.
    output : str, optional
        The name of the only output to return; by default all outputs.

    Returns
    -------
    dask.array.Array or tuple of dask.array.Array
        The outputs, in the chunks of the input: one array if the model has one output or `output` names one.

    Raises
    ------
    ArgumentError
        Chunks have unknown sizes along another axis, lie along another axis or differ from the batch that the model
        declares, or an output has no axis that grows with the batch, or no output has the name `output`.
    AxisError
        The axis is out of range.
    ModelError
        `model` is not an ONNX model, or has several inputs.
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
    from extremum.backend import prepare
    from extremum.backend.batches import batch_outputs

    require_chunked("run", array)
    if getattr(axis, "shape", ()):
        raise ArgumentTypeError(
            f"run: a second array, {class_name(axis)}, stands in the place of axis",
            remedy="pass one array; a model with several inputs runs in extremum.backend.run_model on computed arrays",
        )
    axis = batch_axis(axis, array)
    for other, count in enumerate(array.numblocks):
        if other != axis and count > 1:
            raise ArgumentError(
                f"run: axis {other} is cut into {count} chunks, and a model takes whole entries",
                remedy=f"pass x.rechunk({{{other}: -1}}), or axis={other}",
            )
    require_known("run", array, set(range(array.ndim)) - {axis})
    session = prepare(model, threads=most())
    content = as_it_travels(model, session)
    outputs = batch_outputs(session, array, axis, array.chunks[axis], output)
    # One node for all chunks: each process gets the model once.
    node = delayed(content, name=f"extremum-model-{tokenize(content)}", traverse=False)
    options = {"token": "extremum-run", "dtype": array.dtype, "meta": META}
    several = da.blockwise(_run, (axis,), node, None, array, range(array.ndim), **options)
    results = []
    for each in outputs:
        new = {at: length for at, length in enumerate(each.shape) if at != each.batch}
        results.append(pick(several, each.number, (each.batch,), new, each.dtype))
    return tuple(results) if results[1:] else results[0]


def batch_axis(axis: Any, array: Array) -> int:
    """Return the axis of a batch as a non-negative number, or refuse it."""
    number = integers("run", axis, array)
    rank = len(array.shape)
    if isinstance(number, tuple):
        raise ArgumentTypeError(f"run: axis {axis!r} is not one axis", remedy="pass an int")
    if not -rank <= number < rank:
        raise axis_error("run", number, array.shape)
    return number % rank


def as_it_travels(model: Any, session: PreparedModel) -> bytes | str:
    """Return a model as bytes, or the name of its file."""
    try:
        return session.model.SerializeToString()
    except ValueError:
        # The model is larger than protobuf writes into one message.
        if not isinstance(model, str | os.PathLike):
            raise ModelError(
                "run: the model has more than 2 GB",
                remedy="pass the name of its file",
            ) from None
        return os.path.abspath(model)  # noqa: PTH100 - Path.absolute keeps what `..` stands for


_loading = threading.Lock()


@functools.lru_cache(maxsize=4)
def _session(model: bytes | str, threads: int | None) -> PreparedModel:
    from extremum.backend import prepare

    return prepare(model, threads=threads)


def _run(model: bytes | str, block: Any) -> tuple[Any, ...]:
    # Dask nests the chunk in a list of one item for each of its axes.
    while isinstance(block, list):
        (block,) = block
    with _loading:
        session = _session(model, most())
    with share():
        # Text becomes objects, whichever library ran the model: text of fixed width would differ in type by chunk.
        outputs = session.run([block])
        return tuple(
            x.astype(object) if isinstance(x, np.ndarray) and x.dtype.kind in "SUT" else x for x in outputs
        )
