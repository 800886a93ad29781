"""NumPy's namespace with this package's functions in it; the array API's own test suite runs on it."""

import types

import numpy as np

import extremum as ex

NAMES = ("argmax", "argmin", "max", "min", "maximum", "minimum")

xp = types.ModuleType("extremum_in_numpy")
vars(xp).update({name: getattr(np, name) for name in dir(np) if not name.startswith("__") or "array" in name})
vars(xp).update({name: getattr(ex, name) for name in NAMES})
