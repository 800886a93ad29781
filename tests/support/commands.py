"""How a test runs the command line in its own process."""

import contextlib
import io

import pytest

from extremum.cli import main


def run(*words):
    """The exit status, and what is written to stdout and stderr."""
    out = io.StringIO()
    err = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as caught:
        main([str(word) for word in words])
    return caught.value.code, out.getvalue(), err.getvalue()


def printed(*words, status=0):
    """The output of a command, which must write nothing to stderr."""
    answer = run(*words)
    assert (answer[0], answer[2]) == (status, "")
    return answer[1]


def refused(*words):
    """The one line that refuses a command, without the program's name."""
    status, out, err = run(*words)
    assert (status, out, err[:10], err.count("\n")) == (2, "", "extremum: ", 1)
    return err[10:-1]


def tree(folder):
    """The files and folders below a folder, with what is in the files."""
    paths = ((path, path.relative_to(folder).as_posix()) for path in folder.rglob("*"))
    return {name: path.read_bytes() if path.is_file() else None for path, name in paths}
