"""Copies of the installed package with a mutant in them, and the tests that run against such a copy."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import extremum
from mutants import ROOT, Mutant

TESTS = ROOT / "tests"
SECONDS = 600
"""For the tests that are asked first: a mutant that hangs is seen too."""


class Package:
    """A copy of the installed package, first on the path of the tests."""

    def __init__(self, suite: Suite) -> None:
        self.path = Path(tempfile.mkdtemp(dir=suite.folder))
        self._package = self.path / "extremum"
        shutil.copytree(Path(extremum.__file__).parent, self._package)

    def plant(self, mutant: Mutant) -> None:
        """Write a wrong line of Python into the copy."""
        source = self._package / Path(mutant.path).relative_to("src/extremum")
        mutant.plant(source)
        Path(importlib.util.cache_from_source(str(source))).unlink(missing_ok=True)

    def take(self, native: Path) -> None:
        """Put another native module into the copy."""
        (present,) = self._package.glob("_native.*[!i]")
        present.unlink()
        shutil.copy(native, present)


class Kernels:
    """A copy of the native sources, built again for each mutant."""

    def __init__(self) -> None:
        # At the same place in every run, so that what was built once stays built.
        self._target = ROOT / "target" / "mutants"
        self._sources = self._target / "sources"
        shutil.rmtree(self._sources, ignore_errors=True)
        self._sources.mkdir(parents=True)
        for name in ("Cargo.toml", "Cargo.lock"):
            shutil.copy(ROOT / name, self._sources)
        shutil.copytree(ROOT / "native", self._sources / "native")

    def plant(self, mutant: Mutant) -> Path | None:
        """Return the native module with a wrong line in it, or None if it does not compile."""
        source = self._sources / mutant.path
        sound = source.read_text(encoding="utf-8")
        mutant.plant(source)
        try:
            return self.build()
        finally:
            source.write_text(sound, encoding="utf-8")

    def build(self) -> Path | None:
        """Return the native module of the sources as they are, or None if they do not compile."""
        settings = {
            "CARGO_TARGET_DIR": str(self._target),
            "CARGO_INCREMENTAL": "1",
            "CARGO_PROFILE_RELEASE_DEBUG": "0",
            # Every instantiation is compiled again each time: in a quarter of the time without optimisations.
            "CARGO_PROFILE_RELEASE_OPT_LEVEL": "0",
            "PYO3_PYTHON": sys.executable,
        }
        command = ["cargo", "build", "--quiet", "--release", "--package", "extremum-python"]
        done = subprocess.run(command, cwd=self._sources, env=os.environ | settings, check=False)
        names = ("lib_native.so", "lib_native.dylib", "_native.dll")
        built = [path for name in names if (path := self._target / "release" / name).exists()]
        return built[0] if done.returncode == 0 else None


class Suite:
    """The tests, run against copies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def plant(self, mutant: Mutant, kernels: Kernels | None = None) -> bool:
        """Return whether a mutant survives, and say so."""
        begin = time.monotonic()
        package = Package(self)
        if kernels is None:
            package.plant(mutant)
        else:
            native = kernels.plant(mutant)
            if native is None:
                raise RuntimeError(f"{mutant.path} does not compile: state {mutant.says!r} anew")
            package.take(native)
        survives = self.passes(package, mutant.tests) and self.passes(package, (), workers=2)
        shutil.rmtree(package.path)
        seconds = time.monotonic() - begin
        print(f"{'SURVIVED' if survives else 'killed':8} {seconds:4.0f} s  {mutant.path}: {mutant.says}", flush=True)
        return survives

    def passes(self, package: Package, tests: Sequence[str], workers: int = 0) -> bool:
        """Return whether some tests pass with a copy of the package; all of them where none is named."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", str(workers), "-p", "no:cacheprovider"]
        # What plants mutants is not asked about one.
        command += ["--ignore", str(TESTS / "test_planted.py")]
        command += [str(TESTS / name) for name in tests] or [str(TESTS)]
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": str(package.path)},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=SECONDS if tests else None,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        if done.returncode in (4, 5):
            raise RuntimeError(f"pytest finds no such tests: {' '.join(command)}\n{done.stdout}")
        return done.returncode == 0
