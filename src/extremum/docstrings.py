"""Docstrings of functions that do what another function does, for other arrays.

Such a function describes what is its own: a parameter, what it returns, an example. The rest comes from the function
that it resembles. So what the source shows is plain text, and what ``help`` shows is whole.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

_ORDER = ("Parameters", "Returns", "Raises", "Notes", "Examples")

_HEADING = re.compile(r"^(\w+)\n-+$\n?", re.MULTILINE)


def completed(own: str | None, models: Iterable[str | None], parameters: Iterable[str]) -> str | None:
    """Return a docstring with the parameters and sections that it lacks, from the first of the models that has them.

    `parameters` are the names in the signature: others are left out. Without docstrings, as under ``-OO``, it is None.
    """
    if own is None:
        return None
    docstrings = [_sections(each) for each in (own, *models) if each is not None]
    entries = [_entries(sections.get("Parameters", "")) for sections in docstrings]
    described: list[str] = []
    for name in parameters:
        entry = next((each[name] for each in entries if name in each), None)
        # One entry may describe several parameters.
        if entry is not None and entry not in described:
            described.append(entry)
    parts = [docstrings[0][""]]
    for title in _ORDER:
        body = next((each[title] for each in docstrings if title in each), "")
        if title == "Parameters":
            body = "\n".join(described)
        if body:
            parts.append(f"{title}\n{'-' * len(title)}\n{body}")
    return "\n\n".join(parts) + "\n"


def _sections(docstring: str) -> dict[str, str]:
    """Return the sections of a docstring in NumPy's form by their titles; the text before them has an empty title."""
    head, *rest = _HEADING.split(inspect.cleandoc(docstring))
    return {
        "": head.strip("\n"),
        **{title: body.strip("\n") for title, body in zip(rest[::2], rest[1::2], strict=True)},
    }


def _entries(section: str) -> dict[str, str]:
    """Return the entry of each parameter."""
    entries = {}
    for entry in re.split(r"\n(?=\S)", section):
        names = entry.partition("\n")[0].partition(" : ")[0]
        entries.update(dict.fromkeys((name.lstrip("*") for name in names.split(", ")), entry))
    return entries
