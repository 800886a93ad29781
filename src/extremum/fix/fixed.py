"""What became of a model that was to be fixed, and how it reads in one line."""

from __future__ import annotations

from dataclasses import dataclass

import onnx

from extremum.errors import ExtremumError
from extremum.fix.change import Change

__all__ = ["Fixed"]


@dataclass(frozen=True, slots=True)
class Fixed:
    """What became of a model.

    Attributes
    ----------
    model : onnx.ModelProto
        The fixed model; the original where nothing changed.
    target : str
        The runtime it is for.
    changes : tuple of Change
        One per rewritten node.
    refusals : tuple of ExtremumError
        One per node that the target refuses and that cannot be rewritten. The model does not run there then.
    differences : tuple of ExtremumError
        One per node that the target takes but answers otherwise, and that cannot be rewritten exactly: it stays.
    notes : tuple of str
        What was not compared, and why.

    Examples
    --------
    >>> import onnx
    >>> from extremum.fix import fix
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (int16[9] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> fixed = fix(onnx.parser.parse_model(text))
    >>> len(fixed.changes), fixed.refusals, fixed.notes
    (1, (), ())
    """

    model: onnx.ModelProto
    target: str
    changes: tuple[Change, ...]
    refusals: tuple[ExtremumError, ...]
    differences: tuple[ExtremumError, ...] = ()
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return one line that says whether the model was modified."""
        if self.refusals:
            return f"not modified: {_nodes(len(self.refusals))} cannot be rewritten for {self.target}"
        otherwise = f"answers {_nodes(len(self.differences))} otherwise"
        if self.changes:
            rewritten = f"{_nodes(len(self.changes))} rewritten for {self.target}"
            return f"{rewritten}, which {otherwise}" if self.differences else rewritten
        taken = f"not modified: {self.target} takes every node"
        return f"{taken}, but {otherwise}" if self.differences else taken


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"
