# For a fresh machine with Rust, Python 3.11 or later and a C compiler:
#   make demo    builds the package and runs the main experiment
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
.PHONY: help build dev demo test lint rust-test python-test bench golden profile drives papers gallery docs verify clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

# What running needs, what testing needs besides, and what the site of the documents needs: nobody waits for more.
$(VENV)/.installed: requirements.lock
	@command -v cargo > /dev/null || { echo "error: there is no cargo: install Rust, see https://rustup.rs"; exit 2; }
	@command -v $(PYTHON) > /dev/null || { echo "error: there is no $(PYTHON): install Python, or set PYTHON"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "error: $(PYTHON) is older than 3.11: set PYTHON=python3.x"; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null && $(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "error: $(PYTHON) cannot make a virtual environment (on Debian: apt install python3-venv)"; exit 2; }
	$(BIN)/pip install --quiet --requirement requirements.lock
	@touch $@

$(VENV)/.installed-%: requirements-%.lock $(VENV)/.installed
	$(BIN)/pip install --quiet --requirement $<
	@touch $@

build: $(VENV)/.installed ## build the Python package
	$(BIN)/maturin develop --release --quiet
	@# Otherwise the first run, or every one where Python may not write it, compiles what it reads.
	@$(BIN)/python -m compileall -q python/interpulse

dev: build $(VENV)/.installed-dev ## build it, with what tests, sweeps, Parquet files and timelines need

demo: build ## run examples/quickstart.toml: the drive without and with program suspension
	$(BIN)/interpulse run examples/quickstart.toml

test: lint rust-test python-test ## every check; what continuous integration runs

# The cheap checks first, so that a misplaced comma is reported in seconds.
lint: $(VENV)/.installed-dev ## formatting and lints
	cargo fmt --all --check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	cargo clippy --workspace --all-targets --locked -- -D warnings

rust-test: ## the Rust suites; the extension module is tested from Python
	cargo test --locked --quiet

python-test: dev ## types and the Python suite
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

profile: build ## take the profile that release builds follow anew (profile/README.md)
	$(BIN)/python python/tools/take_profile.py

DRIVES := s3700 s4500 p4500 p3700 970-evo p5810 p5430

drives: dev ## fit the drives of examples/drives anew; their presets and the table of docs/FIT.md; an hour, less what is kept
	for name in $(DRIVES); do $(BIN)/interpulse fit examples/drives/$$name.toml --out fits/$$name || exit; done
	$(BIN)/python python/tools/drives.py $(foreach name,$(DRIVES),$(name) fits/$(name))

papers: build ## write docs/PAPERS.md from quick runs of every experiment; minutes, less what is kept from before
	$(BIN)/python python/tools/papers_page.py --quick

gallery: dev ## draw the pictures of docs/GALLERY.md and of the README anew; minutes, less what is kept from before
	$(BIN)/python python/tools/gallery.py

docs: $(VENV)/.installed-docs ## the documents as a searchable site, links checked: site/index.html, which opens from disk
	$(BIN)/python python/tools/docs_site.py

verify: dev $(VENV)/.installed-docs ## the long checks, or those with a word of STEPS in their question; writes docs/VERIFY.md
	$(BIN)/python python/tools/verify.py $(STEPS)

clean: ## remove what was built, the virtual environment included
	cargo clean
	rm -rf $(VENV) site python/interpulse/*.so .pytest_cache .mypy_cache .ruff_cache
	find python examples -name __pycache__ -type d -prune -exec rm -rf {} +
