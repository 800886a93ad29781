"""``flag`` under the name by which the native module looks for it."""

from extremum.reductions import flag as flag
