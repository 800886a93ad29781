"""Tensors of PyTorch on a GPU, searched by the kernels of this folder.

Options, policies and messages are those of the CPU: :class:`Device` is the engine that a reduction is given. Arrays of
other libraries come in and go out through DLPack, without a copy. Everything runs on the current stream.
"""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.compiler import nonstrict_trace

from extremum.arrays import as_element
from extremum.elementwise import NUMBERS, at_once, broadcast_shape, common_type, refuse_nan_at
from extremum.engine import Engine
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError, first_line
from extremum.gpu import kernels, plans
from extremum.indices import axis_error, integers
from extremum.interop import Operand, common_library, device_of, strided_tensor
from extremum.reductions import (
    ENDS,
    Index,
    Ints,
    Reduction,
    as_mask,
    index_type,
    require_policy,
    spread_mask,
    values_then_indices,
)
from extremum.selection import TopKCall

INTERPRETED = os.environ.get("TRITON_INTERPRET", "0") == "1"
"""Whether the kernels run on the CPU, by Triton's interpreter: then they take tensors there."""

# The integers that have the bits of an element, by its bytes.
_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}

_INFINITY = {
    torch.float16: 0x7C00,
    torch.bfloat16: 0x7F80,
    torch.float32: 0x7F800000,
    torch.float64: 0x7FF0000000000000,
}
"""The bits of infinity: those of NaN are greater."""

_NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
_TYPES = {
    **{getattr(torch, name): np.dtype(name) for name in _NAMES},
    torch.bfloat16: np.dtype(ml_dtypes.bfloat16),
}
"""NumPy's name for each element type of PyTorch that is compared here."""
_TENSOR_TYPES = {name: own for own, name in _TYPES.items()}


def tensor_type(dtype: np.dtype[Any]) -> torch.dtype:
    """Return PyTorch's name for an element type of NumPy."""
    if dtype not in _TENSOR_TYPES:
        raise ElementTypeError(f"PyTorch has no elements of type {dtype}", remedy="use a type that it has")
    return _TENSOR_TYPES[dtype]


class Elements:
    """A tensor with the shape and the element type as NumPy names them, by which a reduction decides."""

    __slots__ = ("dtype", "shape", "tensor")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self.shape = tuple(tensor.shape)
        self.dtype = _TYPES.get(tensor.dtype)
        if self.dtype is None:
            raise ElementTypeError(
                f"elements of type {tensor.dtype} have no order here",
                remedy="convert to bool, an integer, float16, bfloat16, float32 or float64",
            )

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


def is_traced(x: torch.Tensor) -> bool:
    """Whether ``torch.compile`` traces the call: a tensor has no elements, and an operator stands for the kernels."""
    return isinstance(x, FakeTensor | FunctionalTensor)


def bits_of(x: torch.Tensor) -> torch.Tensor:
    """Return the elements as signed integers with the same bits, in the same memory."""
    return x.view(_BITS[x.element_size()])


def kind_of(dtype: torch.dtype) -> tuple[str, int]:
    """Return how a kernel makes keys of elements: the kind, and the bits of infinity."""
    if dtype.is_floating_point:
        return "float", _INFINITY[dtype]
    return ("signed" if dtype.is_signed else "unsigned"), 0


def operand_of(function: str, x: Any) -> Operand:
    """Return an array on a GPU as an operand with :class:`Elements`, or refuse it."""
    if isinstance(x, torch.Tensor):
        tensor = x if is_traced(x) else strided_tensor(x)
        wrap: Any = _as_it_is
        library = "torch"
    else:
        tensor = _by_dlpack(function, x)
        wrap = _way_back(x)
        library = type(x).__module__.partition(".")[0]
    on_cpu = tensor.device.type == "cpu"
    if on_cpu and not INTERPRETED:
        raise ArgumentTypeError(
            f"{function}: the elements are on the CPU, and this function takes arrays on a GPU",
            remedy=f"call extremum.{function}, which takes both",
        )
    if not on_cpu and (INTERPRETED or tensor.device.type != "cuda"):
        where = "the CPU alone under TRITON_INTERPRET=1" if INTERPRETED else "GPUs of NVIDIA and AMD"
        raise ElementTypeError(
            f"{function}: the elements are on the device {tensor.device}, and the kernels run on {where}",
            remedy="copy the array to the CPU first",
        )
    elements: Any = Elements(tensor)
    return Operand(elements, wrap, library=library)


