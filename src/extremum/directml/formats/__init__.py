"""The forms in which a lowered model can be written, by name.

Decides the names; each form is the module of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from extremum.directml.formats import dxdispatch, json
from extremum.directml.formats.cpp import cpp
from extremum.directml.formats.text import text
from extremum.directml.lowered import LoweredModel
from extremum.printable import json_text

__all__ = ["FORMATS"]


def _indented(document: Callable[[LoweredModel], object]) -> Callable[[LoweredModel], str]:
    return lambda model: json_text(document(model)) + "\n"


FORMATS: Mapping[str, Callable[[LoweredModel], str]] = MappingProxyType(
    {
        "text": text,
        "json": _indented(json.document),
        "cpp": cpp,
        "dxdispatch": _indented(dxdispatch.document),
    }
)
"""From the name of a format to the function that writes a lowered model in it."""
