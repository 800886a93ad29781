"""The benchmark: this package against every installed peer.

`matrix` has the cases, `peers` calls each library as its users do, `run` has the clock and the record of a run,
`report` the tables and charts. `arrays`, `models` and `large` are the other suites; `python -m benchmarks` starts each.
"""
