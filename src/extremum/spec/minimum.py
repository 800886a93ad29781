"""ONNX Min: versions 1, 6, 8, 12 and 13, each the mirror of Max's."""

from dataclasses import replace

from extremum.spec import maximum
from extremum.spec.schema import Family

__all__ = ["VERSIONS"]

VERSIONS = tuple(
    replace(schema, name="Min", family=Family.MINIMUM, output=replace(schema.output, name="min"))
    for schema in maximum.VERSIONS
)
