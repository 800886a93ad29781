"""The cases of the benchmark, as data: which operator on which element type, shape, axes, layout and operands.

Decides what is measured and what each case is called. How the arrays are made is `inputs`, what a share of the read
limit has to reach is the kind's own row here, and how well a case did is `summary`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

__all__ = ["CALL", "ELEMENT_TYPES", "FLOAT_TYPES", "KINDS", "Case", "full", "quick"]

FLOAT_TYPES = ("float32", "float16", "bfloat16", "float64")
ELEMENT_TYPES = (*FLOAT_TYPES, "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

CALL = "call"
# Every kind of case, and the share of the read limit that it has to reach from 1 MB of input on (None: no promise).
KINDS: dict[str, float | None] = {
    CALL: None,
    "full": 0.8,
    "long rows": 0.8,
    "non-last axis": 0.7,
    "several axes": 0.7,
    "short rows": 0.5,
    "views": None,
    "elementwise": 0.8,
    "hardmax": None,
}


@dataclass(frozen=True, slots=True)
class Case:
    """One line of the benchmark.

    Attributes
    ----------
    kind : str
        A key of `KINDS`: the class that the case is summed up in.
    operator : str
        ``argmax``, ``argmin``, ``max``, ``min`` or ``hardmax``.
    element_type : str
        NumPy's name of the type, such as ``float32``.
    shape : tuple of int
        Shape of the input; of the result, for ``max`` and ``min``.
    axes : tuple of int or None
        The reduced axes, ascending; None reduces all.
    last : bool
        Whether the last of equals is wanted.
    layout : str
        How the input lies in memory: a key of `inputs.LAYOUTS`; of ``max`` and ``min``, every second operand.
    operands : int
        How many arrays ``max`` and ``min`` take.
    broadcast : str
        Shape of the last operand of ``max`` and ``min``: ``same``, ``row``, ``column`` or ``scalar``.
    opset : int
        Version of Hardmax; version 11 takes the axes from its ``axis`` to the last together.
    """

    kind: str
    operator: str
    element_type: str
    shape: tuple[int, ...]
    axes: tuple[int, ...] | None = None
    last: bool = False
    layout: str = "contiguous"
    operands: int = 1
    broadcast: str = "same"
    opset: int = 13

    @property
    def name(self) -> str:
        """The case in one word, unique in the matrix."""
        parts = [self.operator, self.element_type, _tuple(self.shape)]
        if self.elementwise:
            parts.append(f"operands={self.operands}")
            parts += [self.broadcast] if self.broadcast != "same" else []
        else:
            axes = "all" if self.axes is None else str(self.axes[0]) if len(self.axes) == 1 else _tuple(self.axes)
            parts.append(f"axis={axes}")
            parts.append(f"opset={self.opset}" if self.operator == "hardmax" else "last" if self.last else "first")
        if self.layout != "contiguous":
            parts.append(self.layout)
        return "/".join(parts)

    @property
    def elementwise(self) -> bool:
        """Whether the operator is Max or Min."""
        return self.operator in ("max", "min")

    @property
    def reduced(self) -> tuple[int, ...]:
        """The reduced axes, with None spelt out."""
        return tuple(range(len(self.shape))) if self.axes is None else self.axes

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes that are not reduced."""
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.reduced)

    @property
    def kept_shape(self) -> tuple[int, ...]:
        """Sizes of the axes that are not reduced."""
        return tuple(self.shape[axis] for axis in self.kept)

    @property
    def operand_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of every array that goes in."""
        rest = {
            "same": self.shape,
            "row": self.shape[-1:],
            "column": (*self.shape[:-1], 1),
            "scalar": (),
        }[self.broadcast]
        return (*[self.shape] * (self.operands - 1), rest)


def _tuple(sizes: tuple[int, ...]) -> str:
    return f"({','.join(map(str, sizes))})"


_ROWS_TOTAL = 1 << 21
_SHORT = (2, 3, 4, 5, 7, 8, 10, 16, 21, 32, 64)

# kind, shape, reduced axes, layout
_REDUCTIONS: tuple[tuple[str, tuple[int, ...], tuple[int, ...] | None, str], ...] = (
    (CALL, (8,), None, "contiguous"),
    *(("full", (1 << bits,), None, "contiguous") for bits in (10, 12, 16, 20, 25)),
    ("long rows", (4096, 1024), (1,), "contiguous"),
    ("non-last axis", (4096, 1024), (0,), "contiguous"),
    ("non-last axis", (64, 256, 256), (1,), "contiguous"),
    ("non-last axis", (8, 21, 512, 512), (1,), "contiguous"),
    ("non-last axis", (2000, 64, 8), (1,), "contiguous"),
    ("non-last axis", (5000, 10, 16), (1,), "contiguous"),
    *(("short rows", (_ROWS_TOTAL // width, width), (1,), "contiguous") for width in _SHORT),
    *(("long rows", (_ROWS_TOTAL // width, width), (1,), "contiguous") for width in (100, 1000)),
    ("long rows", (32, 50257), (1,), "contiguous"),
    ("short rows", (1024, 1024, 3), (2,), "contiguous"),
    ("several axes", (64, 256, 256), (0, 2), "contiguous"),
    ("several axes", (64, 256, 256), (1, 2), "contiguous"),
    ("full", (64, 256, 256), None, "contiguous"),
    ("views", (256, 64, 256), (2,), "transposed"),
    ("views", (4096, 1024), (1,), "fortran"),
    ("views", (4096, 1024), (1,), "strided"),
    ("views", (4096, 1024), (1,), "reversed"),
    ("views", (4096, 1024), (1,), "broadcast"),
)

# shape, operands, layout of every second operand
_ELEMENTWISE_VIEWS: tuple[tuple[tuple[int, ...], int, str], ...] = (
    ((512, 512), 2, "fortran"),
    ((2000, 2000), 2, "fortran"),
    ((2000, 2000), 3, "fortran"),
    ((2000, 2000), 2, "strided"),
    ((2000, 2000), 2, "reversed"),
)

# shape, reduced axes, version; version 11 with axis=1 takes axes 1 and 2 together
_HARDMAX: tuple[tuple[tuple[int, ...], tuple[int, ...], int], ...] = (
    ((4096, 1024), (0,), 13),
    ((4096, 1024), (1,), 13),
    ((131072, 16), (1,), 13),
    ((524288, 4), (1,), 13),
    ((32, 50257), (1,), 13),
    ((64, 256, 256), (1, 2), 11),
)


def full() -> tuple[Case, ...]:
    """Return the whole matrix; the element types of one question stand together, so that it is answered once."""
    return tuple(_all())


def _all() -> Iterator[Case]:
    for kind, shape, axes, layout in _REDUCTIONS:
        for last in (False, True):
            for element in ELEMENT_TYPES:
                yield Case(kind, "argmax", element, shape, axes, last, layout)
    for shape, axes in (((1 << 20,), None), ((4096, 1024), (0,)), ((4096, 1024), (1,))):
        kind = "full" if axes is None else "long rows" if axes == (1,) else "non-last axis"
        for element in ELEMENT_TYPES:
            yield Case(kind, "argmin", element, shape, axes)
    for broadcast in ("same", "row", "column", "scalar"):
        for operands in (2, 3, 4, 8):
            for element in ELEMENT_TYPES:
                shape = (1 << 20,) if broadcast == "same" else (4096, 1024)
                yield Case("elementwise", "max", element, shape, operands=operands, broadcast=broadcast)
    for element in ELEMENT_TYPES:
        yield Case("elementwise", "min", element, (1 << 20,), operands=2)
    for shape, operands, layout in _ELEMENTWISE_VIEWS:
        for element in ELEMENT_TYPES:
            yield Case("views", "max", element, shape, layout=layout, operands=operands)
    for shape, axes, opset in _HARDMAX:
        for element in FLOAT_TYPES:
            yield Case("hardmax", "hardmax", element, shape, axes, opset=opset)


# What rows of users have: pairs, boxes, classes, heads, embeddings, vocabularies. 512 KB of each.
_WIDTHS = (2, 3, 5, 8, 10, 16, 29, 40, 64, 80, 100, 128, 200, 256, 500, 1000, 4096, 50257)
_QUICK_TYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "uint64")
_QUICK_BYTES = 1 << 19

# kind, shape, reduced axes
_QUICK: tuple[tuple[str, tuple[int, ...], tuple[int, ...] | None], ...] = (
    ("non-last axis", (512, 512), (0,)),
    ("non-last axis", (20, 6000), (0,)),
    ("non-last axis", (8, 21, 64, 64), (1,)),
    ("non-last axis", (40, 50, 64), (1,)),
    ("non-last axis", (100, 64, 8), (1,)),
    ("several axes", (64, 64, 64), (1, 2)),
    ("full", (250_000,), None),
)


def quick() -> tuple[Case, ...]:
    """Return 222 cases that fit the second-level cache, where instruction sets differ most: in two minutes."""
    return tuple(_quick())


def _quick() -> Iterator[Case]:
    for width in _WIDTHS:
        kind = "short rows" if width < 100 else "long rows"
        for element in _QUICK_TYPES:
            rows = max(1, _QUICK_BYTES // (width * np.dtype(element).itemsize))
            yield Case(kind, "argmax", element, (rows, width), (1,))
    for kind, shape, axes in _QUICK:
        for element in _QUICK_TYPES:
            yield Case(kind, "argmax", element, shape, axes)
    for broadcast, layout in (
        ("same", "contiguous"),
        ("row", "contiguous"),
        ("column", "contiguous"),
        ("same", "fortran"),
    ):
        for element in ("uint8", "int32", "float32", "float64"):
            kind = "elementwise" if layout == "contiguous" else "views"
            yield Case(kind, "max", element, (300, 500), layout=layout, operands=2, broadcast=broadcast)
    for shape in ((1000, 100), (100, 1000)):
        for element in ("float16", "float32", "float64"):
            yield Case("hardmax", "hardmax", element, shape, (1,))
