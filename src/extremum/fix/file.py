"""A fixed model as a file: never over one that is there, and beside the weights that it names."""

from __future__ import annotations

import tempfile
from pathlib import Path

import onnx

from extremum.errors import ArgumentError
from extremum.fix import has_external_data

__all__ = ["require_free", "write"]


def require_free(path: Path) -> None:
    """Refuse a path at which there is something already, or no folder to hold it.

    Raises
    ------
    ArgumentError
        If it exists, or its folder does not.

    Examples
    --------
    >>> from pathlib import Path
    >>> from extremum.fix.file import require_free
    >>> require_free(Path("no-such-model.onnx"))
    """
    if path.exists():
        raise ArgumentError(f"'{path}' exists already", remedy="name another file, or move that one away")
    if not path.absolute().parent.is_dir():
        raise ArgumentError(f"there is no folder '{path.parent}' for '{path.name}'")


def write(model: onnx.ModelProto, source: Path, path: Path) -> None:
    """Write a model, all of it or nothing.

    Parameters
    ----------
    model : onnx.ModelProto
        Without the weights that are kept in other files.
    source : pathlib.Path
        The file it came from: the names of other files are relative to its folder.
    path : pathlib.Path
        Where it goes.

    Raises
    ------
    ArgumentError
        If there is something already, there is no folder, or the model names files that are not in it.
    OSError
        If it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import onnx
    >>> from extremum.fix.file import write
    >>> model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 13]> g () => () {}')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(model, Path("model.onnx"), Path(folder, "fixed.onnx"))
    ...     onnx.load(Path(folder, "fixed.onnx")).graph.name
    'g'
    """
    if has_external_data(model) and path.absolute().parent.resolve() != source.absolute().parent.resolve():
        raise ArgumentError(
            f"the weights of '{source}' are in other files of its folder", remedy="write the fixed model there too"
        )
    # On the same file system, so that putting the finished file into its place is one rename.
    with tempfile.TemporaryDirectory(prefix=".extremum-", dir=path.absolute().parent) as scratch:
        finished = Path(scratch, path.name)
        finished.write_bytes(model.SerializeToString())
        require_free(path)
        finished.rename(path)
