"""The inputs and outputs of a node, held against its version.

Decides which numbers of them, element types, ranks and sizes are refused, as far as they are known.
"""

from __future__ import annotations

from collections.abc import Sequence

from extremum import spec
from extremum.errors import ElementTypeError, SpecError
from extremum.spec import OperatorVersion
from extremum.tensors import TensorType

__all__ = ["element_type", "input_count", "inputs", "one_element_type", "output", "output_count", "shape"]


def inputs(row: OperatorVersion, types: Sequence[TensorType]) -> None:
    """Check number, element types and ranks of the inputs, as far as they are known.

    Parameters
    ----------
    row : OperatorVersion
        The version in force.
    types : sequence of TensorType
        What is known of each input.

    Raises
    ------
    SpecError
        If there are too few or too many inputs, or a rank or size is not accepted.
    ElementTypeError
        If the version does not take an element type, or the inputs differ in theirs.

    Examples
    --------
    >>> from extremum import spec, validate
    >>> from extremum.tensors import TensorType
    >>> validate.inputs(spec.find(spec.ONNX, "Max", 13), [TensorType("float32"), TensorType("float32", (2,))])
    """
    input_count(row, len(types))
    for each in types:
        element_type(row, each.element)
        shape(row, each)
    one_element_type(row, types)


def input_count(row: OperatorVersion, count: int) -> None:
    """Refuse too few or too many inputs.

    Parameters
    ----------
    row : OperatorVersion
        The version in force.
    count : int
        How many a node has.

    Raises
    ------
    SpecError
        Saying how many there may be.

    Examples
    --------
    >>> from extremum import spec, validate
    >>> validate.input_count(spec.find(spec.ONNX, "Max", 13), 3)
    """
    if not 1 <= count <= row.input.maximum:
        accepted = "1 input" if row.input.maximum == 1 else f"1 to {row.input.maximum} inputs"
        raise SpecError(f"{row} takes {accepted}, not {count}")


def one_element_type(row: OperatorVersion, types: Sequence[TensorType]) -> None:
    """Refuse inputs that differ in their element types.

    Parameters
    ----------
    row : OperatorVersion
        The version in force.
    types : sequence of TensorType
        What is known of each input.

    Raises
    ------
    ElementTypeError
        Naming the types.

    Examples
    --------
    >>> from extremum import spec, validate
    >>> from extremum.tensors import TensorType
    >>> validate.one_element_type(spec.find(spec.ONNX, "Max", 13), [TensorType("int8"), TensorType("int8")])
    """
    elements = sorted({tensor.element for tensor in types if tensor.element is not None})
    if len(elements) > 1:
        raise ElementTypeError(
            f"{row} takes inputs of one element type, not of {' and '.join(elements)}", remedy="put a Cast before it"
        )


def element_type(row: OperatorVersion, element: str | None) -> None:
    """Refuse an element type that the version does not take.

    Parameters
    ----------
    row : OperatorVersion
        The version in force.
    element : str or None
        Name of the element type; None, where it is unknown, passes.

    Raises
    ------
    ElementTypeError
        Saying which version takes it, if one does.

    Examples
    --------
    >>> from extremum import spec, validate
    >>> validate.element_type(spec.find(spec.ONNX, "ArgMax", 13), "bfloat16")
    """
    if element is None or element in row.types:
        return
    later = [
        version
        for version in spec.OPERATORS[row.domain, row.name]
        if version.since > row.since and element in version.types
    ]
    note = f" (it came with {later[0]})" if later else ""
    raise ElementTypeError(
        f"{row} does not take {element}{note}", remedy=f"the element types of {row} are: {', '.join(row.types)}"
    )


def shape(row: OperatorVersion, tensor: TensorType) -> None:
    """Refuse an input of a rank or size that the version does not take.

    Parameters
    ----------
    row : OperatorVersion
        The version in force.
    tensor : TensorType
        What is known of one input.

    Raises
    ------
    SpecError
        Saying which ranks there may be.

    Examples
    --------
    >>> from extremum import spec, validate
    >>> from extremum.tensors import TensorType
    >>> validate.shape(spec.find(spec.ONNX, "ArgMax", 13), TensorType("float32", ("n", 3)))
    """
    if tensor.shape is None:
        return
    least, most = row.ranks
    rank = len(tensor.shape)
    if rank < least:
        raise SpecError(f"{row} has no axis to look along in a tensor of rank {rank}", remedy="give it at least one")
    if most is not None and rank > most:
        raise SpecError(f"{row} takes tensors of rank {least} to {most}, not {rank}")
    if not row.empty and 0 in tensor.shape:
        raise SpecError(f"{row} takes no tensor without elements")


def output_count(row: OperatorVersion, count: int) -> None:
    """Refuse another number of outputs than the one that every version here has.

    Parameters
    ----------
    row : OperatorVersion
        The version in force.
    count : int
        How many a node has.

    Raises
    ------
    SpecError
        Always, unless there is 1.

    Examples
    --------
    >>> from extremum import spec, validate
    >>> validate.output_count(spec.find(spec.ONNX, "Max", 13), 1)
    """
    if count != 1:
        raise SpecError(f"{row} has 1 output, not {count}")


def output(row: OperatorVersion, name: str, declared: TensorType, inferred: TensorType) -> None:
    """Refuse an output whose declared element type is not what the version gives.

    Parameters
    ----------
    row : OperatorVersion
        The version in force.
    name : str
        The output's name.
    declared : TensorType
        What the model states of it.
    inferred : TensorType
        What :func:`extremum.infer.output` returned.

    Raises
    ------
    ElementTypeError
        Naming both types.

    Examples
    --------
    >>> from extremum import spec, validate
    >>> from extremum.tensors import TensorType
    >>> row = spec.find(spec.ONNX, "ArgMax", 13)
    >>> validate.output(row, "y", declared=TensorType("int64"), inferred=TensorType("int64", (1,)))
    """
    if None not in (declared.element, inferred.element) and declared.element != inferred.element:
        raise ElementTypeError(
            f"{row} gives {inferred.element}, but its output {name!r} is declared {declared.element}"
        )
