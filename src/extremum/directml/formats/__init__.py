"""The forms in which a lowered model can be written, by name.

Decides the names; each form is the module of its name. All are read in pieces of text: one of them holds the elements
of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from extremum.directml.formats import json
from extremum.directml.formats.cpp import cpp
from extremum.directml.formats.dxdispatch import dxdispatch
from extremum.directml.formats.text import text
from extremum.directml.lowered import LoweredModel
from extremum.printable import json_text

__all__ = ["FORMATS"]


FORMATS: Mapping[str, Callable[[LoweredModel], Iterator[str]]] = MappingProxyType(
    {
        "text": lambda model: iter([text(model)]),
        "json": lambda model: iter([json_text(json.document(model)) + "\n"]),
        "cpp": lambda model: iter([cpp(model)]),
        "dxdispatch": dxdispatch,
    }
)
"""From the name of a format to the function that writes a lowered model in it, piece by piece."""
