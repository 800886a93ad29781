"""A suite of cases for every runtime of ONNX, with the exact answer of every version: as files, and to be run here."""

from extremum.errors import required_by

with required_by("extremum.conformance"):
    from extremum.conformance.suite import Answers, Case, Exported, Result, Selection, cases, export, run
    from extremum.runtimes.runtime import Outcome

__all__ = ["Answers", "Case", "Exported", "Outcome", "Result", "Selection", "cases", "export", "run"]
__dir__ = __all__.copy
