"""Fuzzing of everything that reads a file: ``python tests/fuzz --seconds 60``.

A child does the work and is watched: a crash, a case that takes too long or too much memory, and an exception that is
not the package's are findings, and their input is kept. The cases of a seed are the same every time: a finding names
the one that repeats it.
"""

import argparse
import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import psutil

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
        self.counts, self.answered, self.findings = Counter(), Counter(), {}

    def run(self):
        """Work until the time or the cases are used up."""
        number, end = self.given.first, time.time() + self.given.seconds
        last = self.given.first + self.given.cases
        while number < last and time.time() < end:
            number = self.child(number, last - number, end)

    def child(self, first, count, end):
        """Watch one child to its end; the number that the next begins with."""
        with tempfile.TemporaryDirectory() as folder:
            status, results, log = (Path(folder, name) for name in ("status", "results", "log"))
            words = f"--first {first} --cases {count} --until {end} --seed {self.given.seed}".split()
            words += ["--child", str(status), "--targets", self.given.targets]
            with log.open("wb") as errors, results.open("wb") as lines:
                process = subprocess.Popen([sys.executable, str(HERE), *words], stdout=lines, stderr=errors)
                verdict = self.watch(process, status)
            # A child that dies may leave half a line.
            for line in results.read_text().split("\n")[:-1]:
                self.count(json.loads(line))
            begun = status.read_text() if status.exists() else ""
            number, target, at = json.loads(begun or '[-1, "", ""]')
            if process.returncode == 0 and verdict is None:
                return first + count
            text = log.read_text(errors="replace")[-3000:]
            if number < 0:
                raise SystemExit(f"the child did not start:\n{text}")
            verdict = verdict or f"ended with {process.returncode}"
            files = {path.name: path.read_bytes().hex() for path in Path(at).glob("*") if path.is_file()}
            finding = {"finding": f"{target} {verdict}", "text": f"{verdict}\n{text}", "files": files}
            self.count({"number": number, "target": target, "answered": False, **finding})
            return number + 1

    def watch(self, process, status):
        """Wait for the child, and end it where a case takes too long or too much; why, in words."""
        at, since, spent = None, time.monotonic(), 0.0
        child = psutil.Process(process.pid)
        while process.poll() is None:
            time.sleep(0.05)
            try:
                now, used, resident = status.read_text(), sum(child.cpu_times()[:2]), child.memory_info().rss
            except (OSError, psutil.Error):
                continue
            if now != at:
                at, since, spent = now, time.monotonic(), used
            slow = used - spent > CPU_SECONDS or time.monotonic() - since > WALL_SECONDS
            if slow or resident > RESIDENT:
                process.kill()
                process.wait()
                return "takes too long" if slow else "takes too much memory"
        return None

    def count(self, result):
        """Count a case, and keep the first finding of each kind."""
        target, number = result["target"], result["number"]
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
    """Make the cases, in the child; a file says before each which one it is. Results go to stdout, a line each."""
    import corpus
    import targets

    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, resource.getrlimit(resource.RLIMIT_AS)[1]))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    corpus.models(), corpus.tensors(), corpus.arrays()
    names = given.targets.split(",")
    folder = targets.Folder()
    with Path(given.child).open("w") as status:
        for number in range(given.first, given.first + given.cases):
            if time.time() > given.until:
                break
            folder.clear()
            status.seek(0)
            status.write(json.dumps([number, names[number % len(names)], str(folder.path)]).ljust(400))
            status.flush()
            print(json.dumps(attempt(targets, given.seed, number, names[number % len(names)], folder)), flush=True)
    folder.clear()
    folder.path.rmdir()


def attempt(targets, seed, number, name, folder):
    """Make a case; what came of it."""
    result = {"number": number, "target": name, "answered": False}
    try:
        result["answered"] = targets.attempt(name, random.Random(f"{seed}:{number}"), folder)
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "/extremum/" in frame.filename] or frames
        at = f"{Path(ours[-1].filename).name}:{ours[-1].name}"
        files = {}
        with contextlib.suppress(OSError):
            files = {path.name: path.read_bytes().hex() for path in folder.path.iterdir() if path.is_file()}
        text = "".join(traceback.format_exception(error))
        result |= {"finding": f"{name} {type(error).__name__} at {at}", "text": text[-4000:], "files": files}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--cases", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--targets", default="prepare,run,check,convert,fix,lower,array,command")
    parser.add_argument("--keep", default="build/fuzz", help="the folder for inputs that find something")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        work(given)
        return 0
    watch, begun = Watch(given), time.monotonic()
    watch.run()
    each = ", ".join(f"{name} {count} ({watch.answered[name]} answered)" for name, count in watch.counts.items())
    print(f"fuzz: {watch.counts.total()} cases in {time.monotonic() - begun:.0f} s, seed {given.seed}: {each}")
    print(f"fuzz: {len(watch.findings)} findings", *(f"{n:6} x {kind}" for kind, n in watch.findings.items()), sep="\n")
    return 1 if watch.findings else 0


if __name__ == "__main__":
    sys.exit(main())
