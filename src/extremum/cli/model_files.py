"""The models that a command line names: files, and folders with every model below them.

Decides what of a folder is looked at: files whose name ends in ``.onnx``, not in hidden folders, nor through links.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from extremum.errors import ArgumentError

__all__ = ["models_of"]

_SUFFIX = ".onnx"
_SKIPPED = ("node_modules", "__pycache__", "venv", "site-packages")


def models_of(paths: Iterable[Path]) -> dict[Path, Path]:
    """Return the models in their order, each with its path below the folder that was named."""
    found: dict[Path, Path] = {}
    for path in paths:
        if not path.is_dir():
            found.setdefault(path, Path(path.name))
            continue
        below = sorted(_below(path))
        if not below:
            raise ArgumentError(f"there is no {_SUFFIX} file in the folder '{path}'", remedy="name the file of a model")
        for model in below:
            found.setdefault(model, model.relative_to(path))
    return found


def _below(folder: Path) -> Iterable[Path]:
    def refuse(error: OSError) -> None:
        raise error

    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _SKIPPED]
        yield from (Path(place, name) for name in files if name.lower().endswith(_SUFFIX) and name[0] != ".")