def _as_it_is(result: torch.Tensor, axes: Ints) -> torch.Tensor:
    return result


def _by_dlpack(function: str, x: Any) -> torch.Tensor:
    if device_of(x) is None and not INTERPRETED:
        raise ArgumentTypeError(
            f"{function}: {type(x).__qualname__} is not an array on a GPU",
            remedy=f"call extremum.{function}, which takes arrays of any library",
        )
    try:
        return torch.from_dlpack(x)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ElementTypeError(
            f"{function}: the elements are on the device {device_of(x)}, and PyTorch cannot read them there: "
            f"{first_line(error)}",
            given=type(x).__qualname__,
            remedy="install PyTorch with support of this device, or copy the array to the CPU first",
        ) from None


def _way_back(x: Any) -> Any:
    """Return the function that makes a tensor an array of the library of `x`, in the same memory."""
    if hasattr(x, "__array_namespace__"):
        namespace = x.__array_namespace__()
    else:
        # Arrays of CuPy do not know their namespace in every version.
        namespace = sys.modules[type(x).__module__.partition(".")[0]]

    def wrap(result: torch.Tensor, axes: Ints) -> Any:
        return namespace.from_dlpack(result)

    return wrap


def mask_of(function: str, where: Any, x: Elements) -> torch.Tensor | None:
    """Return a mask of any library as a tensor beside the elements, in their shape; None if there is none."""
    if where is None:
        return None
    if isinstance(where, torch.Tensor) or (device_of(where) is not None):
        own: Any = Elements(where if isinstance(where, torch.Tensor) else _by_dlpack(function, where))
    else:
        own = Elements(torch.from_numpy(np.array(as_mask(function, where))).to(x.tensor.device))
    tensor: torch.Tensor = spread_mask(function, own, x.shape, lambda mask, shape: mask.tensor.expand(shape))
    if tensor.device != x.tensor.device:
        raise ArgumentError(
            f"{function}: where is on the device {tensor.device}, and the array on {x.tensor.device}",
            remedy="move the mask to the device of the array",
        )
    return tensor


class OnDevice(Reduction):
    """A reduction of elements on a GPU."""

    __slots__ = ()

    def mask(self, x: Operand) -> Any:
        """Return a mask of the elements that take part, None if all do; this does not look for NaN."""
        elements: Any = x.array
        return mask_of(self.function, self.where, elements)


