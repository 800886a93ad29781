"""Work that several rewrites of one input have in common: it is done once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

import onnx

from extremum.check import marks
from extremum.fix.changes import Change

_INDEX = re.compile(r"(.*)\.node\[(\d+)\]")
"""A path of a node: that of its graph or function, and its number there."""


def share_work(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return changes in which no node computes what a new node before it in the same graph computes."""
    shared: dict[str, Change] = {}
    known: dict[tuple[object, ...], onnx.NodeProto] = {}
    aliases: dict[tuple[str, str], str] = {}
    listed = list(changes)
    for change in sorted(listed, key=_place):
        graph, _ = _place(change)
        after = []
        for node in change.after:
            own = onnx.NodeProto()
            own.CopyFrom(node)
            own.input[:] = [aliases.get((graph, name), name) for name in node.input]
            # Only the model reads what the last node gives, so its name stays.
            is_new = not set(node.output) & set(change.before.output) and len(change.after) > 1
            key = graph, own.op_type, own.domain, tuple(own.input), _attributes(own), len(own.output)
            if is_new and key in known:
                first = known[key]
                marks.share(first, own)
                for name, other in zip(own.output, first.output, strict=True):
                    aliases[graph, name] = other
                continue
            if is_new:
                known[key] = own
            after.append(own)
        shared[change.path] = replace(change, after=tuple(after))
    return tuple(shared[change.path] for change in listed)


def _place(change: Change) -> tuple[str, int]:
    match = _INDEX.fullmatch(change.path)
    assert match is not None
    return match[1], int(match[2])


def _attributes(node: onnx.NodeProto) -> tuple[bytes, ...]:
    return tuple(sorted(each.SerializeToString(deterministic=True) for each in node.attribute))
