"""The hostile models, through the command line.

Run as a module, `hostile_commands.py FOLDER WORD...` ends at the first model of which a command says what it must not.
"""

import contextlib
import faulthandler
import io
import sys
from pathlib import Path

from extremum.cli import main
from hostile_models import MODELS
from watched import say


def outcome(words):
    """The exit status and what is written."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as end:
            return end.code, out.getvalue(), err.getvalue()


def judged(status, out, err):
    """What is wrong with an outcome, or nothing."""
    lines = f"{out}{err}".splitlines()
    if not all(line.isprintable() for line in lines):
        return "escapes are written"
    if "Traceback" in out + err or "unexpected" in err:
        return err
    if status == 1:
        return "" if "node[" in out + err else "findings that are not shown"
    if status == 2:
        return "" if len(err.splitlines()) == 1 else f"not one line: {err[:300]}"
    return "" if status == 0 and not err else f"status {status}: {err[:300]}"


def tour(folder, *words):
    for name, make in MODELS.items():
        say(name)
        proto = make()
        content = proto if isinstance(proto, bytes) else proto.SerializeToString()
        Path(folder, "m.onnx").write_bytes(content)
        faulthandler.dump_traceback_later(240, exit=True)
        wrong = judged(*outcome([words[0], str(Path(folder, "m.onnx")), *words[1:]]))
        if wrong:
            say(f"! {wrong}")
            sys.exit(1)
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    tour(*sys.argv[1:])
