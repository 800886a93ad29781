"""The operators, their versions and element types as tables, straight from the specification.

Decides how the schemas of :mod:`extremum.spec` are laid out for a reader: one table for each domain. The command line
prints the tables; those in the README are a copy that a test compares.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from extremum import dtypes, spec
from extremum.printable import markdown_table


def records() -> list[dict[str, Any]]:
    """Return one record per operator version, as JSON can hold it."""
    return [
        {
            "operator": schema.name,
            "domain": "DirectML" if schema.domain == spec.DIRECTML else "ONNX",
            "version": schema.version,
            "types": list(schema.types),
        }
        for versions in spec.OPERATORS.values()
        for schema in versions
    ]


def _since(versions: Iterable[spec.OperatorVersion], element_type: str) -> str:
    return next((schema.version for schema in versions if element_type in schema.types), "-")


def table(domain: str) -> list[list[str]]:
    """Return the headings and a row per operator: its versions, and from which one on it takes each element type."""
    operators = [versions for (of, _), versions in spec.OPERATORS.items() if of == domain]
    columns: dict[tuple[str, ...], list[str]] = {}
    for element_type in dtypes.ELEMENT_TYPES:
        accepted = tuple(_since(versions, element_type.name) for versions in operators)
        if set(accepted) != {"-"}:
            columns.setdefault(accepted, []).append(element_type.name)
    headings = ["operator", "versions", *(", ".join(names) for names in columns.values())]
    cells = zip(*columns, strict=True)
    return [
        headings,
        *(
            [versions[0].name, ", ".join(schema.version for schema in versions), *since]
            for versions, since in zip(operators, cells, strict=True)
        ),
    ]


def tables() -> list[list[list[str]]]:
    """Return the table of each domain."""
    return [table(domain) for domain in (spec.ONNX, spec.DIRECTML)]


def markdown() -> str:
    """Return the tables as the README shows them."""
    return "\n".join(markdown_table(headings, schemas) for headings, *schemas in tables())