class Device(Engine):
    """The functions of a reduction for tensors."""

    def reduce(  # type: ignore[override]
        self,
        x: Elements,
        axis: Any,
        *,
        function: str,
        largest: Sequence[bool],
        keepdims: bool,
        select_last_index: bool,
        omit: bool,
        times: bool,
        where: torch.Tensor | None,
        values: bool,
        index: Index,
    ) -> tuple[int, list[list[Any]]]:
        """Search, as the native module does; the first result only says that there may be empty slices."""
        axes = reduced_axes(function, x, axis)
        shape = tuple(1 if at in axes else size for at, size in enumerate(x.shape))
        if not keepdims:
            shape = tuple(size for at, size in enumerate(x.shape) if at not in axes)
        type_of_index = torch.int64 if index is None else tensor_type(index)
        ends: list[list[Any]] = []
        for each in largest:
            find = _reduce_op if is_traced(x.tensor) else reduce_tensor
            best, places = find(x.tensor, axes, each, select_last_index, omit, where, values, type_of_index)
            ends.append(
                [best.reshape(shape) if values else None, None if index is None else places.reshape(shape)]
            )
        return 1, ends

    def is_nan(self, values: Any) -> Any:
        """Return where the elements are NaN."""
        return (
            torch.isnan(values) if values.is_floating_point() else torch.zeros_like(values, dtype=torch.bool)
        )

    def is_empty(self, indices: Any) -> Any:
        """Return which slices have no element that takes part."""
        return bits_of(indices) == -1

    def any(self, places: Any, axis: int) -> Any:
        """Return which slices have a True."""
        return places.any(axis)

    def first(self, slices: Any) -> Ints | None:
        """Return the place of the first True, None if there is none; this waits for the device."""
        _refuse_capture(slices)
        if not bool(slices.any()):
            return None
        return tuple(map(int, torch.nonzero(slices)[0]))

    def fill(self, result: Any, slices: Any, value: Any) -> None:
        """Write a value into the result for some slices."""
        bits = bits_of(result)
        own = np.asarray(value, _TYPES[result.dtype])
        bits.masked_fill_(slices, int(own.view(f"i{own.itemsize}")))

    def filled(self, values: Any, slices: Any, value: Any) -> Any:
        """Return the values with another value in some places."""
        result = values.clone()
        self.fill(result, slices, value)
        return result

    def top_k(  # type: ignore[override]
        self,
        x: Elements,
        k: int,
        axis: int | None,
        *,
        function: str,
        largest: bool,
        sorted: bool,
        nan_first: bool,
        times: bool,
        where: torch.Tensor | None,
    ) -> tuple[Any, Any]:
        """Select, as the native module does; in order, also where the caller wants no order."""
        tensor = x.tensor
        if axis is None:
            tensor = tensor.reshape(-1)
            where = None if where is None else where.reshape(-1)
            axis = 0
        select = _select_op if is_traced(tensor) else select_tensor
        return select(tensor, k, axis, largest, nan_first, where)

    def cast(self, indices: Any, dtype: np.dtype[Any]) -> Any:
        """Return the indices in the type that the caller wants."""
        return indices.to(tensor_type(dtype))


DEVICE = Device()


def _refuse_capture(slices: torch.Tensor) -> None:
    """Refuse to look at elements while work is only recorded."""
    recorder = ""
    if is_traced(slices):
        recorder = "torch.compile traces this call"
    elif not INTERPRETED and torch.cuda.is_current_stream_capturing():
        recorder = "a CUDA graph is being captured"
    if recorder:
        raise ArgumentError(
            f"{recorder}, and it has to see elements before it answers",
            remedy="pass a default for slices that may be empty, and a nan_policy other than 'raise'",
        )


def reduced_axes(function: str, x: Any, axis: Any) -> Ints:
    """Return the axes that are reduced, ascending, or refuse them."""
    rank = len(x.shape)
    if axis is None:
        return tuple(range(rank))
    several = integers(function, axis, x)
    several = several if isinstance(several, tuple) else (several,)
    axes = {each % rank for each in several if -rank <= each < rank}
    if len(axes) < len(several):
        raise axis_error(function, several, x.shape, x)
    return tuple(sorted(axes))


def _dimensions(arrays: Sequence[torch.Tensor], axes: Sequence[int]) -> tuple[plans.Dimension, ...]:
    return tuple([(arrays[0].shape[axis], *[each.stride(axis) for each in arrays]) for axis in axes])


def slices_of(arrays: list[torch.Tensor], axes: Ints) -> tuple[list[torch.Tensor], plans.Slices]:
    """Return arrays of one shape and how a kernel walks their slices; an array is copied if it has to be."""
    kept = [axis for axis in range(arrays[0].ndim) if axis not in axes]
    found = plans.slices(_dimensions(arrays, kept), _dimensions(arrays, axes))
    # A mask whose strides do not fit costs less to copy than the array, which comes first.
    for first in (1, 0):
        if found is None:
            order = [*kept, *axes]
            back = sorted(range(len(order)), key=order.__getitem__)
            copies = [each.permute(order).contiguous().permute(back) for each in arrays[first:]]
            arrays = [*arrays[:first], *copies]
            found = plans.slices(_dimensions(arrays, kept), _dimensions(arrays, axes))
    assert found is not None
    return arrays, found


