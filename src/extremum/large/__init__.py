"""Files that are larger than memory, read a piece at a time.

A source is a file that holds an array; a job computes pieces of results from pieces of sources, within a limit of
memory. The caller writes the pieces.
"""
