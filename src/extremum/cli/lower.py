"""``extremum lower``: a model in DirectML's operators, as text, JSON, C++ or for DxDispatch.

Each format is an iterator of pieces of text, because DxDispatch's holds the elements of tensors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from extremum import directml
from extremum.cli.new_files import require_free, write_new
from extremum.cli.options import PATH, Command, parse_sizes, repeatable
from extremum.cli.terminal import write, write_error
from extremum.directml import LoweredModel, OperatorDesc, Step, TensorDesc
from extremum.printable import json_text, printable
from extremum.tensors import require_memory

_TENSOR = "data_type flags dimension_count sizes strides total_tensor_size_in_bytes guaranteed_base_offset_alignment"


def _members(desc: OperatorDesc | TensorDesc) -> Iterator[tuple[str, Any]]:
    """Yield the name and the value of each member of a structure, in the order of directml.h."""
    names = _TENSOR.split() if isinstance(desc, TensorDesc) else vars(desc)
    for name in names:
        value = getattr(desc, name)
        if name == "axes":
            yield "AxisCount", len(value)
        yield name.title().replace("_", ""), value


def _type(step: Step) -> str:
    """Return the enumerator of DML_OPERATOR_TYPE, such as ``DML_OPERATOR_ARGMAX``."""
    return step.desc.operator.replace("DML_", "DML_OPERATOR_", 1)


def _bindings(step: Step) -> dict[str, str]:
    """Return the name of the model's tensor for each member of the structure."""
    members = (member for member, value in _members(step.desc) if isinstance(value, TensorDesc))
    return dict(zip(members, step.inputs + step.outputs, strict=True))


def record(value: Any) -> Any:
    """Return a structure, or the value of a member, for JSON: enumerators by name, without absent strides."""
    if isinstance(value, OperatorDesc | TensorDesc):
        return {name: record(each) for name, each in _members(value) if each is not None}
    if isinstance(value, tuple):
        return list(value)
    return getattr(value, "c_name", value)


def _text(model: LoweredModel) -> Iterator[str]:
    """Yield one block for each node: its operators and their members."""
    for node in model.nodes:
        yield f"{printable(node.place)}: {node.version}\n"
        for step in node.steps:
            yield f"  {step.desc.operator}, feature level {step.feature_level}\n"
            rows = dict(_members(step.desc))
            bindings = _bindings(step)
            width = max(map(len, rows))
            for name, value in rows.items():
                tensor = f"{printable(bindings[name])}  " if name in bindings else ""
                if isinstance(value, tuple):
                    value = f"{{{', '.join(map(str, value))}}}"
                yield f"    {name:<{width}}  {tensor}{getattr(value, 'c_name', value)!s}\n"
    if not model.nodes and not model.refusals:
        yield "no node of the model picks the largest or smallest\n"


def _json(model: LoweredModel) -> Iterator[str]:
    """Yield the operators of each node, and the errors of nodes without operators."""
    nodes = []
    for node in model.nodes:
        steps = []
        for step in node.steps:
            entry = {"type": _type(step), "feature_level": str(step.feature_level), "desc": record(step.desc)}
            steps.append({**entry, "bindings": _bindings(step)})
        nodes.append({"place": node.place, "version": node.version, "steps": steps})
    refusals = [error.record() for error in model.refusals]
    yield json_text({"feature_level": str(model.feature_level), "nodes": nodes, "refusals": refusals}) + "\n"


def _cpp(model: LoweredModel) -> Iterator[str]:
    """Yield the initialisers of each operator's structures, for a C++ function or file; DML_OPERATOR_DESC is last."""
    pairs = [(node, step) for node in model.nodes for step in node.steps]
    for number, (node, step) in enumerate(pairs):
        names = ", ".join(f"{member} = {tensor!r}" for member, tensor in _bindings(step).items())
        yield "\n" if number else ""
        # Each line ends with a word of this package or a quotation mark; a final backslash would join the next line.
        yield f"// {printable(node.place)}: {node.version}, feature level {step.feature_level}\n// {printable(names)}\n"
        yield from _structure(
            f"op{number}", f"{step.desc.operator}_OPERATOR_DESC", f"op{number}_desc", step.desc
        )
        yield f"const DML_OPERATOR_DESC op{number}_operator = {{{_type(step)}, &op{number}_desc}};\n"


def _structure(prefix: str, kind: str, variable: str, desc: OperatorDesc | TensorDesc) -> Iterator[str]:
    """Yield the lines that define a variable of a structure, after those of the arrays and tensors it points to."""
    rows = []
    for member, value in _members(desc):
        name = f"{prefix}_{member}"
        if isinstance(value, TensorDesc):
            yield from _structure(name, "DML_BUFFER_TENSOR_DESC", f"{name}_buffer", value)
            yield f"const DML_TENSOR_DESC {name} = {{DML_TENSOR_TYPE_BUFFER, &{name}_buffer}};\n"
            rows.append((member, f"&{name}"))
        elif isinstance(value, tuple):
            yield f"const UINT {name}[] = {{{', '.join(f'{number}u' for number in value)}}};\n"
            rows.append((member, name))
        else:
            rows.append((member, "nullptr" if value is None else getattr(value, "c_name", f"{value}u")))
    width = max(len(value) for _, value in rows) + 1
    lines = (f"    {value + ',':<{width}}  // {member}\n" for member, value in rows)
    yield f"const {kind} {variable} = {{\n{''.join(lines)}}};\n"


