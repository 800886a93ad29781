"""Models rewritten into standard ONNX that a target runs, exact to the bit.

Decides which nodes are rewritten: those that the rules of :mod:`extremum.check` find for the target, with the rewrites
of :mod:`extremum.fix.rewrites`. Nothing else in the model changes; its opset changes only on request, by onnx's own
converter. Decides what is compared, bit by bit: every rewritten node on its own, on difficult samples; then
both models as a whole, if their inputs can be drawn and their operators have an implementation here. All NaNs count as
equal: no runtime guarantees which NaN it gives.
"""

from __future__ import annotations

from extremum.errors import required_by

with required_by("extremum.fix"):
    from extremum.fix.changes import Change, Fixed
    from extremum.fix.decide import fix, has_external_data
    from extremum.fix.rewrites import REWRITES

__all__ = ["REWRITES", "Change", "Fixed", "fix", "has_external_data"]
__dir__ = __all__.copy
