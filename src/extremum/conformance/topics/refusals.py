"""What a version does not allow: there is no answer, and a runtime says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from extremum.conformance.question import Question, is_arg, is_elementwise, is_hardmax, text
from extremum.conformance.values import array
from extremum.spec import AttributeRange, Broadcasting, OperatorVersion

__all__ = ["ask"]


def ask(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask with an element type that the version does not take, and on float32 with everything else."""
    if dtype.name not in version.types:
        x = array(dtype, [[1, 0], [0, 1]])
        inputs = (x, x) if is_elementwise(version) else (x,)
        yield Question("element_type", inputs, says="the type constraint does not list it", refused=True)
    elif dtype.name == "float32":
        yield from _of_operands(version) if is_elementwise(version) else _of_axes(version)


def _of_operands(version: OperatorVersion) -> Iterator[Question]:
    x = np.zeros((2, 3), np.float32)
    says = "all inputs have one element type"
    yield Question("mixed_types", (x, x.astype(np.float64)), says=says, refused=True)
    if version.broadcasting is Broadcasting.NONE:
        says = "all inputs have the same shape"
        yield Question("row", (x, x[0]), says=says, refused=True)
        yield Question("size_1", (x, x[:, :1].copy()), says=says, refused=True)
    else:
        says = "multidirectional broadcasting"
    yield Question("shapes", (x, np.zeros((2, 4), np.float32)), says=says, refused=True)
    yield Question("unknown_attribute", (x, x), {"axis": 0}, "it has no such attribute", refused=True)


def _of_axes(version: OperatorVersion) -> Iterator[Question]:
    x = np.zeros((2, 3), np.float32)
    stated = version.attributes[0].range is not AttributeRange.AXIS_UNSTATED
    for axis in (2, -3, 2**40):
        leaves_open = "" if stated else "which values an axis may have"
        title = f"axis_{text(axis)}"
        yield Question(title, (x,), {"axis": axis}, "the axis lies in [-r, r-1]", leaves_open, refused=True)
    scalar = np.zeros((), np.float32)
    leaves_open = "" if stated else "which values an axis may have"
    yield Question("rank_0", (scalar,), {"axis": 0}, "the axis lies in [-r, r-1]", leaves_open, refused=True)
    if version.coerced:
        says = "the default axis is 1, and the axis lies in [-r, r-1]"
        yield Question("rank_1_default_axis", (x[0],), {}, says, leaves_open, refused=True)
    if is_hardmax(version):
        yield Question("unknown_attribute", (x,), {"axis": 1, "keepdims": 0}, "it has no such attribute", refused=True)
        return
    if version.attribute("select_last_index") is None:
        attributes = {"axis": 1, "select_last_index": 1}
        says = "it came with version 12" if is_arg(version) else "it has no such attribute"
        yield Question("select_last_index", (x,), attributes, says, refused=True)
    else:
        leaves_open = "what values other than 0 and 1 mean"
        attributes = {"axis": 1, "select_last_index": 2}
        yield Question("select_last_index_2", (x,), attributes, leaves_open=leaves_open, refused=True)
    leaves_open = "what values other than 0 and 1 mean"
    yield Question("keepdims_2", (x,), {"axis": 1, "keepdims": 2}, leaves_open=leaves_open, refused=True)
    if version.identity:
        return
    none = np.zeros((2, 0), np.float32)
    leaves_open = "" if version.since == 11 else "what the extremum of no element is"
    says = "the input must not be empty" if version.since == 11 else ""
    yield Question("nothing_to_reduce", (none,), {"axis": 1}, says, leaves_open, refused=True)
