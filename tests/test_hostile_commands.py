"""No model ends a command with a traceback, status 1 and nothing to show for it, or an unexpected exception."""

import pytest

from hostile_models import MODELS
from strategies import sometimes
from watched import run_watched

COMMANDS = [
    ("run", "--random"),
    ("run", "--random", "--json"),
    ("check",),
    ("check", "--format", "github"),
    ("lower",),
    ("lower", "--format", "cpp"),
    ("fix", "--diff"),
]


# What each command reads and checks is the same in any form.
ONCE = [("run", "--random", "--json"), ("check", "--format", "github"), ("lower",), ("fix", "--diff")]


@pytest.mark.parametrize("words", sometimes(COMMANDS, ONCE))
def test_every_hostile_model(tmp_path, words):
    assert run_watched("hostile_commands", tmp_path, *words) == list(MODELS)
