"""Text from a model or a file name, made fit for a terminal, a log and a workflow's output; and tables in Markdown.

Escapes characters that move a cursor, change the direction of writing or start a new line, and those with which build
services mark their commands. Every text for a reader passes through here; what a program reads (JSON, the attributes of
an error) keeps its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


# No message has 1000 characters, unless a name in it was made long on purpose.
def printable(text: str, longest: int = 1000) -> str:
    r"""Return a text on one line: escaped as ``repr`` does it, cut in the middle if it is too long."""
    excerpt = _cut(text, longest)
    line = "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in excerpt
    )
    # GitHub and Azure take commands from "##[" and "##vso[" anywhere in a line, GitHub also from "::" at its beginning.
    line = line.replace("##", "#\\x23")
    if line.lstrip().startswith("::"):
        line = line.replace("::", ":\\x3a", 1)
    return _cut(line, longest)


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: ``1 node``, ``2 nodes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def json_text(document: object) -> str:
    r"""Return a value as JSON, with JSON's escapes where :func:`printable` has escapes."""
    # Importing the package does not need this module.
    import json

    return json.dumps(document, indent=2).replace("\x7f", "\\u007f").replace("##", "#\\u0023")


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    length = longest - 3
    return f"{text[: length - length // 2]}...{text[len(text) - length // 2 :]}"


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, figures: bool = False) -> str:
    """Return a table that ends in a line break; figures are aligned to the right in every column but the first."""
    rule = ["---", *["---:" if figures else "---"] * (len(headings) - 1)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (headings, rule, *rows))
