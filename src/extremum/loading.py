"""Loads modules when they are first needed, from any thread, and makes a fork wait for them.

Python keeps a module's import lock in a child that was forked while another thread imported the module; the child would
wait for a thread that it does not have.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from threading import RLock
from typing import Any

LOCK = RLock()
"""Held while a module is loaded."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


def load_module(name: str) -> Any:
    """Return a module, and load it if necessary."""
    with LOCK:
        return import_module(name)


def attribute(module: str, name: str) -> Any:
    """Return an attribute of a module; None if the module is not loaded, or not loaded that far."""
    return getattr(sys.modules.get(module), name, None)
