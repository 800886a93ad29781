# The two targets a reader needs are `make demo` and `make test`; `make help` lists the others.
# They need a Rust toolchain, Python 3.10 or later and access to the package registries.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TESTS ?= tests
BENCH ?= --quick
# For `make fuzz`: how long, and which cases.
SECONDS ?= 60
SEED ?= $(shell date +%s)

OLDEST_RUST := $(shell sed -n 's/^rust-version = "\(.*\)"$$/\1/p' Cargo.toml)

# cargo must see the interpreter that pip builds with, or it compiles the binding a second time.
export PYO3_PYTHON := $(abspath $(BIN)/python)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

SOURCES := pyproject.toml $(wildcard Cargo.toml Cargo.lock README.md) $(shell find src native -type f \
	\( -name '*.py' -o -name '*.pyi' -o -name 'py.typed' -o -name '*.rs' -o -name 'Cargo.toml' \))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help toolchain venv install tools demo test lint lint-python lint-rust test-rust test-python test-deep \
	test-exhaustive bench bench-sessions conformance clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' Makefile

# Evaluated before the first command: what is missing is said in one line, and nothing has been touched.
toolchain:
	$(if $(shell $(PYTHON) -c 'import sys; print(sys.version_info >= (3, 10) or "")' 2>/dev/null),,$(error \
	extremum needs Python 3.10 or later, '$(PYTHON)' is not: install it from https://www.python.org, or name one: make PYTHON=python3.12))
	$(if $(shell cargo --version 2>/dev/null),,$(error \
	extremum needs a Rust toolchain, 'cargo' does not run: install one from https://rustup.rs and open a new shell))
	$(if $(shell $(PYTHON) -c 'import re, subprocess; \
	found = re.search(r"(\d+)\.(\d+)", subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout); \
	print(tuple(map(int, found.groups())) >= tuple(map(int, "$(OLDEST_RUST)".split("."))) or "")' 2>/dev/null),,$(error \
	extremum needs Rust $(OLDEST_RUST) or later, this is '$(shell rustc --version 2>/dev/null)': rustup update stable))

# The stamps below say what is done; delete .venv to start over.
$(BIN)/python: | toolchain
	$(PYTHON) -m venv $(VENV)

$(VENV)/.pip: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.installed: $(SOURCES) $(VENV)/.pip | toolchain
	$(BIN)/python -m pip install --quiet '.[cli]'
	@touch $@

$(VENV)/.tools: pyproject.toml $(VENV)/.pip
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

venv: $(VENV)/.pip ## create .venv
install: $(VENV)/.installed ## build the release and install it into .venv
tools: $(VENV)/.tools ## install the test and lint tools into .venv

demo: install ## classify held-out digits with two real models
	$(BIN)/python examples/digits.py
	$(BIN)/extremum run examples/digits/classifier.onnx -i images=examples/digits/held_out.npz:images

test: lint test-rust test-python ## every check and every test

lint: lint-python lint-rust ## formatting, lint and types

lint-python: install tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy --config-file= --strict tests/typed_uses.py
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-cache --no-logo

# In the release profile, so that build scripts and macros are compiled once for lint, tests and wheel.
lint-rust: | toolchain $(BIN)/python
	cargo fmt --all --check
	.ci/linked-crates --check
	cargo clippy --quiet --release --workspace --all-targets -- -D warnings

test-rust: | toolchain $(BIN)/python ## the kernels' own tests
	cargo test --quiet --release --workspace
	cargo test --quiet --profile checked --package extremum-kernels

test-python: install tools ## the tests of the installed package
	$(BIN)/python -m pytest -n 2 $(TESTS)

test-deep: install tools ## a million results held to the laws, other ones each time, in a quarter of an hour
	$(BIN)/python -m pytest -n 2 --hypothesis-profile=deep tests/test_laws*.py

test-exhaustive: install tools ## every size around every block edge, every short row, every pair of 16-bit elements
	$(BIN)/python -m pytest -n 2 -m exhaustive $(TESTS)

.PHONY: library
# For the wheel the same operators are in the module: whoever has Python needs no other file.
library: | toolchain ## build the operators for hosts of ONNX Runtime without Python, and say where the file is
	cargo build --release --locked --package extremum-onnxruntime
	@ls $(abspath $(or $(CARGO_TARGET_DIR),target))/release/*extremum_onnxruntime.* | grep -E '[.](so|dylib|dll)$$'

.PHONY: test-floors test-newest

# The same wheel for every Python: its ABI is the stable one.
$(VENV)/.wheel: $(SOURCES) $(VENV)/.pip | toolchain
	rm -rf $(VENV)/wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(VENV)/wheel .
	@touch $@

$(BIN)/uv: $(VENV)/.pip
	$(BIN)/python -m pip install --quiet 'uv>=0.7'
	@touch $@

test-floors: $(VENV)/.wheel $(BIN)/uv ## the tests with the lowest of every dependency, on Python 3.10 and on the newest
	ENVIRONMENTS=$(VENV) UV=$(BIN)/uv .ci/test-dependencies lowest-direct $(VENV)/wheel/*.whl $(TESTS)

test-newest: $(VENV)/.wheel $(BIN)/uv ## the same with the highest of every dependency
	ENVIRONMENTS=$(VENV) UV=$(BIN)/uv .ci/test-dependencies highest $(VENV)/wheel/*.whl $(TESTS)

.PHONY: test-torch

test-torch: install tools ## arrays of PyTorch, which this installs
	$(BIN)/python -m pip install --quiet torch
	$(BIN)/python -m pytest -n 2 tests/test_interop.py tests/test_coming_from.py

.PHONY: test-numpy test-array-api

test-numpy: install tools ## NumPy's own tests of max, argmax, nanmax, maximum and their like, on our functions
	$(BIN)/python tests/numpy_suite.py

test-array-api: install tools ## the same with the array API's, of which SUITE= is a checkout with its submodule
	$(BIN)/python -m pip install --quiet ndindex pytest-json-report
	cd $(SUITE) && ARRAY_API_TESTS_MODULE="exec('import sys; sys.path.append(\"$(CURDIR)/tests\"); from array_api_namespace import xp')" \
		$(abspath $(BIN))/python -m pytest -q -W ignore -p no:cacheprovider --disable-deadline array_api_tests \
		-k 'argmax or argmin or test_max or test_min or maximum or minimum'

.PHONY: mutants coverage coverage-kernels

mutants: install tools ## change expressions of the kernels and of one file of the package: each has to turn a test red
	.ci/mutants rust
	.ci/mutants python

coverage: install tools ## which lines of the package the tests run
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 2 -q $(TESTS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

coverage-kernels: install tools ## which lines of native/ they run; needs rustup component add llvm-tools
	.ci/coverage-kernels $(BIN)/python $(TESTS)

.PHONY: test-miri test-asan test-valgrind test-platforms fuzz

# Each says in a line what it needs; CALLS= and SEED= say how much of what.
test-miri: | toolchain ## the kernels' tests under Miri: aliasing, bounds, initialisation; needs rustup
	tests/proof/miri.sh

test-asan: install tools ## 500,000 random calls with AddressSanitizer (CALLS=); needs rustup and gcc
	tests/proof/asan.sh

test-valgrind: install tools ## 3,000 random calls under valgrind (CALLS=)
	tests/proof/valgrind.sh

test-platforms: | toolchain ## the kernels' tests on AArch64, s390x and i686, emulated; needs cross compilers and qemu
	tests/proof/platforms.sh

fuzz: install tools ## hostile models, arrays and layouts for SECONDS=60; what finds something is kept in build/fuzz
	EXTREMUM_SECONDS=$$(($(SECONDS) / 4)) EXTREMUM_SEED=$(SEED) \
		cargo test --quiet --release --package extremum-kernels --test random -- --nocapture
	$(BIN)/python tests/fuzz --seconds $$(($(SECONDS) * 3 / 4)) --seed $(SEED)

bench: install ## measure against every installed peer; BENCH= measures everything
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m benchmarks $(BENCH)

bench-sessions: install ## measure converted nodes beside onnxruntime's own; SESSIONS=--publish keeps the figures
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m benchmarks.sessions $(SESSIONS)

.PHONY: bench-large
bench-large: install tools ## measure chunked arrays and files larger than memory; LARGE=virtual, or files FOLDER, needs room
	$(BIN)/python -m benchmarks.large $(LARGE)

.PHONY: bench-prepare
bench-prepare: install ## measure how long a large model takes to open, and how much memory, beside onnxruntime
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m benchmarks.preparing

.PHONY: bench-answers
bench-answers: install ## measure values, masks and NaN policies beside the plain argmax; ANSWERS=--calls measures small calls
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m benchmarks.answers $(ANSWERS)

.PHONY: bench-threads
bench-threads: install ## measure what 2, 4, ... threads bring over one, and say by a model what more would; SCALING= picks kinds and seconds
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m benchmarks.scaling $(SCALING)
	$(BIN)/python -m benchmarks.saturation

# In an environment of their own: the runtimes want other versions of what they share than the tests do.
conformance: toolchain ## ask every runtime what it answers, and write docs/conformance.md anew
	$(PYTHON) -m venv build/conformance
	build/conformance/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	build/conformance/bin/python -m pip install --quiet '.[cli]' --group conformance
	build/conformance/bin/extremum conformance run --json > build/conformance.json || test $$? -eq 1
	build/conformance/bin/extremum conformance card build/conformance.json --json > docs/conformance.json
	rm -f docs/charts/conformance.png
	cd docs && ../build/conformance/bin/extremum conformance card conformance.json \
		--picture charts/conformance.png > conformance.md

.PHONY: docs docs-serve docs-check
# What is installed already, else the one that Playwright brings.
BROWSER ?= $(shell command -v chromium || command -v google-chrome)

# From a folder that is made anew: what a page no longer says is nowhere.
docs: install ## build the site of the documentation into build/site; a warning is an error
	$(BIN)/python -m pip install --quiet --group docs
	rm -rf build/site build/doctrees
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --doctree-dir build/doctrees docs build/site

docs-serve: docs ## build it and show it on http://localhost:8000
	$(BIN)/python -m http.server --directory build/site --bind 127.0.0.1 8000

docs-check: docs ## load every page in a browser, on a desktop and a phone; pictures are in build/pictures
	$(BIN)/python -m pip install --quiet --group browser
	$(if $(BROWSER),,$(BIN)/python -m playwright install chromium)
	$(BIN)/python docs/browse.py build/site build/pictures $(BROWSER)

.PHONY: release-check
release-check: | toolchain $(BIN)/python ## rehearse a release: build, metadata, tests of what was built, docs; STEPS= picks some
	.ci/release-check $(STEPS)

clean: ## remove .venv and everything built
	rm -rf $(VENV) target build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
