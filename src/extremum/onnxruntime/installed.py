"""The onnxruntime that is installed, if it is there and new enough.

Decides which releases serve. Importing this module is asking for one; everything of this package that needs onnxruntime
takes it from here.
"""

from __future__ import annotations

from extremum.errors import DependencyError
from extremum.extras import lacking, needed

try:
    from packaging.version import Version
except ModuleNotFoundError as error:
    raise lacking("onnxruntime's version", error) from None

__all__ = ["OLDEST", "onnxruntime"]

OLDEST = Version("1.21")
"""The first release that takes a model as bytes and its weights from a folder; the library itself serves 1.18 too."""

_REMEDY = needed("onnxruntime")

try:
    import onnxruntime
except ImportError as error:
    raise DependencyError("onnxruntime cannot be imported", given=str(error), remedy=_REMEDY) from None

if Version(onnxruntime.__version__) < OLDEST:
    raise DependencyError(
        f"onnxruntime is too old: {OLDEST} is the first to run what is converted here",
        given=f"onnxruntime {onnxruntime.__version__}",
        remedy=_REMEDY,
    )
