"""Fuzzing of everything that reads a file: ``python tests/fuzz --seconds 60``.

A child does the work and is watched: a crash, a case that takes too long or too much memory, and an exception that is
not the package's are findings, and their input is kept. The cases of a seed are the same every time: a finding names
the one that repeats it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import psutil

CPU_SECONDS = 20
WALL_SECONDS = 120
RESIDENT = 6 << 30


class Watch:
    """Starts children one after the other, and collects what they find."""

    def __init__(self, given):
        self.given = given
        self.counts, self.answered, self.findings = Counter(), Counter(), {}
        self.kept = Path(given.keep)

    def run(self):
        """Work until the time or the cases are used up; the number of the next case."""
        number, end = self.given.first, time.time() + self.given.seconds
        last = self.given.first + self.given.cases
        while number < last and time.time() < end:
            number = self.child(number, last - number, end)
        return number

    def child(self, first, count, end):
        """Watch one child to its end; the number that the next begins with."""
        with tempfile.TemporaryDirectory() as folder:
            status, log = Path(folder, "status"), Path(folder, "log")
            words = [str(Path(__file__).parent), "--child", str(status), "--seed", str(self.given.seed)]
            words += ["--first", str(first), "--cases", str(count), "--until", str(end)]
            words += ["--targets", self.given.targets]
            with log.open("wb") as errors:
                process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=errors)
            reader = threading.Thread(target=self.read, args=(process.stdout,))
            reader.start()
            verdict = self.watch(process, status)
            reader.join()
            at = json.loads(status.read_text()) if status.exists() and status.stat().st_size else [-1, "", ""]
            if process.returncode == 0 and verdict is None:
                return max([first, *(n + 1 for n in self.seen)]) if at[0] < 0 else first + count
            if at[0] < 0:
                raise SystemExit(f"the child did not start:\n{log.read_text(errors='replace')[-3000:]}")
            verdict = verdict or f"ended with {process.returncode}"
            files = {path.name: path.read_bytes().hex() for path in Path(at[2]).glob("*") if path.is_file()}
            text = f"{verdict}\n{log.read_text(errors='replace')[-3000:]}"
            self.found(
                {"number": at[0], "target": at[1], "finding": f"{at[1]} {verdict}", "text": text, "files": files}
            )
            return at[0] + 1

    def read(self, lines):
        """Take the child's lines."""
        self.seen = [-1]
        for line in lines:
            result = json.loads(line)
            self.seen.append(result["number"])
            self.counts[result["target"]] += 1
            self.answered[result["target"]] += result["answered"]
            if "finding" in result:
                self.found(result)

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

    def found(self, result):
        """Keep the first of each kind."""
        kind, files = result["finding"], result["files"]
        if kind not in self.findings:
            place = self.kept / f"{result['target']}-{self.given.seed}-{result['number']}"
            place.mkdir(parents=True, exist_ok=True)
            for name, data in files.items():
                (place / name).write_bytes(bytes.fromhex(data))
            (place / "finding.txt").write_text(f"{kind}\n{result['text']}\n")
            again = f"{sys.executable} {Path(__file__).parent} --seed {self.given.seed} --targets {self.given.targets}"
            again += f" --first {result['number']} --cases 1"
            print(f"FOUND {kind}\n  kept  {place}\n  again {again}", flush=True)
        self.findings[kind] = self.findings.get(kind, 0) + 1


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
        from worker import work

        names = given.targets.split(",")
        work(given.seed, given.first, given.cases, given.until, names, given.child)
        return 0
    watch, begun = Watch(given), time.monotonic()
    watch.run()
    each = ", ".join(f"{name} {count} ({watch.answered[name]} answered)" for name, count in watch.counts.items())
    print(f"fuzz: {watch.counts.total()} cases in {time.monotonic() - begun:.0f} s, seed {given.seed}: {each}")
    print(f"fuzz: {len(watch.findings)} findings", *(f"{n:6} x {kind}" for kind, n in watch.findings.items()), sep="\n")
    return 1 if watch.findings else 0


if __name__ == "__main__":
    sys.exit(main())
