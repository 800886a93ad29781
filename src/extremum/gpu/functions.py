"""The nine functions for arrays on a GPU: their options are those of the CPU, without `out`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

from extremum.gpu.calls import answer
from extremum.signatures import (
    ArgKeywords,
    Axes,
    Axis,
    HardmaxOptions,
    TopKOptions,
    ValueKeywords,
    like,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


@like("argmax")
def argmax(x: Any, /, axis: Axes = None, **options: Unpack[ArgKeywords]) -> Any:
    """Index of the largest element of an array on a GPU, over any set of axes.

    Every bit of the answer is that of :func:`extremum.argmax`.

    Parameters
    ----------
    x : torch.Tensor, cupy.ndarray or jax.Array
        An array on a GPU of any shape and strides; bool, an integer, float16, bfloat16, float32 or float64.
    out : None
        An array to write to is an error.

    Returns
    -------
    torch.Tensor, cupy.ndarray or jax.Array
        The indices, as an array of the same library on the same device.

    Raises
    ------
    ArgumentError, AxisError, ElementTypeError
        As for NumPy's arrays; or a CUDA graph is being captured, and this call would have to see elements before it
        answers.
    ArgumentTypeError
        `x` is not an array on a GPU.

    Examples
    --------
    >>> import torch
    >>> import extremum.gpu
    >>> device = "cuda" if torch.cuda.is_available() else "cpu"
    >>> x = torch.tensor([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], device=device)
    >>> extremum.gpu.argmax(x, 1).tolist()
    [1, 0]
    """
    return answer("argmax", (x,), {"axis": axis, **options})


@like("argmin", after=[argmax])
def argmin(x: Any, /, axis: Axes = None, **options: Unpack[ArgKeywords]) -> Any:
    """Index of the smallest element of an array on a GPU, over any set of axes.

    Every bit of the answer is that of :func:`extremum.argmin`.

    Examples
    --------
    >>> import torch
    >>> import extremum.gpu
    >>> device = "cuda" if torch.cuda.is_available() else "cpu"
    >>> extremum.gpu.argmin(torch.tensor([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], device=device), 1).tolist()
    [0, 1]
    """
    return answer("argmin", (x,), {"axis": axis, **options})


@like("max", after=[argmax])
def max(x: Any, /, axis: Axes = None, **options: Unpack[ValueKeywords]) -> Any:
    """Largest element of an array on a GPU, over any set of axes, with its index on request.

    Every bit of the answer is that of :func:`extremum.max`.

    Returns
    -------
    torch.Tensor, cupy.ndarray or jax.Array
        The values, as an array of the same library on the same device; with ``return_index`` a ``ValuesIndices``.

    Examples
    --------
    >>> import torch
    >>> import extremum.gpu
    >>> device = "cuda" if torch.cuda.is_available() else "cpu"
    >>> extremum.gpu.max(torch.tensor([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], device=device), 1).tolist()
    [5.0, 7.0]
    """
    return answer("max", (x,), {"axis": axis, **options})


@like("min", after=[max, argmax])
def min(x: Any, /, axis: Axes = None, **options: Unpack[ValueKeywords]) -> Any:
    """Smallest element of an array on a GPU, over any set of axes, with its index on request.

    Every bit of the answer is that of :func:`extremum.min`.

    Examples
    --------
    >>> import torch
    >>> import extremum.gpu
    >>> device = "cuda" if torch.cuda.is_available() else "cpu"
    >>> extremum.gpu.min(torch.tensor([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], device=device), 1).tolist()
    [1.0, 0.0]
    """
    return answer("min", (x,), {"axis": axis, **options})


@like("minmax", after=[max, argmax])
def minmax(x: Any, /, axis: Axes = None, **options: Unpack[ValueKeywords]) -> Any:
    """Smallest and largest element of an array on a GPU, over any set of axes, with their indices on request.

    Every bit of the answer is that of :func:`extremum.minmax`.

    Returns
    -------
    MinMax or MinMaxIndices
        Arrays of the same library on the same device.

    Examples
    --------
    >>> import torch
    >>> import extremum.gpu
    >>> device = "cuda" if torch.cuda.is_available() else "cpu"
    >>> low, high = extremum.gpu.minmax(torch.tensor([3.0, 1.0, 2.0], device=device))
    >>> low.item(), high.item()
    (1.0, 3.0)
    """
    return answer("minmax", (x,), {"axis": axis, **options})


@like("hardmax", after=[argmax])
def hardmax(x: Any, /, axis: Axis | None = -1, **options: Unpack[HardmaxOptions]) -> Any:
    """Ones at the largest element of an array on a GPU over any set of axes, zeros elsewhere.

    Every bit of the answer is that of :func:`extremum.hardmax`.

    Returns
    -------
    torch.Tensor, cupy.ndarray or jax.Array
        An array of the same library, shape and element type on the same device.

    Examples
    --------
    >>> import torch
    >>> import extremum.gpu
    >>> device = "cuda" if torch.cuda.is_available() else "cpu"
    >>> extremum.gpu.hardmax(torch.tensor([1.0, 5.0, 5.0], device=device)).tolist()
    [0.0, 1.0, 0.0]
    """
    return answer("hardmax", (x,), {"axis": axis, **options})


@like("maximum", after=[argmax])
def maximum(*arrays: Any, **options: Unpack[HardmaxOptions]) -> Any:
    """Largest of several arrays on a GPU, element by element.

    Every bit of the answer is that of :func:`extremum.maximum`.

    Parameters
    ----------
    *arrays : torch.Tensor, cupy.ndarray or jax.Array, or a Python number
        One or more that broadcast, of one library and on one device; at least one is an array.

    Returns
    -------
    torch.Tensor, cupy.ndarray or jax.Array
        An array of the same library on the same device, in NumPy's common element type.

    Examples
    --------
    >>> import torch
    >>> import extremum.gpu
    >>> device = "cuda" if torch.cuda.is_available() else "cpu"
    >>> extremum.gpu.maximum(torch.tensor([1.0, 5.0], device=device), 2.0).tolist()
    [2.0, 5.0]
    """
    return answer("maximum", arrays, {**options})


@like("minimum", after=[maximum, argmax])
def minimum(*arrays: Any, **options: Unpack[HardmaxOptions]) -> Any:
    """Smallest of several arrays on a GPU, element by element.

    Every bit of the answer is that of :func:`extremum.minimum`.

    Examples
    --------
    >>> import torch
    >>> import extremum.gpu
    >>> device = "cuda" if torch.cuda.is_available() else "cpu"
    >>> extremum.gpu.minimum(torch.tensor([1.0, 5.0], device=device), 2.0).tolist()
    [1.0, 2.0]
    """
    return answer("minimum", arrays, {**options})


@like("top_k", after=[argmax])
def top_k(x: Any, /, k: SupportsIndex, axis: Any = -1, **options: Unpack[TopKOptions]) -> Any:
    """Select the k largest or smallest elements along an axis of an array on a GPU, in order, with their indices.

    Every bit of the answer is that of :func:`extremum.top_k`; it is in order also with ``sorted=False``.

    Returns
    -------
    ValuesIndices
        Arrays of the same library on the same device.

    Examples
    --------
    >>> import torch
    >>> import extremum.gpu
    >>> device = "cuda" if torch.cuda.is_available() else "cpu"
    >>> values, indices = extremum.gpu.top_k(torch.tensor([1.0, 5.0, 3.0, 5.0], device=device), 3)
    >>> values.tolist(), indices.tolist()
    ([5.0, 5.0, 3.0], [1, 3, 2])
    """
    return answer("top_k", (x,), {"k": k, "axis": axis, **options})
