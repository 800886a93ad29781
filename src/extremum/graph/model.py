"""A model that was read once, for everybody who has a question about it.

Decides what is kept of it; how it is read is :mod:`extremum.graph.load`'s, what stands in it
:mod:`extremum.graph.sites`'s.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import onnx

from extremum.graph.external import external, read_external
from extremum.graph.load import load
from extremum.graph.weights import LARGE, joined, parted

__all__ = ["Model"]


class Model:
    """A model with its weights, which are held once."""

    def __init__(self, model: onnx.ModelProto | bytes | str | os.PathLike[str]) -> None:
        # Once it is parted without large weights; ``unread`` is without any that are in other files.
        self.proto = self.unread = load(model, weights=False)
        self.weights: Mapping[str, bytes] = {}
        # Where those files are.
        self.folder: str | None = None
        # What others hold anyway costs nothing to keep.
        self._given = self.proto if isinstance(model, onnx.ModelProto) else None
        if any(True for _ in external(self.proto)):
            folder = None if isinstance(model, onnx.ModelProto | bytes) else Path(model).absolute().parent
            self.unread = onnx.ModelProto()
            self.unread.CopyFrom(self.proto)
            self.folder = str(folder)
            read_external(self.proto, folder, at_most=LARGE)

    def part(self) -> None:
        """Keep large weights beside the model; before anybody walks it, who would hold on to what is in it now."""
        if self.folder is None:
            self.proto, self.weights = parted(self.proto)
            self.unread = self.proto

    @cached_property
    def whole(self) -> onnx.ModelProto:
        """The model with its weights in it; the one that was given, if one was."""
        if self._given is not None:
            return self._given
        if self.folder is None:
            return joined(self.proto, self.weights) if self.weights else self.proto
        whole = onnx.ModelProto()
        whole.CopyFrom(self.unread)
        read_external(whole, Path(self.folder))
        return whole
