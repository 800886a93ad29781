"""What the commands share: parsing and completion of a command line, common options, the models of a folder.

A command refuses an option that has no effect. A group answers a misspelt command with the nearest one, and shows its
help when it is called alone. The shell completes files; ``_EXTREMUM_COMPLETE=bash_source extremum`` prints its script.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from extremum.errors import ArgumentError, InputError

_SKIPPED = ("node_modules", "__pycache__", "venv", "site-packages")
_Resolution = tuple[str | None, click.Command | None, list[str]]


class _Path(click.Path):
    """A path. Commands read and write files, and no streams: ``-`` would become a file of that name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; refuse the sign for a stream."""
        if value == "-":
            raise ArgumentError(
                "'-' does not stand for standard input or output",
                remedy="name a file; './-' is the file of that name",
            )
        return super().convert(value, param, ctx)


PATH = _Path(path_type=Path)


class Command(click.Command):
    """A command that refuses two spellings of one setting, such as ``--json --markdown``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and refuse two options that set one parameter."""
        rest = list(args)
        remainder = super().parse_args(ctx, args)
        owners: dict[str | None, click.Parameter] = {}
        if ctx.resilient_parsing:
            # The shell completes a line that is not whole.
            return remainder
        _, _, order = self.make_parser(ctx).parse_args(rest)
        for each in order:
            first = owners.setdefault(each.name, each)
            if first is not each:
                raise ArgumentError(
                    f"{_spelling(first)} and {_spelling(each)} are both given",
                    remedy="drop one of them",
                )
        return remainder


class Group(click.Group):
    """A group of such commands."""

    command_class = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; a group alone shows its help."""
        return super().parse_args(ctx, args or ([] if ctx.resilient_parsing else ["--help"]))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> _Resolution:
        """Find the command; for a misspelt one, name the nearest."""
        commands = self.list_commands(ctx)
        if args and args[0] not in commands and not ctx.resilient_parsing and not args[0].startswith("-"):
            near = get_close_matches(args[0], commands, 1)
            # The path begins with the name of the program.
            path = " ".join((*ctx.command_path.split()[1:], args[0]))
            raise ArgumentError(
                f"there is no command {path!r}",
                remedy=f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(commands)}",
            )
        return super().resolve_command(ctx, args)


def named_options() -> dict[str, str]:
    """Return the options that the command line names: parameter to spelling."""
    context = click.get_current_context()
    options = {str(each.name): each for each in context.command.params if isinstance(each, click.Option)}
    origin = ParameterSource.COMMANDLINE
    return {
        name: _spelling(each)
        for name, each in options.items()
        if context.get_parameter_source(name) is origin
    }


def refuse_unused(what: str, names: Collection[str]) -> None:
    """Refuse the named options whose parameters `what` does not use."""
    unused = [spelling for name, spelling in named_options().items() if name not in names]
    if unused:
        params = click.get_current_context().command.params
        options = ", ".join(_spelling(each) for each in params if each.name in names)
        raise ArgumentError(
            f"{what} does not use {' or '.join(unused)}",
            remedy=f"drop it; {what} uses {options}",
        )


def _spelling(parameter: click.Parameter) -> str:
    return max(parameter.opts, key=len)


