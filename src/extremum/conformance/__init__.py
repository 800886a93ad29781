"""A suite of cases for every ONNX runtime, with the exact answer of every version, to export or to run here."""

from extremum.errors import required_by

# Before the modules, whose own imports would name another package in the message.
with required_by("extremum.conformance"):
    import onnx  # noqa: F401

from extremum.conformance.answers import Answers, Result, run
from extremum.conformance.case import Case
from extremum.conformance.files import Exported, export
from extremum.conformance.selection import Selection, cases
from extremum.runtimes.comparison import Outcome

__all__ = ["Answers", "Case", "Exported", "Outcome", "Result", "Selection", "cases", "export", "run"]
__dir__ = __all__.copy