def _dxdispatch(model: LoweredModel) -> Iterator[str]:
    """Yield the text of DxDispatch's model of the operators, in pieces."""
    # DxDispatch reads `resources`, `dispatchables` and `commands`, and ignores `expected`, the elements of each buffer
    # after the dispatches. Inputs without a value hold a fixed pattern of small integers, which every element type
    # represents exactly and which has ties. The operators run while the text is written, so it takes no more memory
    # than the tensors.
    steps = [step for node in model.nodes for step in node.steps]
    results = dict.fromkeys(name for step in steps for name in step.outputs)
    tensors: dict[str, TensorDesc] = {}
    for step in steps:
        for name, tensor in zip(step.inputs + step.outputs, step.desc.tensors.values(), strict=True):
            tensors.setdefault(name, tensor)
    size = sum(tensor.extent * tensor.data_type.element_type.itemsize for tensor in tensors.values())
    require_memory((size,), np.dtype(np.uint8), "what the operators read and write")

    # Each tensor has a buffer: zeros for a result, else the values that the text has too.
    buffers: dict[str, NDArray[Any]] = {}
    yield '{\n"resources": {'
    separator = "\n"
    for name, tensor in tensors.items():
        yield f"{separator}{json_text(name)}: "
        yield f'{{"initialValuesDataType": "{tensor.data_type.name}", "initialValues": '
        if name in results:
            buffers[name] = np.zeros(tensor.extent, tensor.data_type.element_type.dtype)
            yield json_text({"valueCount": tensor.extent, "value": 0})
        else:
            buffers[name] = _initial(tensor, model.constants.get(name))
            yield from _values(buffers[name])
        yield "}"
        separator = ",\n"
    yield "\n},\n"

    # The operators run, one after the other, as DxDispatch is told to run them.
    dispatchables, commands = _dispatch(model, buffers)
    commands += [{"type": "print", "resource": name} for name in results]
    yield f'"dispatchables": {json_text(dispatchables)},\n'
    yield f'"commands": {json_text(commands)},\n'

    # What the buffers of the results hold now.
    yield '"expected": {'
    separator = "\n"
    for name in results:
        yield f"{separator}{json_text(name)}: "
        yield from _values(buffers[name])
        separator = ",\n"
    yield "\n}\n}\n"


def _initial(tensor: TensorDesc, constant: NDArray[Any] | None) -> NDArray[Any]:
    """Return the elements of an input before the operators run: its constant, or a pattern."""
    if constant is not None:
        return constant.ravel()
    pattern = np.arange(101) * 37 % 101
    return np.resize(pattern.astype(tensor.data_type.element_type.dtype), tensor.extent)


def _dispatch(
    model: LoweredModel, buffers: dict[str, NDArray[Any]]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run the operators on the buffers; return their descriptions by title, and the commands that run them."""
    dispatchables: dict[str, Any] = {}
    commands: list[dict[str, Any]] = []
    for node in model.nodes:
        for number, step in enumerate(node.steps):
            # Another operator may have described the same bits as signed.
            types = [tensor.data_type.element_type.dtype for tensor in step.desc.tensors.values()]
            views = [
                buffers[name].view(dtype)
                for name, dtype in zip(step.inputs + step.outputs, types, strict=True)
            ]
            count = len(step.inputs)
            directml.create_operator(step.desc).dispatch(views[:count], views[count:])
            title = node.place
            if len(node.steps) > 1:
                title = f"{title} step {number}"
            dispatchables[title] = {"type": _type(step), "desc": record(step.desc)}
            commands.append({"type": "dispatch", "dispatchable": title, "bindings": _bindings(step)})
    return dispatchables, commands


def _values(elements: NDArray[Any]) -> Iterator[str]:
    """Yield the elements for DxDispatch: NaN and infinities are text, as JSON has no such numbers."""
    yield "["
    for start in range(0, elements.size, 4096):
        values = elements[start : start + 4096].tolist()
        texts = (str(value) if math.isfinite(value) else f'"{value}"' for value in values)
        yield (", " if start else "") + ", ".join(texts)
    yield "]"


FORMATS = {"text": _text, "json": _json, "cpp": _cpp, "dxdispatch": _dxdispatch}
"""The writer of each format, by the name of the format."""
_LEVELS = list(map(str, directml.FeatureLevel))


@click.command(cls=Command)
@click.argument("model", type=PATH)
@click.option(
    "--feature-level",
    type=click.Choice(_LEVELS),
    default=_LEVELS[-1],
    show_default=True,
    metavar="LEVEL",
    help="Highest feature level to use, such as 4_1.",
)
@repeatable("--set", "sizes", metavar="DIM=SIZE", help="Size of a symbolic dimension.")
@click.option("-o", "--output", "out", type=PATH, metavar="OUT", help="Write to this file, not to stdout.")
@click.option("--json", "form", flag_value="json", help="Same as --format json.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="text to read, json for programs, cpp to paste into C++, dxdispatch to run [default: text].",
)
def lower(model: Path, feature_level: str, sizes: tuple[str, ...], out: Path | None, form: str | None) -> int:
    """Translate a model into DirectML operators: as text, JSON, C++ or for DxDispatch.

    Translates the nodes that pick the largest or smallest elements, and no others. A node that DirectML cannot run is
    named on stderr with the feature level or type that it needs, and the exit status is 1. Never overwrites a file.
    """
    if out is not None:
        require_free(out)
    result = directml.lower(model, feature_level, sizes=parse_sizes(sizes))
    pieces = FORMATS[form or "text"](result)
    if out is None:
        for piece in pieces:
            write(piece, end="")
    else:
        write_new({out: lambda file: file.writelines(piece.encode() for piece in pieces)})
        write(f"wrote {printable(str(out))}")
    for refusal in result.refusals:
        write_error(refusal.one_line())
    return 1 if result.refusals else 0
