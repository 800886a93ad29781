"""The file of an output: a name for every name that a model may give one.

Decides which characters stand for themselves, so that two outputs of a model never share a file: not on a file system
that does not tell ``A`` from ``a``, and not where names are short.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from urllib.parse import quote

__all__ = ["file_names"]

# Below the 255 bytes of most file systems, the ending included.
_LONGEST = 200

# Windows has devices of these names in every folder, whatever the ending.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{device}{digit}" for device in ("com", "lpt") for digit in "0123456789")]
)


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Return the name of a .npy file for each name."""
    encoded = {name: _encoded(name) for name in names}
    count = Counter(each.lower() for each in encoded.values())
    return {name: _cut(_spelt(each) if count[each.lower()] > 1 else each) + ".npy" for name, each in encoded.items()}


def _encoded(name: str) -> str:
    # A plus sign is never left as it is, so it marks what is no encoding.
    text = quote(name.encode("utf-8", "surrogatepass"), safe="") or "+"
    # Hidden, and names of this package begin so.
    if text.startswith(".") or text.partition(".")[0].lower() in _DEVICES:
        text = f"%{ord(text[0]):02X}{text[1:]}"
    return text


def _spelt(encoded: str) -> str:
    """Return a name in which no two letters differ in their case alone."""
    parts = encoded.split("%")
    # Two digits follow each percent sign.
    spelt = [parts[0], *(part[2:] for part in parts[1:])]
    spelt = ["".join(f"%{ord(each):02X}" if each.isupper() else each for each in part) for part in spelt]
    return spelt[0] + "".join(f"%{part[:2]}{text}" for part, text in zip(parts[1:], spelt[1:], strict=True))


def _cut(encoded: str) -> str:
    if len(encoded) <= _LONGEST:
        return encoded
    return f"{encoded[: _LONGEST - 33]}+{hashlib.sha256(encoded.encode()).hexdigest()[:32]}"
