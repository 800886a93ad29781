"""What valgrind reports: a finding where code of this package is in the stack, else CPython's or NumPy's own."""

import sys
from xml.etree import ElementTree

OURS = "_native.abi3.so"


def main(path):
    """Print the findings and return how many there are."""
    # The XML lists leaks whether requested or not. Modules that a call imports live to the end, which is not a leak;
    # tests/test_leaks.py checks that repeated calls keep nothing.
    errors = [
        error
        for error in ElementTree.parse(path).getroot().findall("error")
        if not (error.findtext("kind") or "").startswith("Leak_")
    ]
    ours = [error for error in errors if any(OURS in (at.text or "") for at in error.iter("obj"))]
    for error in ours:
        print(error.findtext("kind"), error.findtext("what") or error.findtext("xwhat/text"))
        for frame in error.find("stack"):
            print(
                "   ", frame.findtext("fn"), f"{frame.findtext('file')}:{frame.findtext('line')}", frame.findtext("obj")
            )
    print(f"valgrind: {len(ours)} findings of ours, {len(errors) - len(ours)} of others")
    return len(ours)


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1])))
