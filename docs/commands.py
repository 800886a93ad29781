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

The help of each command. All need `pip install 'extremum[cli]'`. `python -m extremum` is the same as `extremum`.

Exit status 0 is success. 1: `check` has findings, `fix` or `lower` cannot translate a node, or a runtime does not
conform. 2: the command could not run; one line on stderr says why, and with `--json` stdout has
`{"error": {"kind", "reason", "where", "given", "remedy"}}`. No command overwrites a file, or accepts an option without
effect. Ctrl-C ends every command within a second, with status 130, and removes an incomplete result.

A shell completes commands, options, operations, runtimes, rule codes and file names after one of these lines:

```console
$ eval "$(_EXTREMUM_COMPLETE=bash_source extremum)"
$ eval "$(_EXTREMUM_COMPLETE=zsh_source extremum)"
$ _EXTREMUM_COMPLETE=fish_source extremum | source
```

Put it into `~/.bashrc`, `~/.zshrc` or `~/.config/fish/config.fish`.
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
