"""The nodes that shall stand in the place of one node, made in stages.

First what the node itself states is mended: an output gets a name, an axis is counted from the front, k is limited to
the axis. Then an element type that the version does not take is cast to a wider one. Then what is left is rewritten if
the target refuses it or answers it differently. Each stage leaves one node in the middle, with nodes before and after.
"""

from __future__ import annotations

from collections import ChainMap
from copy import copy, deepcopy
from dataclasses import replace

import onnx

from extremum.check.marks import mark
from extremum.errors import ExtremumError, SpecError
from extremum.fix.changes import Change
from extremum.fix.rewrites import Fragment, Rewrite
from extremum.graph.limits import limited
from extremum.graph.sites import Site
from extremum.spec import ONNX, AttributeRange, Family
from extremum.tensors import TensorType, element_of

_GIVES_ELEMENTS = frozenset(Family) - {Family.ARGMAX, Family.ARGMIN}


class Draft:
    """The node of a site, with the nodes around it so far; the names of new values begin with a prefix.

    ``source`` has the version that defines what the node computes. ``site`` has the node in the model that is written,
    whose opset may be later.
    """

    def __init__(self, source: Site, site: Site, prefix: str) -> None:
        self.source = source
        self.site = site
        self.opset = site.opsets[ONNX]
        # What the stages did, for people.
        self.titles: list[str] = []
        # Why the target still answers differently.
        self.problem: ExtremumError | None = None
        # Whether the target must answer as extremum does even where no specification decides.
        self.is_exact = False
        self.outputs = tuple(site.node.output)
        # The outputs that have fewer elements than before where k is above the axis.
        self.limited_outputs: tuple[str, ...] = ()
        self._prefix = prefix
        self._original = site.node
        self._before: list[onnx.NodeProto] = []
        self._middle: list[onnx.NodeProto] | None = None
        self._after: list[onnx.NodeProto] = []

    def copy(self) -> Draft:
        """Return a draft that further stages change without changing this one."""
        other = copy(self)
        other.titles = list(self.titles)
        other._before = list(self._before)
        other._after = list(self._after)
        return other

    @property
    def nodes(self) -> list[onnx.NodeProto]:
        """All nodes, in order."""
        middle = [self.site.node] if self._middle is None else self._middle
        return [*self._before, *middle, *self._after]

    @property
    def reference(self) -> Site:
        """The node that defines what the nodes compute, with a name for each output."""
        return replace(self.source, node=self._named(self.source.node))

    def change(self, before: Site) -> Change | None:
        """Return the change of a node of the model, or None if there is none."""
        title = " and ".join(self.titles)
        if not title and self.site.version != before.version:
            title = f"as {self.site.version}"
        if not title:
            return None
        written = [deepcopy(node) for node in self.nodes]
        if len(written) > 1:
            # As it is in the model that is written, whose opset may be later.
            mark(written, self._named(self._original), self.opset)
        return Change(
            place=before.place,
            path=self.site.path,
            operator=str(before.version),
            element=str(before.element),
            title=title,
            before=before.node,
            after=tuple(written),
        )

    def name_outputs(self) -> None:
        """Give every output a name, which the operators of this package must have."""
        outputs = list(self.site.node.output)
        if all(outputs):
            return
        node = self._copy()
        for at, name in enumerate(outputs):
            node.output[at] = name or f"{self._prefix}output/{at}"
        self._replace(node)
        self.outputs = tuple(node.output)
        self.titles.append("with a name for each output")

    def count_axes_from_the_front(self) -> None:
        """Write axes as they are without a sign, where the version does not say what a negative one means."""
        rank = self.site.inputs[0].rank if self.site.inputs else None
        for attribute in self.site.version.attributes:
            is_silent = attribute.range is AttributeRange.AXIS_UNSTATED
            if not is_silent or attribute.name not in self.site.attributes:
                continue
            stated = self.site.attributes[attribute.name]
            axes = stated if isinstance(stated, list) else [stated]
            if rank is None or not any(axis < 0 for axis in axes) or not all(axis >= -rank for axis in axes):
                continue
            front = [axis % rank if axis < 0 else axis for axis in axes]
            node = self._copy()
            (target,) = (each for each in node.attribute if each.name == attribute.name)
            value = front if attribute.is_list else front[0]
            target.CopyFrom(onnx.helper.make_attribute(attribute.name, value))
            self._replace(node)
            self.titles.append("with its axis counted from the front")

    def drop_what_does_nothing(self) -> None:
        """Drop the attribute of the first versions of Max and Min that has no effect."""
        name = "consumed_inputs"
        if name in self.site.attributes and self.site.version.attribute(name) is not None:
            node = self._copy()
            rest = [each for each in node.attribute if each.name != name]
            del node.attribute[:]
            node.attribute.extend(rest)
            self._replace(node)
            self.titles.append(f"without {name}")

    def limit(self) -> None:
        """Limit k to the size of the axis, if it may be larger."""
        before = limited(self.site, self.opset, f"{self._prefix}limit/")
        if before is None:
            return
        *nodes, node = before
        self._before += nodes
        self._replace(node, {node.input[1]: TensorType("int64", (1,))})
        self.limited_outputs = self.outputs
        self.titles.append("with k limited to its axis")

    def widen(self, wide: str) -> None:
        """Cast the elements to a wider type, and the result back."""
        count = self.site.version.input.maximum
        element = str(self.site.element)
        node = self._copy()
        types = dict[str, TensorType]()
        for at, (name, tensor) in enumerate(zip(node.input[:count], self.site.operands, strict=True)):
            node.input[at] = f"{self._prefix}wide/{at}"
            types[node.input[at]] = TensorType(wide, tensor.shape)
            self._before.append(_cast(name, node.input[at], wide))
        if self.site.version.family in _GIVES_ELEMENTS:
            result = node.output[0]
            node.output[0] = f"{self._prefix}wide"
            self._after.insert(0, _cast(node.output[0], result, element))
            # The last node has the name of the original.
            if node.name:
                self._after[-1].name = node.name
                node.ClearField("name")
        self._replace(node, types)
        self.titles.append(f"through Casts to {wide}")

    def rewrite(self, rewrite: Rewrite, *, is_exact: bool) -> None:
        """Replace the node in the middle by those of a rewrite, which may still answer open cases differently."""
        if self.opset < rewrite.since:
            raise SpecError(
                f"{self.site.version} of {self.site.element} can be rewritten from opset {rewrite.since} on",
                remedy=f"allow opset {rewrite.since} with raise_opset, if the whole model may be raised",
            )
        fragment = Fragment(self.site, self.opset, self._prefix)
        rewrite.build(fragment)
        self._middle = fragment.finish()
        self.titles.append(rewrite.title)
        self.is_exact = is_exact

    def _named(self, node: onnx.NodeProto) -> onnx.NodeProto:
        """Return a node with a name for each output."""
        named = onnx.NodeProto()
        named.CopyFrom(node)
        named.output[:] = self.outputs
        return named

    def _copy(self) -> onnx.NodeProto:
        node = onnx.NodeProto()
        node.CopyFrom(self.site.node)
        return node

    def _replace(self, node: onnx.NodeProto, types: dict[str, TensorType] | None = None) -> None:
        """Put another node in the middle; `types` are those of values that are new in the model."""
        self.site = replace(self.site, node=node, types=ChainMap(types or {}, dict(self.site.types)))


def _cast(source: str, target: str, element: str) -> onnx.NodeProto:
    return onnx.helper.make_node("Cast", [source], [target], to=element_of(element).onnx_number)
