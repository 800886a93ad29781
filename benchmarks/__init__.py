"""The benchmark: this package beside every installed peer.

`matrix` has the cases, `peers` calls each library as its users do, `run` has the clock and what a run leaves, `report`
the tables and charts. `arrays`, `models` and `large` are the other suites; `python -m benchmarks` starts each of them.
"""
