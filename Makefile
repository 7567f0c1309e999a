# Targets for a fresh machine with Rust, Python 3.11 or later and a C compiler:
#   make demo    builds the package and runs the main experiment
#   make test    builds everything and runs every check
# `make help` lists the rest.

PYTHON ?= python3
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin

export VIRTUAL_ENV := $(VENV)
# Interpreter for the extension module, also for cargo without maturin.
export PYO3_PYTHON := $(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Without it every build lists the installed packages.
export PIP_QUIET := 1

.DEFAULT_GOAL := help
.PHONY: help build dev demo capi install test lint rust-test python-test bench golden wheel sdist drives papers gallery docs verify clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

# One environment, filled in steps: packages for running, for tests, for the documentation site.
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
	$(BIN)/maturin develop --release --locked --quiet
	@# Without it the first run, or every run in a read-only folder, compiles the modules.
	@$(BIN)/python -m compileall -q python/interpulse

dev: build $(VENV)/.installed-dev ## build it, with packages for tests, sweeps, Parquet files and timelines

demo: build ## run examples/demo.toml: a drive without suspension, with suspended programs, with suspended erases too
	$(BIN)/interpulse run examples/demo.toml --no-cache

# Version of the package, and version of the C interface, which is the major number of the shared library.
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
ABI = $(shell sed -n 's/^pub const INTERPULSE_ABI: u32 = \([0-9]*\);/\1/p' crates/capi/src/codes.rs)
CAPI := target/capi
PREFIX ?= /usr/local

capi: ## build libinterpulse, the C library, into target/capi
	cargo build --release --locked --quiet -p interpulse-capi
	mkdir -p $(CAPI)
	cp target/release/libinterpulse.a $(CAPI)/
	strip --strip-debug $(CAPI)/libinterpulse.a
	crates/capi/package/link.sh $(CAPI)/libinterpulse.a $(CAPI) $(VERSION) $(ABI)

install: capi ## install libinterpulse with header, pkg-config file and CMake package below PREFIX
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,include lib/pkgconfig lib/cmake/interpulse)
	install -m 644 crates/capi/include/interpulse.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(CAPI)/libinterpulse.a $(DESTDIR)$(PREFIX)/lib/
	install -m 755 $(CAPI)/libinterpulse.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/
	cp -P $(CAPI)/libinterpulse.so.$(ABI) $(CAPI)/libinterpulse.so $(DESTDIR)$(PREFIX)/lib/
	for file in pkgconfig/interpulse.pc cmake/interpulse/interpulse-config.cmake cmake/interpulse/interpulse-config-version.cmake; do \
	  sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|; s|@ABI@|$(ABI)|' crates/capi/package/$$(basename $$file).in \
	    > $(DESTDIR)$(PREFIX)/lib/$$file || exit; \
	done

test: lint rust-test python-test ## every check of continuous integration

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

bench: build ## measure the speed of the simulator
	$(BIN)/interpulse bench

golden: dev ## rewrite the golden result of the tests and the generated figures of docs/, after an intended change
	$(BIN)/python python/tools/golden.py
	$(BIN)/python python/tools/config_page.py
	$(BIN)/python python/tools/counters_page.py
	$(BIN)/python python/tools/results_page.py
	$(BIN)/python python/tools/commands_page.py
	$(BIN)/python python/tools/python_page.py
	$(BIN)/python python/tools/tutorials.py
	$(BIN)/python python/tools/import_page.py
	$(BIN)/python python/tools/scheme_pages.py
	$(BIN)/python python/tools/choosing_page.py
	$(BIN)/python python/tools/windows_page.py
	$(BIN)/python python/tools/peers_page.py
	$(BIN)/python python/tools/fio_page.py

# PROFILE=no: without a profile, in half the time.
PROFILE ?= yes

wheel: $(VENV)/.installed ## build a wheel into dist/ with a profile of this code, minutes; PROFILE=no: without
ifeq ($(PROFILE),no)
	$(BIN)/maturin build --release --locked --out dist
else
	$(BIN)/python python/tools/take_profile.py
endif

sdist: $(VENV)/.installed ## build the source distribution into dist/
	$(BIN)/python python/tools/sdist.py dist

DRIVES := s3700 s4500 p4500 p3700 970-evo 970-evo-turbowrite p5810 p5430 9550-max 670p zn540

drives: dev ## fit the drives of examples/drives again: presets and table of docs/DRIVES.md; an hour without cached results
	for name in $(DRIVES); do $(BIN)/interpulse fit examples/drives/$$name.toml --out fits/$$name || exit; done
	$(BIN)/python python/tools/drives.py $(foreach name,$(DRIVES),$(name) fits/$(name))

papers: dev ## write docs/PAPERS.md from quick runs of every experiment; minutes without cached results
	$(BIN)/python python/tools/papers_page.py --quick

gallery: dev ## redraw the pictures of docs/GALLERY.md and of the README; minutes without cached results
	$(BIN)/python python/tools/gallery.py

docs: build $(VENV)/.installed-docs ## build the documentation site, links checked: site/index.html, which opens from disk
	$(BIN)/python python/tools/docs_site.py

verify: dev $(VENV)/.installed-docs ## the long checks, or those whose question contains a word of STEPS; writes docs/VERIFY.md
	$(BIN)/python python/tools/verify.py $(STEPS)

clean: ## remove build results and the virtual environment
	cargo clean
	rm -rf $(VENV) site dist python/interpulse/*.so .pytest_cache .mypy_cache .ruff_cache
	find python examples -name __pycache__ -type d -prune -exec rm -rf {} +