@functools.cache
def _processors(device: torch.device) -> int:
    if device.type == "cpu":
        return 4
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def reduce_tensor(
    x: torch.Tensor,
    axes: Ints,
    largest: bool,
    last: bool,
    omit: bool,
    where: torch.Tensor | None,
    with_values: bool,
    index: torch.dtype,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the values and the indices of the slices, one after the other; an index is -1 where nothing takes part."""
    kind, infinity = kind_of(x.dtype)
    bits = bits_of(x)
    length = math.prod(x.shape[axis] for axis in axes)
    total = math.prod(size for axis, size in enumerate(x.shape) if axis not in axes)
    values = torch.empty(total if with_values else 0, dtype=bits.dtype, device=x.device)
    indices = torch.empty(total, dtype=index, device=x.device)
    places = bits_of(indices)
    if not total or not length:
        return values.zero_().view(x.dtype), places.fill_(-1).view(index)
    arrays, layout = slices_of([bits] if where is None else [bits, where.view(torch.int8)], axes)
    plan = plans.reduction(layout, x.element_size(), _processors(x.device))
    keys = starts = places
    if plan.parts > 1:
        wide = torch.int64 if x.element_size() == 8 else torch.int32
        keys = torch.empty(plan.parts * total, dtype=wide, device=x.device)
        starts = torch.empty(plan.parts * total, dtype=torch.int64, device=x.device)
    # Without a mask its strides mean nothing.
    strides = [(each[1], each[-1]) for each in (layout.outer, layout.inner, layout.along)]
    (outer_x, outer_mask), (inner_x, inner_mask), (along_x, along_mask) = strides
    _launch(
        kernels.reduce,
        (plan.blocks, plan.parts, 1),
        (
            *(arrays[0], arrays[-1], keys, starts, places, values if with_values else bits),
            *(layout.outer[0], layout.inner[0], length),
            *(outer_x, inner_x, along_x, outer_mask, inner_mask, along_mask),
            *(*layout.slots, total, plan.length),
        ),
        (
            *(kind, infinity, largest, last, omit and kind == "float", where is not None, with_values),
            *(plan.parts > 1, plan.by_rows, plan.kept, plan.tile),
        ),
    )
    if plan.parts > 1:
        tile = plans.power(plan.parts)
        kept = max(1, min(plans.power(total), plans.TILE[4] // tile))
        _launch(
            kernels.finish,
            (-(-total // kept), 1, 1),
            (
                *(arrays[0], keys, starts, places, values if with_values else bits),
                *(layout.outer[0], layout.inner[0], outer_x, inner_x, along_x),
                *(*layout.slots, total, plan.parts),
            ),
            (last, with_values, kept, tile),
        )
    return values.view(x.dtype), indices


_COMPILED: dict[Any, Any] = {}
"""Compiled kernels by what they were compiled for: Triton's own look-up takes longer than a small array."""


def _launch(
    kernel: Any, grid: tuple[int, int, int], arguments: tuple[Any, ...], constants: tuple[Any, ...]
) -> None:
    """Run a kernel on the device of its first argument and the current stream; compile it at its first call."""
    if INTERPRETED:
        kernel[grid](*arguments, *constants)
        return
    device = arguments[0].device
    key = (kernel, device.index, constants, tuple([_class_of(each) for each in arguments]))
    with torch.cuda.device(device):
        compiled = _COMPILED.get(key)
        if compiled is None:
            _COMPILED[key] = kernel[grid](*arguments, *constants)
        else:
            compiled[grid](*arguments, *constants)


def _class_of(argument: Any) -> tuple[Any, ...]:
    """Return what Triton compiles into a kernel: of numbers, whether they are 1, a multiple of 16, or long."""
    if isinstance(argument, int):
        return argument == 1, argument % 16 == 0, argument < 1 << 31
    # AMD's loads differ for memory that 31 bits address.
    short = argument.untyped_storage().nbytes() < 1 << 31
    return argument.dtype, argument.data_ptr() % 16 == 0, short


class Known(NamedTuple):
    """What a call over axes turned out to want; a call like it does not decide again."""

    axes: Ints
    shape: Ints
    last: bool
    values: bool
    # The type of the indices; None if the caller wants none.
    indices: torch.dtype | None


_KNOWN: dict[Any, Known] = {}
_MOST_KNOWN = 4096


def _key_of(function: str, x: Any, axis: Any, options: dict[str, Any]) -> Any:
    """Return by what a call without a mask, a policy or a default is known; None for other calls."""
    plain = type(x) is torch.Tensor and x.layout is torch.strided
    plain = plain and not (x.requires_grad or x.is_neg() or x.is_nested)
    # True is equal to 1, and is no axis; a list has no hash.
    if not plain or not (axis is None or type(axis) is int):
        return None
    if options["where"] is not None or options["default"] is not None or options.get("out") is not None:
        return None
    if options["nan_policy"] not in (None, "propagate"):
        return None
    return (function, x.dtype, x.shape, x.device, axis, *map(str, options.values()))


def _over_axes(function: str, x: Any, axis: Any, **options: Any) -> tuple[Any, ...]:
    """Answer a call of ``argmax``, ``argmin``, ``max``, ``min`` or ``minmax`` of an array on a GPU."""
    key = _key_of(function, x, axis, options)
    known = _KNOWN.get(key)
    if known is None:
        return _decided(function, x, axis, options, key)
    ends = [
        reduce_tensor(
            x, known.axes, each, known.last, False, None, known.values, known.indices or torch.int64
        )
        for each in ENDS[function]
    ]
    results = [best.view(known.shape) for best, _ in ends] if known.values else []
    if known.indices is not None:
        results += [places.view(known.shape) for _, places in ends]
    return tuple(results)


def _decided(function: str, x: Any, axis: Any, options: dict[str, Any], key: Any) -> tuple[Any, ...]:
    """Answer a call with whatever options; note what it wants if it has a key."""
    refuse_out(function, options.pop("out", None))
    with_index = options.pop("return_index", None)
    dtype = options.pop("dtype", None) or options.pop("index_dtype", None)
    default = options.pop("default")
    values = not function.startswith("arg")
    operand = operand_of(function, x)
    call = OnDevice(function, ENDS[function], axis, engine=DEVICE, **options)
    index = index_type(function, dtype) if with_index or not values else None
    results = values_then_indices(call.find(operand, values, index, default))
    if key is not None and operand.array.size:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        own = None if index is None else tensor_type(index)
        axes = call.axes(operand.array.ndim)
        _KNOWN[key] = Known(axes, tuple(results[0].shape), call.select_last_index, values, own)
    return tuple(operand.wrap(each, ()) for each in results)


def devices() -> list[str]:
    """Return the names of the GPUs that PyTorch knows."""
    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]


