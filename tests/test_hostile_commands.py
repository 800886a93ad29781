"""No model ends a command with a traceback, status 1 and nothing to show for it, or an unexpected exception."""

import pytest

from hostile_models import MODELS
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


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_hostile_model(tmp_path, words):
    assert run_watched("hostile_commands", tmp_path, *words) == list(MODELS)
