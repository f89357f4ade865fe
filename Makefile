# netloom: `make demo` and `make test`; both begin with `make build`. Everything that Python needs lands in .venv;
# CONTRIBUTING.md says what the other targets are for.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
RUST_NEEDED := 1.88
PYTEST_JOBS ?= 2
# What `make build` installs; exact, networkx and pandas come with what the tests need.
EXTRAS := plot arrow scipy
ifeq ($(origin CC),default)
CC := cc
endif
FUZZ_SECONDS ?= 60
# How often `make scale` sends SIGTERM to a command; 50 for the whole campaign.
MOMENTS ?= 10

# The first interpreter that is new enough; `make PYTHON=…` overrides.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && { echo $$p; break; }; done)
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
unexport CONDA_PREFIX
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
# Lints and tests are of one set of packages, and so of features: they share what they compile.
CARGO_SET := --locked --workspace --quiet
PYTEST := $(BIN)/python -m pytest -n $(PYTEST_JOBS) --dist worksteal
# What failed beside other tests, a test a line; what of it failed again when it ran alone.
FAILED := build/failed
BUDGET := 9 minutes and 1,050 CPU s on 2 quiet cores, from a fresh clone
RECORDER := python/netloom/native/libnetloom_record.so python/netloom/native/libnetloom_events.so
DATAPLANE := python/netloom/native/dataplane
DATAPLANE_SOURCES := $(wildcard dataplane/*.h dataplane/bpf/* dataplane/p4/*)
NCCL := python/netloom/native/libnetloom_nccl.so
NATIVE := $(RECORDER) $(NCCL) $(DATAPLANE)/.copied
RECORDER_SOURCES := $(wildcard native/recorder/*)

.PHONY: build native wheels demo check test lint lint-rust lint-python fmt test-rust test-python test-exec bench study scale validate inferred hostile man site lock fuzz clean need
.DEFAULT_GOAL := build

build: $(VENV)/.built $(NATIVE) ## .venv/bin/netloom
	@echo 'netloom is in $(BIN)/netloom: try `make demo`, or `$(BIN)/netloom --help`'

native: $(NATIVE)

wheels: | need ## dist/netloom_hpc-*.whl and their sums, the same bytes from the same commit (docs/release.md)
	@contrib/wheels/build.sh $(TARGETS)

demo: build ## real dump and real traffic in, table, picture and routes out
	@$(BIN)/netloom demo

check: $(VENV)/.dev ## formats, lints and tests of what changed since the last commit that passed `make test`
	@cargo run --locked --quiet -p xtask -- check $(BIN)

# Rust's lints and tests run beside the extension's build and what is tested from Python: two cores have work
# until the end. What Rust prints is told when it has ended, and after it which Python tests failed.
test: ## make build, then all lints and all tests
	@SECONDS=0; $(MAKE) $(VENV)/.dev; mkdir -p build; rm -f $(FAILED)*; failed=0; \
	$(MAKE) lint-rust test-rust >build/test-rust.log 2>&1 & rust=$$!; \
	$(MAKE) build lint-python test-python || failed=1; \
	wait $$rust || failed=1; \
	cat build/test-rust.log; \
	times >build/times; took=$$SECONDS; \
	awk -v took=$$took -F '[ms ]' 'NR == 2 { cpu = 60 * ($$1 + $$4) + $$2 + $$5 } \
	    END { printf "make test: %d min %02d s, %d CPU s (budget: $(BUDGET))\n", took / 60, took % 60, cpu }' build/times; \
	if [ -s $(FAILED) ]; then sed 's/^/failed beside other tests: /' $(FAILED); fi; \
	if [ -s $(FAILED)-alone ]; then sed 's/^/failed alone too: /' $(FAILED)-alone; fi; \
	[ $$failed = 0 ] || { echo 'make test: FAILED' >&2; exit 1; }; \
	cargo run --locked --quiet -p xtask -- stamp

lint: lint-rust lint-python ## formatting, clippy, tidy, ruff, mypy, stubs

lint-rust: $(VENV)/.tools
	cargo fmt --all --check
	cargo clippy $(CARGO_SET) --all-targets -- -D warnings
	cargo run --locked --quiet -p xtask -- tidy

lint-python: $(VENV)/.dev $(VENV)/.built $(NATIVE)
	$(BIN)/ruff check --quiet python tests
	$(BIN)/ruff format --check --quiet python tests
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest --mypy-config-file pyproject.toml --concise netloom._core

fmt: $(VENV)/.dev ## formats what `make lint` checks
	cargo fmt --all
	$(BIN)/ruff check --fix --quiet python tests
	$(BIN)/ruff format --quiet python tests

test-rust: $(VENV)/.tools
	cargo test $(CARGO_SET) --tests

# On a busy machine a test may run out of a limit of its own. What failed runs once more without others beside it,
# and fails the run if it fails again; both are told, so that a test of the first kind is seen and mended.
LAST_FAILED := $(BIN)/python -c 'import json; print(*json.load(open(".pytest_cache/v/cache/lastfailed")), sep="\n")'
test-python: $(VENV)/.dev $(VENV)/.built $(NATIVE)
	@mkdir -p build; rm -rf $(FAILED)* .pytest_cache; $(PYTEST) || { \
	    $(LAST_FAILED) >$(FAILED) && echo 'what failed runs once more, one test after the other' && \
	    xargs -d '\n' -a $(FAILED) $(BIN)/python -m pytest || { $(LAST_FAILED) >$(FAILED)-alone; false; }; }

test-exec: $(VENV)/.dev $(VENV)/.built $(NATIVE) ## the Python tests with a process of its own for every command (`make test` forks one)
	NETLOOM_TEST_EXEC=1 $(PYTEST)

bench: $(VENV)/.built $(NATIVE) ## the table of what must be fast, into docs/benchmarks.md; what recording costs
	cargo build --locked --release --quiet -p netloom-benches
	@cargo run --locked --release --quiet -p netloom-benches -- --netloom $(BIN)/netloom --write docs/benchmarks.md $(FAMILIES)
	@$(BIN)/python benches/recorder.py

study: | need ## what the optimiser must show (minutes, on a quiet machine), into docs/methods/optimizer.md
	cargo build --locked --release --quiet -p netloom-benches
	@cargo run --locked --release --quiet -p netloom-benches -- study --write docs/methods/optimizer.md $(FAMILIES)

PEERS ?= peers
peers: $(VENV)/.built ## beside other simulators, built from the source folders in PEERS=FOLDER (many minutes, on a quiet machine), into docs/benchmarks.md
	$(BIN)/python benches/peers --netloom $(BIN)/netloom --peers $(PEERS) --write docs/benchmarks.md

scale: $(VENV)/.built ## every verb as a command on trees of 1k to 65k hosts (hours), into docs/scale.md; SCALE='--sizes 1k,4k' for a part
	$(BIN)/python benches/scale.py --netloom $(BIN)/netloom --write docs/scale.md $(SCALE)
	$(BIN)/python benches/term.py --netloom $(BIN)/netloom --moments $(MOMENTS)

validate: | need ## the simulator beside the dissertation's chapter 5 (many minutes), into docs/methods/simulator.md
	cargo build --locked --release --quiet -p netloom-benches
	@cargo run --locked --release --quiet -p netloom-benches -- validate --write docs/methods/simulator.md $(FAMILIES)

inferred: | need ## traffic from counters: errors, how well they are known, routes (many minutes), into docs/methods/inference.md
	cargo build --locked --release --quiet -p netloom-benches
	@cargo run --locked --release --quiet -p netloom-benches -- inferred --write docs/methods/inference.md $(FAMILIES)

TRIALS ?= 2000
hostile: $(VENV)/.dev $(VENV)/.built ## the property tests over TRIALS (2000) random cases each instead of a few: what goes on looking for lies
	NETLOOM_TRIALS=$(TRIALS) cargo test $(CARGO_SET) --tests hostile
	NETLOOM_TRIALS=$(TRIALS) NETLOOM_KILLS=20 NETLOOM_RUNS=100000 $(BIN)/python -m pytest -q -k 'hostile or rank_that_is_killed' tests
	NETLOOM_PLANAR=1 $(BIN)/python -m pytest -q -m opensm tests

man: $(VENV)/.dev $(VENV)/.built ## manual pages, into build/man
	$(BIN)/python -m netloom.cli.parser.manual build/man

# In a terminal of 100 columns; every warning of Sphinx is an error: dead links, names that are not there.
site: $(VENV)/.site $(VENV)/.built ## the documentation as a site, into build/site/html
	@COLUMNS=100 $(BIN)/python docs/site/stage.py build/site/source
	@$(BIN)/python -m sphinx -q -W --keep-going -j 2 -c docs/site build/site/source build/site/html
	@echo 'The site is in build/site/html: open build/site/html/index.html'

lock: $(VENV)/.tools ## constraints.txt: the newest Python packages that pyproject.toml allows; run the tests after it
	@PIP_CONSTRAINT= $(BIN)/python -m pip install uv
	@head -n 2 constraints.txt > constraints.new
	@$(BIN)/uv pip compile --upgrade --universal --python-version 3.10 --group dev --group site $(EXTRAS:%=--extra %) --extra exact --no-annotate --no-header --quiet pyproject.toml >> constraints.new
	@mv constraints.new constraints.txt && git diff --stat constraints.txt

fuzz: | need ## every parser for FUZZ_SECONDS (60) seconds
	fuzz/run.sh $(FUZZ_SECONDS)

clean: ## back to a fresh clone, the virtual environment included
	cargo clean --quiet
	rm -rf $(VENV) fuzz/target build dist demo-output .pytest_cache .mypy_cache .ruff_cache python/netloom/*.so python/netloom/native/*.so
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +

# What must be on the machine. One line each, and what to do about it.
need:
	@miss() { echo "netloom: $$1 is missing: $$2" >&2; exit 1; }; \
	command -v cargo >/dev/null || miss "Rust (cargo)" "install it from https://rustup.rs (version $(RUST_NEEDED) or newer), then open a new shell"; \
	have=$$(cargo --version | sed -E 's/^cargo ([0-9]+\.[0-9]+).*/\1/'); \
	printf '%s\n' $(RUST_NEEDED) "$$have" | sort -CV || miss "Rust $(RUST_NEEDED) or newer" "this is $$have; run 'rustup update stable'"; \
	command -v cc >/dev/null || miss "a C compiler (cc), which Rust links with" "apt install build-essential"; \
	[ -n "$(PYTHON)" ] || miss "Python 3.10 or newer" "apt install python3 python3-venv, or say where it is: make PYTHON=/path/to/python3"; \
	$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || miss "Python's venv module" "apt install python3-venv"

# Stamps: a target runs again only when what it rests on changed.
$(VENV)/.tools: pyproject.toml constraints.txt | need
	@echo 'Making $(VENV) …'
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --upgrade 'pip>=25.1' 'maturin>=1.9,<2'
	@touch $@

$(VENV)/.dev: $(VENV)/.tools
	@echo 'Installing what the tests use …'
	@$(BIN)/python -m pip install --group dev
	@touch $@

$(VENV)/.site: $(VENV)/.tools
	@echo 'Installing what the site is made with …'
	@$(BIN)/python -m pip install --group site
	@touch $@

# The library that `netloom record` preloads (docs/decisions/0023-c-of-our-own.md).
# Two of one source: what counts only has nothing of events in it.
RECORDER_CC = mkdir -p build/$(*F) $(@D); $(PYTHON) native/recorder/wrappers.py build/$(*F) $(WRAPPERS); \
	$(CC) -O2 -g0 -shared -fPIC -ftls-model=initial-exec -fvisibility=hidden -Wall -Wextra -Werror -Ibuild/$(*F) \
	$(DEFINE) native/recorder/record.c -o $@ -ldl -lpthread

python/netloom/native/libnetloom_events.so: WRAPPERS := events
python/netloom/native/libnetloom_events.so: DEFINE := -DEVENTS=1
$(RECORDER): python/netloom/native/lib%.so: $(RECORDER_SOURCES) | need
	@$(RECORDER_CC)

# The plug-in that NCCL loads, and keeps what it counted when NCCL unloads it (docs/decisions/0062-nccl-is-recorded-by-its-own-interface.md).
$(NCCL): native/nccl/profiler.c | need
	@mkdir -p $(@D) && $(CC) -O2 -g0 -shared -fPIC -fvisibility=hidden -Wall -Wextra -Werror $< -o $@ -lpthread -Wl,-z,nodelete

# What wheels bring to compile where it runs (docs/decisions/0030-bpf-programs-are-compiled-where-they-run.md).
$(DATAPLANE)/.copied: $(DATAPLANE_SOURCES)
	@rm -rf $(@D) && mkdir -p $(@D) && cp -r dataplane/*.h dataplane/bpf dataplane/p4 $(@D)
	@touch $@

# Installs the run-time dependencies and the extras that verbs need, then the package itself, editable: changed Python needs no rebuild.
$(VENV)/.built: $(RUST_SOURCES) $(VENV)/.tools
	@echo 'Building netloom (a few minutes the first time) …'
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked $(EXTRAS:%=--extras %)
	@touch $@
