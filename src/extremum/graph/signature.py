"""What the schema of an operator's version promises: how many inputs of which kinds, which attributes, which outputs.

Decides which nodes keep that promise, as far as types tell, and what kinds of values follow for their outputs. onnx's
own inference takes all of it for granted: a node that breaks it can end the process.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx
from onnx.defs import OpSchema

from extremum.graph.kinds import tensor_kind

__all__ = ["Signature", "signature"]

_REQUIRED = OpSchema.FormalParameterOption.Single
_VARIADIC = OpSchema.FormalParameterOption.Variadic
_NEWEST = 2**31 - 1
_NUMBERS = {
    getattr(OpSchema.AttrType, name): number
    for name, number in onnx.AttributeProto.AttributeType.items()
    if hasattr(OpSchema.AttrType, name)
}

# Attributes that say the element type of an output, beside those that hold the value itself.
_NUMBERED = ("to", "dtype")
_CONSTANTS = {"value_float": "float", "value_int": "int64", "value_string": "string"}


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A formal input or output: the name of its type, the kinds that are allowed, whether it has to be there."""

    type: str
    kinds: frozenset[str]
    required: bool
    free: bool

    @property
    def only(self) -> str | None:
        return next(iter(self.kinds)) if len(self.kinds) == 1 else None


@dataclass(frozen=True, slots=True)
class Signature:
    """The promise of one version of an operator."""

    since: int
    shown: bool
    inputs: tuple[_Parameter, ...]
    outputs: tuple[_Parameter, ...]
    input_counts: range
    output_counts: range
    attributes: Mapping[str, int]
    required: frozenset[str]

    def keeps(self, node: onnx.NodeProto, kinds: Sequence[str | None]) -> bool:
        """Return whether a node keeps the promise, with inputs of these kinds (empty: left out; None: unknown)."""
        if not self.shown or len(node.input) not in self.input_counts or len(node.output) not in self.output_counts:
            return False
        stated = {each.name: each.type for each in node.attribute if not each.ref_attr_name}
        if len(stated) != len(node.attribute) or not self.required <= stated.keys():
            return False
        if any(self.attributes.get(name) != number for name, number in stated.items()):
            return False
        bound = dict[str, str]()
        for index, given in enumerate(kinds):
            parameter = self.inputs[min(index, len(self.inputs) - 1)]
            if not given:
                if given is None or parameter.required:
                    return False
                continue
            if given not in parameter.kinds:
                return False
            if not parameter.free and bound.setdefault(parameter.type, given) != given:
                return False
        return all(
            index >= len(node.output) or node.output[index] for index, each in enumerate(self.outputs) if each.required
        )

    def gives(self, node: onnx.NodeProto, kinds: Sequence[str | None]) -> list[str | None]:
        """Return the kind of each output, as far as inputs and attributes decide it."""
        bound = dict[str, str]()
        for index, given in enumerate(kinds):
            if given and self.inputs:
                parameter = self.inputs[min(index, len(self.inputs) - 1)]
                if not parameter.free and given in parameter.kinds:
                    bound.setdefault(parameter.type, given)
        return [self._given(index, node, bound) for index in range(len(node.output))]

    def _given(self, index: int, node: onnx.NodeProto, bound: Mapping[str, str]) -> str | None:
        if not self.outputs:
            return None
        parameter = self.outputs[min(index, len(self.outputs) - 1)]
        found = parameter.only or (None if parameter.free else bound.get(parameter.type) or _said(node))
        return found if found in parameter.kinds else None


def _said(node: onnx.NodeProto) -> str | None:
    """Return the kind of tensor that the attributes of a node say."""
    for attribute in node.attribute:
        if attribute.name in _NUMBERED and attribute.type == onnx.AttributeProto.INT:
            return tensor_kind(attribute.i)
        if attribute.name == "value" and attribute.type == onnx.AttributeProto.TENSOR:
            return tensor_kind(attribute.t.data_type)
        if node.op_type == "Constant" and (element := _CONSTANTS.get(attribute.name.removesuffix("s"))):
            return f"tensor({element})"
    return "tensor(float)" if node.op_type == "ConstantOfShape" else None


@functools.cache
def signature(domain: str, name: str, opset: int) -> Signature | None:
    """Return the promise of an operator in the version in force, or None if onnx knows no such operator."""
    if not 0 < opset <= _NEWEST:
        return None
    try:
        schema = onnx.defs.get_schema(name, opset, domain)
    except onnx.defs.SchemaError:
        return None
    constraints = {each.type_param_str: frozenset(each.allowed_type_strs) for each in schema.type_constraints}

    def parameter(formal: OpSchema.FormalParameter) -> _Parameter:
        kinds = constraints.get(formal.type_str, frozenset((formal.type_str,)))
        free = formal.option == _VARIADIC and not formal.is_homogeneous
        return _Parameter(formal.type_str, kinds, formal.option == _REQUIRED, free)

    return Signature(
        schema.since_version,
        not schema.deprecated and (schema.has_type_and_shape_inference_function or _has_body(schema)),
        tuple(map(parameter, schema.inputs)),
        tuple(map(parameter, schema.outputs)),
        range(schema.min_input, schema.max_input + 1),
        range(schema.min_output, schema.max_output + 1),
        {each.name: _NUMBERS[each.type] for each in schema.attributes.values()},
        frozenset(each.name for each in schema.attributes.values() if each.required),
    )


def _has_body(schema: OpSchema) -> bool:
    return any(getattr(schema, name) for name in ("has_function", "has_context_dependent_function"))
