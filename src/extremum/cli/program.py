"""The commands by name, each imported when it is called.

Each command is a click command in the module of the same name. To add a command, add its module and its line here.
"""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import click

from extremum import __version__, _native, get_num_threads
from extremum.cli.options import Group
from extremum.cli.terminal import write
from extremum.interop import has_kernels
from extremum.printable import json_text

COMMANDS = {
    "run": "Run a model on arrays from files, or on random arrays.",
    "apply": "Apply a reduction, top_k, hardmax, maximum, minimum or a MODEL to files larger than memory.",
    "lower": "Translate a model into DirectML operators: as text, JSON, C++ or for DxDispatch.",
    "check": "Find nodes that break their specification, or that a target refuses or answers differently.",
    "explain": "Explain a rule or an error; without a name, list all.",
    "fix": "Rewrite nodes that a target refuses or answers differently, into standard ONNX with exact answers.",
    "conformance": "Test runtimes with the conformance suite, or write its cases as files.",
    "ops": "List the operators, their versions and element types.",
}

# Packages that are imported somewhere, and those whose arrays are accepted.
_PACKAGES = (
    *("numpy", "ml_dtypes", "onnx", "onnxruntime", "protobuf", "click", "rich"),
    *("dask", "distributed", "xarray", "zarr", "netCDF4", "h5py", "cubed"),
    *("torch", "triton", "jax", "pandas", "polars", "pyarrow"),
)


class _LazyGroup(Group):
    """A group that knows its commands by name and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = import_module(f"extremum.cli.{cmd_name}") if cmd_name in COMMANDS else None
        return getattr(module, cmd_name, None)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    # Versions of click differ in whether they put this in brackets.
    subcommand_metavar="[COMMAND] [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--version", "show_version", is_flag=True, help="Show the version and exit.")
@click.option(
    "--json", "form", flag_value="json", help="With --version: print one JSON object for a bug report."
)
@click.pass_context
def program(context: click.Context, show_version: bool, form: str | None) -> None:
    """Run operators that pick the largest or smallest elements, exactly as each version specifies.

    Exit status: 0 success, 1 findings, 2 error, 130 interrupted.
    """
    if show_version:
        write(json_text(_installation()) if form else f"extremum {__version__}")
        context.exit()
    if form:
        raise click.UsageError("--json goes after the command, as in: extremum ops --json")
    if context.invoked_subcommand is None:
        raise click.UsageError("Missing command.")


def _installation() -> dict[str, Any]:
    """Return what a bug report needs: versions, the machine, its instruction sets and the runtimes."""
    from extremum import runtimes

    packages = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {
        "extremum": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "free_threaded": not getattr(sys, "_is_gil_enabled", lambda: True)(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": os.cpu_count(),
        "threads": get_num_threads(),
        "instruction_set": _native.get_instruction_set(),
        "instruction_sets": list(_native.instruction_sets()),
        "gpus": _gpus(),
        "packages": packages,
        "runtimes": {each.name: each.version for each in runtimes.installed()},
    }


def _gpus() -> list[str]:
    """Return the names of the GPUs whose arrays the functions take; none without the libraries for that."""
    if not has_kernels():
        return []
    from extremum.gpu.launcher import devices

    return devices()
