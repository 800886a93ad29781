"""Plant the mutants one at a time, and say which of them no test has seen.

    cd tests && python -m mutants [WORD ...]

plants those of which a path or description holds one of the words; without any, all. Each is planted in a copy of the
package; a kernel is built anew from a copy of its sources. Exit status 1 where one survives.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants import python, rust
from mutants.suite import Kernels, Package, Suite

WORKERS = 2


def main(words: list[str]) -> int:
    """Return the exit status."""
    chosen = [
        mutant
        for mutant in (*python.MUTANTS, *rust.MUTANTS)
        if not words or any(word in f"{mutant.path} {mutant.says}" for word in words)
    ]
    asked_first = sorted({test for mutant in chosen for test in mutant.tests})
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(Path(folder))
        if not suite.passes(Package(suite), asked_first, WORKERS):
            print("the tests do not pass without a mutant", file=sys.stderr)
            return 2
        of_python = [mutant for mutant in chosen if mutant.path.endswith(".py")]
        of_rust = [mutant for mutant in chosen if mutant.path.endswith(".rs")]
        with ThreadPoolExecutor(WORKERS) as pool:
            survived = [*pool.map(suite.plant, of_python)]
        if of_rust:
            kernels = Kernels()
            # What slow kernels do not pass says nothing about a mutant in them.
            sound = Package(suite)
            built = kernels.build()
            if built is None:
                print("the native sources do not compile", file=sys.stderr)
                return 2
            sound.take(built)
            if not suite.passes(sound, sorted({test for mutant in of_rust for test in mutant.tests}), WORKERS):
                print("the tests do not pass with kernels that are not optimised", file=sys.stderr)
                return 2
            survived += [suite.plant(mutant, kernels) for mutant in of_rust]
    print(f"{len(chosen)} mutants planted, {sum(survived)} survived")
    return int(any(survived))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
