# The two targets that a reader needs are `make demo` and `make test`; `make help` lists the others.
# They need a Rust toolchain, Python 3.10 or later and access to the package registries.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TESTS ?= tests
# For `make bench`: the suite (matrix, memory, answers, scaling, top_k, sessions, preparing, gallery,
# gpu, large) and its options.
SUITE ?= matrix
BENCH ?= $(if $(filter matrix,$(SUITE)),--quick)
# For `make test-all`: names that `.ci/leg` lists.
LEGS ?= rust exhaustive deep files containers top-k coverage numpy floors newest mutants miri asan valgrind platforms browser gpu
# For `make fuzz`: how long, and which cases.
SECONDS ?= 60
SEED ?= $(shell date +%s)

OLDEST_RUST := $(shell sed -n 's/^rust-version = "\(.*\)"$$/\1/p' Cargo.toml)

# cargo must see the interpreter that pip builds with, or it compiles the binding a second time.
export PYO3_PYTHON := $(abspath $(BIN)/python)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tools are installed without bytecode: Python compiles what the tests import, once.
unexport PYTHONDONTWRITEBYTECODE

TWO := --no-print-directory --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync)

SOURCES := pyproject.toml $(wildcard Cargo.toml Cargo.lock README.md) $(shell find src native -type f \
	\( -name '*.py' -o -name '*.pyi' -o -name 'py.typed' -o -name '*.rs' -o -name 'Cargo.toml' \))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help toolchain install demo test test-rust test-all lint lint-crates lint-types lint-python lint-rust bench docs fuzz release-check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' Makefile

# Evaluated before the first command: one line says what is missing, before anything has changed.
toolchain:
	$(if $(shell $(PYTHON) -c 'import sys; print(sys.version_info >= (3, 10) or "")' 2>/dev/null),,$(error \
	extremum needs Python 3.10 or later, '$(PYTHON)' is not: install it from https://www.python.org, or name one: make PYTHON=python3.12))
	$(if $(shell cargo --version 2>/dev/null),,$(error \
	extremum needs a Rust toolchain, 'cargo' does not run: install one from https://rustup.rs and open a new shell))
	$(if $(shell $(PYTHON) -c 'import re, subprocess; \
	found = re.search(r"(\d+)\.(\d+)", subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout); \
	print(tuple(map(int, found.groups())) >= tuple(map(int, "$(OLDEST_RUST)".split("."))) or "")' 2>/dev/null),,$(error \
	extremum needs Rust $(OLDEST_RUST) or later, this is '$(shell rustc --version 2>/dev/null)': rustup update stable))

# The stamp files below record finished steps; delete .venv to start over.
$(BIN)/python: | toolchain
	$(PYTHON) -m venv $(VENV)

$(VENV)/.pip: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@touch $@

# Separate from the installation, so that the tools can be installed at the same time.
$(VENV)/.wheel: $(SOURCES) $(VENV)/.pip | toolchain
	rm -rf $(VENV)/wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(VENV)/wheel .
	@touch $@

$(VENV)/.installed: $(VENV)/.wheel
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps $(VENV)/wheel/*.whl
	$(BIN)/python -m pip install --quiet "$$(echo $(VENV)/wheel/*.whl)[cli]"
	@touch $@

$(VENV)/.tools: pyproject.toml $(VENV)/.pip
	$(BIN)/python -m pip install --quiet --no-compile --group dev
	@touch $@

install: $(VENV)/.installed ## build the release and install it into .venv

demo: install ## classify held-out digits with two real models
	$(BIN)/python examples/digits.py
	$(BIN)/extremum run examples/digits/classifier.onnx -i images=examples/digits/held_out.npz:images

# Two jobs at a time, because each leaves a core idle now and then.
test: | toolchain ## every check and every test; TESTS= picks some
	$(MAKE) $(TWO) test-rust $(VENV)/.wheel $(VENV)/.tools lint
	$(BIN)/python -m pytest -n 2 $(TESTS)

# The Rust tests run only with debug assertions; the Python tests run the release build.
test-rust:
	cargo test --quiet --profile checked --workspace --exclude extremum-python

test-all: test ## `make test` and the legs that run every night; LEGS= picks some, .ci/leg lists them
	$(MAKE) fuzz
	.ci/leg $(LEGS)

lint: lint-crates lint-types lint-rust lint-python ## formatting, lint and types

lint-types: $(VENV)/.installed $(VENV)/.tools
	$(BIN)/mypy

lint-python: $(VENV)/.installed $(VENV)/.tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --config-file= --cache-dir=/dev/null --strict tests/support/typed_uses.py
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-cache --no-logo

lint-crates:
	cargo fmt --all --check
	.ci/linked-crates --check

# In the release profile, so that build scripts and macros are compiled once for lint and wheel, and after the wheel: cargo
# runs one build of a profile at a time.
lint-rust: $(BIN)/python | $(VENV)/.wheel
	cargo clippy --quiet --release --workspace --all-targets -- -D warnings

bench: $(VENV)/.installed $(VENV)/.tools ## measure against every installed peer; BENCH= runs the full matrix, SUITE= another suite, SET= one instruction set
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m benchmarks $(addprefix --instruction-set ,$(SET)) $(SUITE) $(BENCH)

# Into an empty folder, so that no removed page remains.
docs: install ## build the site of the documentation into build/site; a warning is an error
	$(BIN)/python -m pip install --quiet --group docs
	rm -rf build/site build/doctrees
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --doctree-dir build/doctrees docs build/site

fuzz: $(VENV)/.installed $(VENV)/.tools ## hostile models, arrays and layouts for SECONDS=60; build/fuzz keeps what it finds
	EXTREMUM_SECONDS=$$(($(SECONDS) / 4)) EXTREMUM_SEED=$(SEED) \
		cargo test --quiet --release --package extremum-kernels --test random random_calls -- --nocapture
	$(BIN)/python tests/fuzz --seconds $$(($(SECONDS) * 3 / 4)) --seed $(SEED)

release-check: | toolchain $(BIN)/python ## rehearse a release: build, metadata, tests of what was built, docs; STEPS= picks some
	.ci/release-check $(STEPS)

clean: ## remove .venv and everything built
	rm -rf $(VENV) target build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
