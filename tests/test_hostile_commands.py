"""No model ends a command with a traceback, status 1 and nothing to show for it, or an unexpected exception."""

import faulthandler
from pathlib import Path

import pytest

import watched
from commands import run
from hostile_models import MODELS
from strategies import sometimes

# What each command reads and checks is the same in any form.
ONCE = ["run --random --json", "check --format github", "lower", "fix --diff"]
COMMANDS = [*ONCE, "run --random", "check", "lower --format cpp"]


def tour(folder, line):
    """Run a command on every hostile model."""
    path = Path(folder, "m.onnx")
    for name, make in MODELS.items():
        watched.say(name)
        proto = make()
        path.write_bytes(proto if isinstance(proto, bytes) else proto.SerializeToString())
        faulthandler.dump_traceback_later(240, exit=True)
        command, *words = line.split()
        status, out, err = run(command, path, *words)
        faulthandler.cancel_dump_traceback_later()
        assert all(text.isprintable() for text in f"{out}{err}".splitlines()), name
        assert "Traceback" not in out + err, name
        assert "unexpected" not in err, (name, err)
        assert status in (0, 1, 2), name
        assert status != 0 or not err, (name, err)
        assert status != 1 or "node[" in out + err, name
        assert status != 2 or err.count("\n") == 1, (name, err)


@pytest.mark.parametrize("line", sometimes(COMMANDS, ONCE))
def test_every_hostile_model(tmp_path, line):
    assert watched.call(tour, str(tmp_path), line, seconds=300).splitlines() == list(MODELS)
