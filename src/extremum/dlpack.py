"""DLPack, the protocol by which libraries show the memory of an array: device names, and the one type NumPy lacks.

NumPy reads such memory, except elements of bfloat16. Here they are called integers for as long as NumPy looks; the
caller gets the same memory as bfloat16 of ml_dtypes.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.loading import load_module

_DEVICES = {
    1: "CPU",
    2: "CUDA",
    3: "CUDA host memory",
    4: "OpenCL",
    7: "Vulkan",
    8: "Metal",
    9: "VPI",
    10: "ROCm",
    11: "ROCm host memory",
    13: "CUDA managed memory",
    14: "oneAPI",
    15: "WebGPU",
    16: "Hexagon",
    17: "MAIA",
    18: "Trainium",
}
"""The devices by DLPack's numbers."""

_HOST = (1, 3, 11, 13)
"""Devices whose memory the CPU reads: the CPU, and memory pinned or managed by CUDA or ROCm."""

# DLPack's numbers of two kinds of elements.
_INTEGER = 0
_BFLOAT16 = 4


REFUSALS = (AttributeError, BufferError, RuntimeError, TypeError, ValueError)
"""What exporters raise for a type, a layout or a device that they do not export, and NumPy for what it lacks."""


def device_elsewhere(x: Any) -> str | None:
    """Return the name of the device that has the elements; None if the CPU reads them or the library does not say."""
    try:
        kind, number = x.__dlpack_device__()
        kind = int(kind)
    except REFUSALS:
        # The value looks like an array but is a mock, or its elements are on several devices.
        return None
    if kind in _HOST:
        return None
    return f"{_DEVICES.get(kind, kind)}:{number}"


def read(x: Any) -> NDArray[Any]:
    """Return an array that shares the memory of `x`, or raise one of `REFUSALS`."""
    try:
        return np.from_dlpack(x)
    except REFUSALS:
        with suppress(*REFUSALS):
            if (array := _bfloat16_of(x)) is not None:
                return array
        raise


def _bfloat16_of(x: Any) -> NDArray[Any] | None:
    """Return an array of bfloat16 that shares the memory of `x`; None if the elements are of another type."""
    exporter = _IntegersForBfloat16(x)
    try:
        integers: NDArray[Any] = np.from_dlpack(exporter)
    finally:
        exporter.restore()
    if not exporter.is_bfloat16:
        return None
    elements: NDArray[Any] = integers.view(load_module("ml_dtypes").bfloat16)
    return elements


class _IntegersForBfloat16:
    """An exporter of the same memory, with integers in place of bfloat16 until :meth:`restore`."""

    def __init__(self, x: Any) -> None:
        self._x = x
        self._capsule: Any = None
        self._type: Any = None

    @property
    def is_bfloat16(self) -> bool:
        return self._type is not None

    def __dlpack_device__(self) -> Any:
        return self._x.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        # The memory of the description lives as long as the capsule, also if NumPy refuses it.
        self._capsule = self._x.__dlpack__(**options)
        own = _type_in(self._capsule)
        if (own.code, own.bits, own.lanes) == (_BFLOAT16, 16, 1):
            own.code = _INTEGER
            self._type = own
        return self._capsule

    def restore(self) -> None:
        """Write the type back: the library may show the same description to others."""
        if self._type is not None:
            self._type.code = _BFLOAT16


class _Type(ctypes.Structure):
    """DLPack's ``DLDataType``."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    """DLPack's ``DLTensor``, with which a ``DLManagedTensor`` begins."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


class _VersionedTensor(ctypes.Structure):
    """DLPack's ``DLManagedTensorVersioned``, since version 1."""

    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", _Tensor),
    )


def _type_in(capsule: Any) -> Any:
    """Return the description of the elements in the memory that a capsule points to; ValueError for other objects."""
    is_valid = ctypes.pythonapi.PyCapsule_IsValid
    is_valid.argtypes = (ctypes.py_object, ctypes.c_char_p)
    address_of = ctypes.pythonapi.PyCapsule_GetPointer
    address_of.argtypes = (ctypes.py_object, ctypes.c_char_p)
    address_of.restype = ctypes.c_void_p
    if is_valid(capsule, b"dltensor_versioned"):
        return _VersionedTensor.from_address(address_of(capsule, b"dltensor_versioned")).dl_tensor.dtype
    return _Tensor.from_address(address_of(capsule, b"dltensor")).dtype
