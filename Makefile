# Two commands for a fresh machine with Rust, Python 3.11 or later and a C compiler:
#   make demo    builds everything and runs the main experiment
#   make test    builds everything and runs every check
# `make help` lists the rest.

PYTHON ?= python3
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin

export VIRTUAL_ENV := $(VENV)
# The interpreter that the extension module is built for, also where cargo is called without maturin.
export PYO3_PYTHON := $(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Otherwise every build lists what is already there.
export PIP_QUIET := 1

.DEFAULT_GOAL := help
.PHONY: help build demo test lint rust-test python-test bench golden papers verify clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

$(VENV)/.installed: requirements-dev.lock
	@command -v cargo > /dev/null || { echo "error: there is no cargo: install Rust, see https://rustup.rs"; exit 2; }
	@command -v $(PYTHON) > /dev/null || { echo "error: there is no $(PYTHON): install Python, or set PYTHON"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "error: $(PYTHON) is older than 3.11: set PYTHON=python3.x"; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null && $(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "error: $(PYTHON) cannot make a virtual environment (on Debian: apt install python3-venv)"; exit 2; }
	$(BIN)/pip install --quiet --requirement requirements-dev.lock
	@touch $@

build: $(VENV)/.installed ## build the Python package
	$(BIN)/maturin develop --release --quiet

demo: build ## run examples/quickstart.toml: the drive without and with program suspension
	$(BIN)/interpulse run examples/quickstart.toml

test: lint rust-test python-test ## every check; what continuous integration runs

# The cheap checks first, so that a misplaced comma is reported in seconds.
lint: $(VENV)/.installed ## formatting and lints
	cargo fmt --all --check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	cargo clippy --workspace --all-targets --locked -- -D warnings

rust-test: ## the Rust suites; the extension module is tested from Python
	cargo test --locked --quiet

python-test: build ## types and the Python suite
	$(BIN)/mypy
	$(BIN)/pytest -q -n auto

bench: build ## how fast the simulator is
	$(BIN)/interpulse bench

golden: build ## write the golden result of the tests and the generated figures of docs/ anew, after a change that is meant
	$(BIN)/python python/tools/golden.py
	$(BIN)/python python/tools/config_page.py
	$(BIN)/python python/tools/counters_page.py
	$(BIN)/python python/tools/scheme_pages.py
	$(BIN)/python python/tools/choosing_page.py

papers: build ## write docs/PAPERS.md from quick runs of every experiment; minutes, less what is kept from before
	$(BIN)/python python/tools/papers_page.py --quick

verify: build ## the long checks; writes docs/VERIFY.md
	$(BIN)/python python/tools/verify.py

clean: ## remove what was built, the virtual environment included
	cargo clean
	rm -rf $(VENV) python/interpulse/*.so .pytest_cache .mypy_cache .ruff_cache
	find python examples -name __pycache__ -type d -prune -exec rm -rf {} +
