"""A plugin of pytest: coverage records which test runs a line. ``.ci/mutants`` picks tests by it."""

from coverage import Coverage


def pytest_runtest_logstart(nodeid):
    running = Coverage.current()
    assert running is not None, "contexts are those of coverage, which does not run"
    # All rows of a table are one test here.
    running.switch_context(nodeid.partition("[")[0])