def refuse_out(function: str, out: object) -> None:
    """Refuse an array to write to."""
    if out is not None:
        raise ArgumentError(f"{function}: results on a GPU are new arrays", remedy="omit out")


def _hardmax(x: Any, axis: Any, out: object = None, nan_policy: str = "propagate", where: Any = None) -> Any:
    """Answer a call of ``hardmax`` of an array on a GPU."""
    refuse_out("hardmax", out)
    operand = operand_of("hardmax", x)
    elements: Any = operand.array
    call = OnDevice(
        "hardmax", (True,), axis, keepdims=True, nan_policy=nan_policy, where=where, engine=DEVICE
    )
    (best,) = call.find(operand, False, np.dtype(np.int64), -1)
    return operand.wrap(_ones(best.indices, call.axes(elements.ndim), elements), ())


def _ones(indices: torch.Tensor, axes: Ints, x: Elements) -> torch.Tensor:
    """Return zeros in the shape of the elements, and a one at each index except -1; the indices keep all axes."""
    result = torch.zeros(x.shape, dtype=x.tensor.dtype, device=x.tensor.device)
    if not result.numel():
        return result
    bits = bits_of(result)
    one = np.ones((), x.dtype)
    source = (indices != -1).to(bits.dtype) * int(one.view(f"i{one.itemsize}"))
    if len(axes) == 1:
        bits.scatter_(axes[0], indices.clamp(min=0), source)
        return result
    # Several axes are one dimension of memory of its own.
    order = [*(axis for axis in range(x.ndim) if axis not in axes), *axes]
    lines = torch.zeros(
        (indices.numel(), result.numel() // indices.numel()), dtype=bits.dtype, device=bits.device
    )
    lines.scatter_(1, indices.reshape(-1, 1).clamp(min=0), source.reshape(-1, 1))
    bits.permute(order).copy_(lines.reshape([x.shape[axis] for axis in order]))
    return result


def _maximum(
    function: str, operands: tuple[Any, ...], out: Any = None, nan_policy: Any = None, where: Any = None
) -> Any:
    """Answer a call of ``maximum`` or ``minimum`` of arrays on a GPU."""
    nan_policy = "propagate" if nan_policy is None else nan_policy
    require_policy(function, nan_policy)
    return at_once(function, operands, out, nan_policy, where, _extremum)


def _extremum(function: str, operands: tuple[Any, ...], out: Any, nan_policy: str, where: Any) -> Any:
    refuse_out(function, out)
    numbers = [x for x in operands if type(x) in NUMBERS]
    by_place = {at: operand_of(function, x) for at, x in enumerate(operands) if type(x) not in NUMBERS}
    several = list(by_place.values())
    own = common_library(several)
    dtype = common_type(function, several, numbers)
    tensors = _of_one_type(operands, by_place, dtype)
    first, *others = tensors
    if not is_traced(first):
        # Sizes that are not known yet are PyTorch's to compare.
        broadcast_shape(function, [tuple(each.shape) for each in tensors])
    result = first
    for other in others:
        pair = _pair_op if is_traced(first) else pair_of
        result = pair(result, other, function == "maximum", nan_policy == "omit")
    if not others:
        result = result.clone()
    mask = None
    if where is not None:
        shape = torch.broadcast_shapes(
            result.shape, np.shape(where) if not isinstance(where, torch.Tensor) else where.shape
        )
        mask = mask_of(function, where, Elements(result.expand(shape)))
        bits = torch.where(mask, bits_of(result), bits_of(first))
        result = bits.view(result.dtype)
    if nan_policy == "raise":
        nans = DEVICE.is_nan(result)
        refuse_nan_at(DEVICE.first(nans if mask is None else nans & mask))
    return own.wrap(result, ())


def _of_one_type(
    operands: tuple[Any, ...], by_place: dict[int, Operand], dtype: np.dtype[Any]
) -> list[torch.Tensor]:
    """Return the operands as tensors of one element type on one device, or refuse them."""
    arrays: list[Any] = [each.array for each in by_place.values()]
    devices = {each.tensor.device: None for each in arrays}
    if len(devices) > 1:
        raise ArgumentError(
            f"the operands are on the devices {' and '.join(map(str, devices))}",
            remedy="move them to one device first",
        )
    (device,) = devices
    own = tensor_type(dtype)
    tensors = []
    for at, x in enumerate(operands):
        if at in by_place:
            elements: Any = by_place[at].array
            tensors.append(elements.tensor.to(own))
        else:
            number = as_element(x, dtype)
            bits = int(number.view(f"i{number.itemsize}"))
            tensors.append(torch.full((), bits, dtype=_BITS[number.itemsize], device=device).view(own))
    return tensors


def pair_of(x: torch.Tensor, y: torch.Tensor, largest: bool, omit: bool) -> torch.Tensor:
    """Return the better of two elements at each place of two tensors of one type."""
    shape = torch.broadcast_shapes(x.shape, y.shape)
    result = torch.empty(shape, dtype=x.dtype, device=x.device)
    if not result.numel():
        return result
    own, other = (bits_of(each).expand(shape) for each in (x, y))
    groups = plans.merged(_dimensions([own, other, result], range(len(shape))))
    if len(groups) > 2:
        own, other = own.contiguous(), other.contiguous()
        groups = plans.merged(_dimensions([own, other, result], range(len(shape))))
    single: plans.Dimension = (1, 0, 0, 0)
    outer, inner = [single, single, *groups][-2:]
    tile = min(plans.power(inner[0]), plans.TILE[x.element_size()] // 2)
    _launch(
        kernels.pair,
        (outer[0] * -(-inner[0] // tile), 1, 1),
        (own, other, bits_of(result), inner[0], outer[1], inner[1], outer[2], inner[2]),
        (*kind_of(x.dtype), largest, -1 if omit else 1, tile),
    )
    return result


def _top_k(
    x: Any,
    k: Any,
    axis: Any,
    *,
    mode: Any,
    sorted: Any,
    nan_policy: Any,
    where: Any = None,
    default: Any = None,
    index_dtype: Any = None,
) -> Any:
    """Answer a call of ``top_k`` of an array on a GPU."""
    operand = operand_of("top_k", x)
    elements: Any = operand.array
    call = TopKCall.of(elements, k, axis, mode, sorted, nan_policy, default, index_dtype, DEVICE)
    there: Any = mask_of("top_k", where, elements)
    best = call.finish(elements, call.select(elements, there), is_whole=there is None)
    return tuple(operand.wrap(each, ()) for each in best)


def select_tensor(
    x: torch.Tensor, k: int, axis: int, largest: bool, nan_first: bool, where: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the values and indices of the k best along an axis, in order; -1 where fewer elements take part."""
    order = [each for each in range(x.ndim) if each != axis] + [axis]
    n = x.shape[axis]
    shape = [x.shape[each] for each in order[:-1]]
    total = math.prod(shape)
    values = torch.empty((total, k), dtype=_BITS[x.element_size()], device=x.device)
    indices = torch.empty((total, k), dtype=torch.int64, device=x.device)
    if values.numel():
        rows = _rows(bits_of(x).permute(order), total, n)
        masks = None if where is None else _rows(where.view(torch.int8).permute(order), total, n)
        _select_rows(rows, masks, kind_of(x.dtype), (largest, 1 if nan_first else -1), values, indices)
    back = [*range(axis), len(shape), *range(axis, len(shape))]
    return (
        values.view(x.dtype).reshape([*shape, k]).permute(back).contiguous(),
        indices.reshape([*shape, k]).permute(back).contiguous(),
    )


def _rows(x: torch.Tensor, total: int, n: int) -> torch.Tensor:
    """Return an array as rows whose elements are neighbours; it is copied if it has to be."""
    rows = x.reshape(total, n)
    return rows if rows.stride(1) == 1 or n == 1 else rows.contiguous()


def _select_rows(
    rows: torch.Tensor,
    where: torch.Tensor | None,
    kind: tuple[str, int],
    end: tuple[bool, int],
    values: torch.Tensor,
    indices: torch.Tensor,
) -> None:
    total, n = rows.shape
    k = values.shape[1]
    plan = plans.selection(total, n, k, rows.element_size(), _processors(rows.device))
    if plan is None:
        _sort_rows(rows, where, kind, end, values, indices)
        return
    mask = rows if where is None else where
    strides = (rows.stride(0), mask.stride(0))
    how = (*kind, *end, where is not None)
    results = (indices, values)
    if plan.parts == 1 and plan.kept:
        _launch(
            kernels.short_rows,
            (-(-total // plan.kept), 1, 1),
            (rows, mask, indices, *results, total, n, k, *strides),
            (*how, False, plan.kept, plans.power(n), plan.power),
        )
        return
    lanes = torch.empty((total * plan.parts, plans.LANES), dtype=torch.int64, device=rows.device)
    _launch(
        kernels.delegates,
        (total * plan.parts, plans.LANES // plan.tile, 1),
        (rows, mask, lanes, n, plan.length, plan.parts, *strides),
        (*how, plans.LANES, plan.tile),
    )
    several = plan.parts > 1
    best = torch.empty((total, plan.parts * k), dtype=torch.int64, device=rows.device) if several else indices
    _launch(
        kernels.chosen_lanes,
        (total * plan.parts, 1, 1),
        (rows, mask, lanes, best, *results, n, plan.length, plan.parts, k, *strides),
        (*how, not several, plans.LANES, plan.steps, plan.power),
    )
    if several:
        _launch(
            kernels.short_rows,
            (total, 1, 1),
            (rows, mask, best, *results, total, plan.parts * k, k, *strides),
            (*how, True, 1, plans.power(plan.parts * k), plan.power),
        )


def _sort_rows(
    rows: torch.Tensor,
    where: torch.Tensor | None,
    kind: tuple[str, int],
    end: tuple[bool, int],
    values: torch.Tensor,
    indices: torch.Tensor,
) -> None:
    """Sort the keys of whole rows with PyTorch, whose stable sort keeps equal keys in order."""
    total, n = rows.shape
    wide = torch.int64 if rows.element_size() == 8 else torch.int32
    keys = torch.empty((total, n), dtype=wide, device=rows.device)
    tile = min(plans.power(n), plans.TILE[rows.element_size()] // 2)
    _launch(kernels.keys, (total * -(-n // tile), 1, 1), (rows, keys, n, rows.stride(0)), (*kind, *end, tile))
    order = torch.sort(keys, dim=1, descending=True, stable=True).indices
    if where is not None:
        # What takes part comes first, and stays in order.
        present = where.gather(1, order)
        places = torch.sort(present, dim=1, descending=True, stable=True)
        order = order.gather(1, places.indices).masked_fill_(places.values == 0, -1)
    chosen = order[:, : indices.shape[1]]
    indices.copy_(chosen)
    values.copy_(rows.gather(1, chosen.clamp(min=0)))


_reduce_op = torch.library.custom_op(
    "extremum::reduce",
    reduce_tensor,
    mutates_args=(),
    schema="(Tensor x, int[] axes, bool largest, bool last, bool omit, Tensor? where, bool with_values, "
    "ScalarType index) -> (Tensor, Tensor)",
)
_select_op = torch.library.custom_op(
    "extremum::select",
    select_tensor,
    mutates_args=(),
    schema="(Tensor x, int k, int axis, bool largest, bool nan_first, Tensor? where) -> (Tensor, Tensor)",
)
_pair_op = torch.library.custom_op(
    "extremum::pair",
    pair_of,
    mutates_args=(),
    schema="(Tensor x, Tensor y, bool largest, bool omit) -> Tensor",
)


@_reduce_op.register_fake
def _(x, axes, largest, last, omit, where, with_values, index):  # type: ignore[no-untyped-def]
    total = math.prod(size for axis, size in enumerate(x.shape) if axis not in axes)
    return x.new_empty(total if with_values else 0), x.new_empty(total, dtype=index)


@_select_op.register_fake
def _(x, k, axis, largest, nan_first, where):  # type: ignore[no-untyped-def]
    shape = [k if at == axis else size for at, size in enumerate(x.shape)]
    return x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)


@_pair_op.register_fake
def _(x, y, largest, omit):  # type: ignore[no-untyped-def]
    return x.new_empty(torch.broadcast_shapes(x.shape, y.shape))


# Within torch.compile each is traced with tensors that have no elements: to the operators above, without a graph break.
over_axes = nonstrict_trace(_over_axes)
hardmax = nonstrict_trace(_hardmax)
maximum = nonstrict_trace(_maximum)
top_k = nonstrict_trace(_top_k)
