"""``beyond`` and the tuples under the names by which the native module looks for them."""

from extremum.reductions import beyond as beyond
from extremum.signatures import MinMax as MinMax
from extremum.signatures import MinMaxIndices as MinMaxIndices
from extremum.signatures import ValuesIndices as ValuesIndices
