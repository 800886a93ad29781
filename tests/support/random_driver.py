"""The command line of a random driver: how many calls, and from which seed on."""

import argparse
import os
import sys


def main(description, run, agreement, **options):
    """Make the calls that the command line names; `agreement` says what the compared results are.

    `options` are more options of the driver, each with its choices.
    """
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3)))
    for name, choices in options.items():
        parser.add_argument(f"--{name}", choices=choices)
    given = parser.parse_args()
    compared = run(**vars(given))
    sys.stdout.write(f"{given.calls} calls from seed {given.seed}: {compared} {agreement}\n")
