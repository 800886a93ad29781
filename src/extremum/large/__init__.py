"""Files that are larger than memory: what is read of them at a time, and what becomes of it.

A source is a file that holds an array; a job makes pieces of a result of pieces of sources, within a limit of memory.
Where the pieces of the result go is the caller's.
"""
