"""``extremum explain``: what a rule of ``extremum check`` means, and what the docstring of an error says.

``docs/check.md`` is a copy of the page about the rules; a test compares the two.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import click
from click.shell_completion import CompletionItem

from extremum import errors, spec
from extremum.check import RULES, Rule, find
from extremum.cli.options import Command, complete, complete_codes
from extremum.cli.terminal import write
from extremum.fix import REWRITES
from extremum.printable import json_text, markdown_table

_RULES_PAGE = """\
# What `extremum check` looks for

`extremum explain --markdown` prints this page. An error breaks a rule of the operator's version. A warning names a node
that a target refuses or answers differently. An info is about a correct model: the last line counts it, `--infos` shows
it, and only `--strict` makes it a finding.

`extremum check a.onnx b.onnx` exits with 2 if it could not check a model (it still checks the others), 1 if it has
findings, otherwise 0. A folder means every `.onnx` file below it. `--json` prints `{"models": [...]}`, in the order
given, each with `model`, `nodes`, `findings` and `notes`. A finding has `code`, `severity`, `operator`, `place`,
`opset`, `reason`, `given` and `remedy`. A model that could not be checked has `error` instead, with `kind`, `reason`,
`where`, `given` and `remedy`. `--format github` prints annotations for a workflow, `--format sarif` a file for code
scanning; [ci.md](ci.md) has settings, a hook and an action. Names of tensors are escaped.

`--for RUNTIME` runs each node on an installed runtime, in its own process; without it, the rules know what onnxruntime
refuses. [runtimes.md](runtimes.md) has the names. `extremum fix --for RUNTIME` rewrites a model for it.
"""

_REWRITES_PAGE = """\
## What `extremum fix` rewrites

Every rewrite is exact on every input, with ties, NaN and the sign of a zero. Before `fix` writes a model, it runs both
forms on samples and compares every bit; all NaNs count as equal. The opset of the model stays unless `--raise-opset`
allows another. `fix` writes `-o OUT` if the target takes the result, as a copy if nothing changes. It writes nothing if
the target refuses a node that has no rewrite. It also rewrites a node that the target takes but answers differently
(EX107, EX108), and with `--strict` one that differs only where no specification decides (EX110). If such a node has no
exact rewrite, it stays; `fix` says so and exits with 1.

What a node itself states is mended too: an output gets a name (EX016), an axis is counted from the front (EX007), and
with `--limit-k` the k of TopK is limited to its axis (EX014, EX017). Elements of a type that the version forbids go
through a Cast to a wider type and back (EX004).

The new nodes take more time and memory than the one they replace. Two rewrites of one input share what both compute.
The nodes have marks in `metadata_props`, so that a check sees them as the node that they replace. A Hardmax, ReduceMax
or ReduceMin that becomes an index fails on an empty axis. DirectML has no doubles: for it, a rewrite of double has a
TopK that runs elsewhere, and EX102 names it.
"""

CLASSES = {name.lower(): getattr(errors, name) for name in errors.__all__ if name.endswith("Error")}


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    classes = complete(each.__name__ for each in CLASSES.values())
    return [*complete_codes(context, parameter, incomplete), *classes(context, parameter, incomplete)]


@click.command(cls=Command)
@click.argument("code", metavar="[CODE|ERROR]", required=False, shell_complete=_complete)
@click.option(
    "--json", "form", flag_value="json", help="Print one JSON list: a record per rule, or of the error."
)
@click.option(
    "--markdown", "form", flag_value="markdown", help="Print the page about all rules and rewrites."
)
def explain(code: str | None, form: str | None) -> None:
    """Explain a rule or an error; without a name, list all.

    A rule has a code, such as EX001. An error has a class name, such as AxisError.
    """
    if code is None:
        records = list(map(record_of_rule, RULES))
        longest = max(map(len, CLASSES))
        rules = (f"{each['code']}  {each['severity']:<7}  {each['title']}" for each in records)
        classes = (f"{each.__name__:<{longest}}  {_paragraphs(each)[0]}" for each in CLASSES.values())
        text = "\n".join((*rules, "", *classes))
    elif form == "markdown":
        raise errors.ArgumentError(
            f"--markdown prints the page about all rules, not about {code!r}",
            remedy="drop one of them",
        )
    # In upper or lower case, with or without its module.
    elif (error := CLASSES.get(code.lower().removeprefix("extremum.errors."))) is not None:
        records = [_record_of_error(error)]
        bases = f"It is caught as {', '.join(records[0]['caught_as'])} too."
        text = _fill(error.__name__, *_paragraphs(error), bases)
    elif code.upper().startswith("EX"):
        rule = find(code)
        records = [record_of_rule(rule)]
        models = {"For example": rule.example, "Instead": rule.instead}
        text = _fill(f"{rule.code} {rule.title} ({rule.severity.value})", rule.what, rule.why)
        text += "".join(
            f"\n\n{word}:\n\n{textwrap.indent(each.rstrip(), '    ')}" for word, each in models.items()
        )
    else:
        raise errors.ArgumentError(
            f"there is no rule and no error {code!r}", remedy="run extremum explain for a list"
        )
    if form == "json":
        text = json_text(records)
    elif form == "markdown":
        text = markdown().rstrip("\n")
    write(text)


def _fill(heading: str, *paragraphs: str) -> str:
    return "\n\n".join((heading, *(textwrap.fill(each, 80) for each in paragraphs)))


def _record_of_error(error: type[Exception]) -> dict[str, Any]:
    what, *more = _paragraphs(error)
    bases = [each for each in error.__mro__[1:] if each not in (BaseException, object)]
    here = ("builtins", errors.__name__)
    names = [
        each.__name__ if each.__module__ in here else f"{each.__module__}.{each.__name__}" for each in bases
    ]
    return {"error": error.__name__, "caught_as": names, "what": what, "more": " ".join(more)}


def _paragraphs(error: type[Exception]) -> list[str]:
    """Return the paragraphs of a docstring before its sections, from the source: under ``-OO`` classes have none."""
    (definition,) = ast.parse(inspect.getsource(error)).body
    assert isinstance(definition, ast.ClassDef)
    text = (ast.get_docstring(definition) or "").partition("\n\nParameters\n")[0]
    return [" ".join(each.split()).replace("``", "`") for each in text.split("\n\n")]


def record_of_rule(rule: Rule) -> dict[str, Any]:
    """Return the explanation of a rule as JSON can hold it."""
    words = {
        name: getattr(rule, name)
        for name in ("code", "title", "severity", "what", "why", "example", "instead")
    }
    return {**words, "severity": rule.severity.value}


def markdown() -> str:
    """Return the page about all rules and rewrites."""
    sections = (
        f"## {rule.code} {rule.title}\n\n{rule.severity.value.capitalize()}. {rule.what} {rule.why}\n\n"
        f"```onnx\n{rule.example}```\n\nInstead:\n\n```onnx\n{rule.instead}```\n"
        for rule in RULES
    )
    names = {
        versions[0].family: versions[0].name for (domain, _), versions in spec.OPERATORS.items() if not domain
    }
    rows = []
    for each in REWRITES:
        lists = (sorted(names[family] for family in each.families), sorted(each.elements), each.answers)
        operators, elements, answers = map(", ".join, lists)
        rows.append([each.title, operators, elements, str(each.since), answers])
    table = markdown_table(["rewrite", "operators", "element types", "from opset", "answers"], rows)
    return "\n".join((_RULES_PAGE, *sections, _REWRITES_PAGE, table))
