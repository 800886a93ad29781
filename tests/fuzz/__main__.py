"""Fuzzing of everything that reads a file: ``python tests/fuzz --seconds 60``.

A child does the work. Findings are a crash, a case that takes too much time or memory, and an exception that is not
the package's; their input is kept. A seed always gives the same cases, and a finding names the case to repeat.
"""

import argparse
import contextlib
import faulthandler
import json
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

try:
    import resource
except ImportError:  # Windows has none
    resource = None

HERE = Path(__file__).parent
CPU_SECONDS = 20
WALL_SECONDS = 120
RESIDENT = 6 << 30
ADDRESSES = 12 << 30


class Watch:
    """Starts children one after the other, and collects what they find."""

    def __init__(self, given):
        self.given = given
        self.counts = Counter()
        self.answered = Counter()
        self.findings = {}

    def run(self):
        """Work until the time or the cases are used up."""
        number = self.given.first
        end = time.time() + self.given.seconds
        last = self.given.first + self.given.cases
        while number < last and time.time() < end:
            number = self.child(number, last - number, end)

    def child(self, first, count, end):
        """Follow one child to its end; return the number of the next child's first case."""
        words = f"--first {first} --cases {count} --until {end} --seed {self.given.seed} --child".split()
        command = [sys.executable, str(HERE), *words, "--targets", self.given.targets]
        begun = {}
        with (
            tempfile.TemporaryFile("w+", errors="replace") as errors,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
        ):
            # A child that dies may leave half a line.
            for line in (line for line in process.stdout if line.endswith("\n")):
                record = json.loads(line)
                if "folder" in record:
                    begun = record
                else:
                    self.count(record)
            process.wait()
            errors.seek(0)
            text = errors.read()[-3000:]
        if process.returncode == 0:
            return first + count
        if not begun:
            raise SystemExit(f"the child did not start:\n{text}")
        verdict = f"ended with {process.returncode}"
        files = {path.name: path.read_bytes().hex() for path in Path(begun["folder"]).glob("*") if path.is_file()}
        self.count({**begun, "finding": f"{begun['target']} {verdict}", "text": f"{verdict}\n{text}", "files": files})
        return begun["number"] + 1

    def count(self, result):
        """Count a case, and keep the first finding of each kind."""
        target = result["target"]
        number = result["number"]
        self.counts[target] += 1
        self.answered[target] += result["answered"]
        kind = result.get("finding")
        if kind is None:
            return
        if kind not in self.findings:
            place = Path(self.given.keep, f"{target}-{self.given.seed}-{number}")
            place.mkdir(parents=True, exist_ok=True)
            for name, data in result["files"].items():
                (place / name).write_bytes(bytes.fromhex(data))
            (place / "finding.txt").write_text(f"{kind}\n{result['text']}\n")
            again = f"--seed {self.given.seed} --targets {self.given.targets} --first {number} --cases 1"
            print(f"FOUND {kind}\n  kept  {place}\n  again {sys.executable} {HERE} {again}", flush=True)
        self.findings[kind] = self.findings.get(kind, 0) + 1


def work(given):
    """Run the cases, in the child; a line on stdout before each case names it, a line after it gives the outcome."""
    sys.path.append(str(HERE.parent / "support"))
    import corpus
    import targets

    corpus.models(), corpus.tensors(), corpus.arrays()
    names = given.targets.split(",")
    for number in range(given.first, given.first + given.cases):
        if time.time() > given.until:
            break
        limit()
        begun = {"number": number, "target": names[number % len(names)], "answered": False}
        # A case keeps its files here; they stay if it ends this process.
        with tempfile.TemporaryDirectory(prefix="extremum-fuzz-") as folder:
            print(json.dumps({**begun, "folder": folder}), flush=True)
            print(json.dumps(begun | attempt(targets, given.seed, begun, Path(folder))), flush=True)


def limit():
    """End this process where the next case takes too long, or the last one took too much memory."""
    faulthandler.dump_traceback_later(WALL_SECONDS, exit=True)
    if resource is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        assert used.ru_maxrss << 10 < RESIDENT, "too much memory was taken"
        for kind, most in (
            (resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + CPU_SECONDS),
            (resource.RLIMIT_AS, ADDRESSES),
            (resource.RLIMIT_CORE, 0),
        ):
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def attempt(targets, seed, begun, folder):
    """Run a case; return its outcome."""
    name = begun["target"]
    try:
        return {"answered": targets.attempt(name, random.Random(f"{seed}:{begun['number']}"), folder)}
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/extremum/" in frame.filename] or frames
        at = f"{Path(ours[-1].filename).name}:{ours[-1].name}"
        files = {}
        with contextlib.suppress(OSError):
            files = {path.name: path.read_bytes().hex() for path in folder.iterdir() if path.is_file()}
        text = "".join(traceback.format_exception(error))
        return {"finding": f"{name} {type(error).__name__} at {at}", "text": text[-4000:], "files": files}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--targets", default="prepare,run,check,convert,fix,lower,array,command")
    parser.add_argument("--keep", default="build/fuzz", help="the folder for inputs that find something")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        work(given)
        return 0
    watch = Watch(given)
    begun = time.monotonic()
    watch.run()
    each = ", ".join(f"{name} {count} ({watch.answered[name]} answered)" for name, count in watch.counts.items())
    print(f"fuzz: {watch.counts.total()} cases in {time.monotonic() - begun:.0f} s, seed {given.seed}: {each}")
    print(f"fuzz: {len(watch.findings)} findings", *(f"{n:6} x {kind}" for kind, n in watch.findings.items()), sep="\n")
    return 1 if watch.findings else 0


if __name__ == "__main__":
    sys.exit(main())