def complete(
    words: Iterable[str] | Callable[[], Iterable[str]], *, files: bool = False
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return a function that completes one of several words, or else the name of a file."""

    def completions(
        context: click.Context, parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        choices = words() if callable(words) else words
        items = [CompletionItem(word) for word in choices if word.startswith(incomplete)]
        return items or ([CompletionItem(incomplete, type="file")] if files else [])

    return completions


def complete_codes(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the last of several rule codes that are separated by commas."""
    from extremum.check import RULES

    before, comma, last = incomplete.rpartition(",")
    rules = [rule for rule in RULES if rule.code.startswith(last.upper())]
    return [CompletionItem(f"{before}{comma}{rule.code}", help=rule.title) for rule in rules]


repeatable = partial(click.option, multiple=True)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
models_argument = click.argument("paths", nargs=-1, required=True, metavar="MODEL|FOLDER...", type=PATH)


def _add_adapters(context: click.Context, parameter: click.Parameter, paths: tuple[Path, ...]) -> list[str]:
    from extremum import runtimes

    if context.resilient_parsing:
        return []
    return [each.name for path in paths for each in runtimes.add_file(path)]


adapter_option = repeatable(
    "--adapter",
    "adapters",
    type=PATH,
    metavar="FILE",
    is_eager=True,
    callback=_add_adapters,
    help="Python file whose function runtimes() returns more runtimes; may be repeated.",
)


def sole_runtime(name: str | None, adapters: list[str]) -> str | None:
    """Return the runtime that ``--for`` names, or else the only runtime of the adapters."""
    if name is None and len(adapters) == 1:
        return adapters[0]
    if adapters and name not in adapters:
        raise ArgumentError(f"--adapter gives {', '.join(adapters)}", remedy="name one of them with --for")
    return name


def models_of(paths: Collection[Path]) -> tuple[dict[Path, Path], bool]:
    """Return the models that paths name, each with its path below the named folder, and whether there may be several.

    A folder means every ``.onnx`` file below it, except in hidden folders, in environments and behind links.
    """
    models: dict[Path, Path] = {}
    for path in paths:
        below = sorted(_models_below(path)) if path.is_dir() else [path]
        if not below:
            raise ArgumentError(
                f"there is no .onnx file in the folder '{path}'", remedy="name the file of a model"
            )
        for model in below:
            models.setdefault(model, model.relative_to(path) if path.is_dir() else Path(path.name))
    return models, len(models) > 1 or any(path.is_dir() for path in paths)


def _models_below(folder: Path) -> Iterable[Path]:
    def refuse(error: OSError) -> None:
        raise error

    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _SKIPPED]
        yield from (Path(place, name) for name in files if name.lower().endswith(".onnx") and name[0] != ".")


# Python converts no integer of thousands of digits; no element type needs more than forty.
_NUMBER = r"[+-]?(?:\d{1,40}|(?:\d{1,40}\.\d{0,40}|\.?\d{1,40})(?:e[+-]?\d{1,4})?)"
# If the value has no equals sign, the last one separates: an exporter may put one into the name of a dimension.
FORMS = {
    "name=file": (r"([^=]+)=(.+)", "-i input=scores.npy", "input {!r} is given twice"),
    "dimension=size": (r"(.+)=0*(\d+)", "--set batch=8", "dimension {!r} is given two sizes"),
    "name=low:high": (
        rf"(.+)=({_NUMBER}:{_NUMBER})",
        "--range tokens=0:100",
        "input {!r} is given two ranges",
    ),
}
"""For each form a pattern, an example, and the error about two values."""


def parse_pairs(texts: Iterable[str], form: str) -> dict[str, str]:
    """Split texts of a form into a mapping."""
    pattern, example, twice = FORMS[form]
    result: dict[str, str] = {}
    for text in texts:
        match = re.fullmatch(pattern, text, re.ASCII | re.DOTALL | re.IGNORECASE)
        if match is None:
            raise InputError(f"{text!r} is not of the form {form}", remedy=f"write for example {example}")
        name, value = match.groups()
        if result.setdefault(name, value) != value:
            raise InputError(twice.format(name), given=f"{result[name]} and {value}")
    return result


def parse_sizes(texts: Iterable[str]) -> dict[str, int]:
    """Split ``dimension=size`` texts into a mapping."""
    sizes = parse_pairs(texts, "dimension=size")
    for name, size in sizes.items():
        # Count the digits first: Python converts no text of thousands of them.
        if len(size) > 19 or int(size) >= 2**63:
            raise InputError(
                f"the size of dimension {name!r} is too large", given=size, remedy="a size is below 2**63"
            )
    return {name: int(size) for name, size in sizes.items()}
