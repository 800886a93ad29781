"""The benchmarks run end to end on small arrays, never time a wrong answer, and fill the page. No time is asserted."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import bare, matrix, peers, report, run

ROOT = Path(__file__).resolve().parent.parent
SUITES = {
    "memory": ["--kilobytes", "256", "--seconds", "0.001"],
    "answers": ["--megabytes", "1", "--filter", "rows of 4$", "--seconds", "0.001"],
    "scaling": ["--filter", "^maximum$", "--seconds", "0.001"],
    "sessions": ["--filter", "^(ArgMax<axis=0>|Max-13)", "--seconds", "0.001"],
    "large": ["chunks", "--most", "100"],
    "gallery": ["--filter", "torch/(greedy|first_of_bool)", "--seconds", "0.001"],
    "top_k": ["--filter", "^64,", "--seconds", "0.001"],
}


def printed(*commands):
    """The output of commands in one process of their own, which keeps to some processors and an instruction set."""
    program = f"from benchmarks.__main__ import bench\nfor words in {commands}: bench(words, standalone_mode=False)"
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT).stdout


def test_the_suites_are_listed_without_their_libraries():
    program = "import sys; sys.modules['torch'] = None\nfrom benchmarks.__main__ import bench\nbench(['--help'])"
    text = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=ROOT).stdout
    assert all(name in text for name in ("matrix", "gallery", "gpu", "large", "top_k"))


def test_a_run_compares_answers_and_fills_the_page(tmp_path):
    record = tmp_path / "bench.json"
    page = tmp_path / "performance.md"
    words = ["matrix", "--filter", "argmax/(float32|int8)/.(1024|1048576)./axis=all", "--time-per-case", "0.001"]
    printed([*words, "-o", str(record)])
    assert [case["name"] for case in json.loads(record.read_text(encoding="utf-8"))["cases"]] == [
        f"argmax/{element}/({size})/axis=all/{end}"
        for size in (1024, 1048576)
        for end in ("first", "last")
        for element in ("float32", "int8")
    ]
    page.write_text((ROOT / "docs" / "performance.md").read_text(encoding="utf-8"), encoding="utf-8")
    written = report.publish([record], tmp_path)
    assert {path.name for path in written} == {"performance.md", "speed.png", "speed-threads-1.svg"}
    text = page.read_text(encoding="utf-8")
    assert "| full, last index | 4 |" in text
    marked = re.findall(r"<!-- bench: ([a-z ]+) -->", text)
    assert marked == re.findall(r"<!-- /bench: ([a-z ]+) -->", text)
    assert set(marked) == {*report.SECTIONS, "instruction sets", "memory", "top k"} - {"every case"}


def test_every_suite_prints_its_table():
    text = printed(*([suite, *words] for suite, words in SUITES.items()))
    assert len(re.findall(r"^\| --- \|.*\n\| ", text, re.MULTILINE)) >= len(SUITES)


@pytest.mark.parametrize(
    ("shape", "axis"), [((1 << 16,), 0), ((1 << 12, 16), 1), ((32, 1 << 14), 0), ((8, 16, 256), 1)]
)
def test_a_bare_loop_reads_to_the_end_and_writes_as_many_bytes_as_results(shape, axis):
    results = 8 * np.empty(shape)[(slice(None),) * axis + (0,)].size
    x = np.zeros(shape, np.uint8)
    x.flat[-256:] = 7
    call = bare.loop(x, axis, results)
    call()
    _, out = call.args[0]._obj.memory
    assert out.size == results
    # What is read last is written last; vectors are aligned, so that the last bytes of both may be left out.
    assert results < 256 or 7 in out[-256:]
    x[...] = 7
    call()
    assert np.count_nonzero(out == 7) >= results * 0.9 - 128


def test_a_wrong_answer_stops_the_run_or_leaves_the_peer_out():
    case = matrix.Case("full", "argmax", "float32", (257,))

    def measured(*contenders):
        return run.measure_case(case, contenders, 1e-4)

    def wrong(name):
        return peers.Contender(name, "0", lambda case, arrays: peers.Prepared(lambda: np.argmax(arrays[0]) + 1))

    with pytest.raises(ArithmeticError, match="gives a wrong result"):
        measured(wrong(peers.OURS))
    result = measured(*peers.installed(1, [peers.OURS]), wrong("wrong"))
    assert (result["wrong"], list(result["seconds"])) == (["wrong"], [peers.OURS])
