"""A sample of the random files, always the same one; `.ci/leg files` makes more."""

import random_files


def test_files_of_every_format_give_what_the_oracle_finds():
    assert random_files.run(calls=30, seed=1000) > 150
