"""The benchmark: every installed peer side by side with this package, and both beside the limit of the memory.

`matrix` says what is measured, `inputs` makes the arrays, `expected` knows the right answer, `peers` calls each library
the way its users do, `timing` holds the clock, `run` puts them together; `sizes` and `footprint` measure cost over size
and peak memory; `record` is the file a run leaves, `summary`, `markdown` and `charts` are what is read out of it, and
`publish` puts it into the documentation. `sessions` compares nodes inside onnxruntime, `answers` values, masks and NaN
policies with the plain argmax.
"""
