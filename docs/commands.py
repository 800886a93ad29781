"""The page about the command line, made from the commands: what each prints for ``--help``.

``python docs/commands.py`` writes it anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from extremum.cli.program import program

PAGE = Path(__file__).with_name("commands.md")

_HEAD = """\
# Commands

What each command prints for `--help`. All of them need `pip install 'extremum[cli]'`; `python -m extremum` is the same
as `extremum`.

The exit status is 0; or 1 where `check` has findings, `fix` or `lower` met a node that cannot go, or a runtime is not
conformant; or 2 with one line on stderr that says why the command could not run. With `--json` what ends with 2 prints
`{"error": {"kind", "reason", "where", "given", "remedy"}}`. No file is ever overwritten. An option that does nothing is
refused. Ctrl-C ends every command within a second, with status 130; a result that is not complete is removed.

A shell completes commands, options, operations, runtimes, the codes of rules and the names of files after one of these:

```console
$ eval "$(_EXTREMUM_COMPLETE=bash_source extremum)"
$ eval "$(_EXTREMUM_COMPLETE=zsh_source extremum)"
$ _EXTREMUM_COMPLETE=fish_source extremum | source
```

Put the line of your shell into `~/.bashrc`, `~/.zshrc` or `~/.config/fish/config.fish`.
"""


def page() -> str:
    """Return the page."""
    return "\n".join((_HEAD, *_sections(program, None)))


def _sections(command: click.Command, parent: click.Context | None) -> Iterator[str]:
    name = "extremum" if parent is None else command.name
    settings = {**command.context_settings, "terminal_width": 78}  # the width that help has without a terminal
    with click.Context(command, parent=parent, info_name=name, **settings) as context:
        depth = context.command_path.count(" ")
        yield f"{'#' * min(depth + 2, 3)} {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
        if isinstance(command, click.Group):
            for each in command.list_commands(context):
                yield from _sections(command.get_command(context, each), context)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
