"""What every version of every operator promises, as data, and the look-up of the version in force.

Decides nothing that a document does not say; the schemas are in :mod:`extremum.spec.onnx` and
:mod:`extremum.spec.directml`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from extremum.errors import SpecError, UnknownOperatorError
from extremum.spec import directml, onnx
from extremum.spec.schema import (
    DIRECTML,
    ONNX,
    Attribute,
    AttributeRange,
    AttributeType,
    Broadcasting,
    Family,
    OperatorVersion,
    Parameter,
    requirement,
)

__all__ = [
    "DIRECTML",
    "ONNX",
    "OPERATORS",
    "Attribute",
    "AttributeRange",
    "AttributeType",
    "Broadcasting",
    "Family",
    "OperatorVersion",
    "Parameter",
    "find",
    "requirement",
]

OPERATORS: Mapping[tuple[str, str], tuple[OperatorVersion, ...]] = MappingProxyType(
    {(versions[0].domain, versions[0].name): versions for versions in (*onnx.OPERATORS, *directml.OPERATORS)}
)
"""All versions of each operator, oldest first, by domain and name."""


def find(domain: str, name: str, opset: int) -> OperatorVersion:
    """Return the version of an operator in force at an opset or, for DirectML, a feature level such as 0x4100."""
    versions = OPERATORS.get((domain, name))
    if versions is None:
        known = ", ".join(sorted(known for known_domain, known in OPERATORS if known_domain == domain))
        raise UnknownOperatorError(f"there is no operator {name!r} here", remedy=f"the operators are {known}")
    in_force = [version for version in versions if version.since <= opset]
    if not in_force:
        raise SpecError(f"{name} needs {versions[0].requirement} or later", given=requirement(domain, opset))
    return in_force[-1]
