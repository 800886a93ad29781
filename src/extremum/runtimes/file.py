"""A model as a file, for runtimes that take nothing else."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import onnx

__all__ = ["file_of"]


@contextmanager
def file_of(model: onnx.ModelProto) -> Iterator[Path]:
    """Give a model's file, which is there until the end of the block."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        path.write_bytes(model.SerializeToString())
        yield path
