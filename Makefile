# `make help` lists the targets. They all run in the project's virtual environment, .venv.

PYTHON ?= python3
SETS   ?= 4x4-7-8
# One of the 17 boards of 4x4 that are farthest from the goal.
BOARD  ?= 0 12 9 13 / 15 11 10 14 / 3 7 2 5 / 4 8 6 1
# How long `make chaos` draws faults, and from which seed: without one, from a new one.
SECONDS ?= 30
SEED   ?=
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready

.DEFAULT_GOAL := help
.PHONY: help install databases solve compare page test test-fast test-slow test-page chaos lint package bench bench-build bench-solve clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(READY)  ## create the virtual environment and install the toolkit into it

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or later is needed, $(PYTHON) is older: try 'make PYTHON=python3.12 ...'" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

databases: $(READY)  ## build the default database, or others: make databases SETS="5x5-250M 3x3-8"
	@$(BIN)/pdb-builder build $(SETS)

databases/4x4-7-8.h5: | $(READY)
	@$(BIN)/pdb-builder build 4x4-7-8

solve: $(READY) databases/4x4-7-8.h5  ## build what is missing and solve one of the hardest boards, or any other: make solve BOARD="..."
	@$(BIN)/pdb-solver solve "$(BOARD)"

compare: $(READY) databases/4x4-7-8.h5  ## Manhattan distance against the default database on 25 of Korf's boards, under a minute
	$(BIN)/pdb-solver compare --set korf100 --only 1-25 --heuristics manhattan,pdb:4x4-7-8 --each

page: $(READY) databases/4x4-7-8.h5  ## build what is missing, and play, solve and compare in a browser: Ctrl-C ends it
	@$(BIN)/pdb-solver serve

# Two files of tests at a time: most of the time goes into compiling kernels.
test: $(READY)  ## run the tests: with compiled kernels, then the small ones as plain Python
	$(BIN)/python -m pytest -n 2 --dist loadfile
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 --dist loadfile tests/test_build.py tests/test_sparse.py tests/test_recipes.py tests/test_index.py tests/test_lookup.py -m "not slow and not jit"

test-fast: $(READY)  ## run the tests to run while editing: no other programs, no beams, no exhaustive proofs
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not (slow or subprocess or beam or exhaustive)"

test-slow: $(READY)  ## run the longer proofs
	$(BIN)/python -m pytest -m slow

test-page: $(READY)  ## install a browser, where that is possible, and run the tests of the page
	.ci/browser
	$(BIN)/python -m pytest tests/test_page.py tests/test_page_browser.py -rs

chaos: $(READY)  ## draw faults at random and check that four rules hold: make chaos SECONDS=600 SEED=1
	$(BIN)/python -m tests.chaos --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) --jobs 2

lint: $(READY)  ## check style, formatting, and the types of everything but kernels
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

package: $(READY)  ## build the wheel and the source distribution, and use the wheel outside the checkout: about a minute
	$(BIN)/python tests/check_package.py dist

bench: bench-build bench-solve compare  ## measure everything in docs/benchmarks.md that takes minutes, not hours

bench-build: $(READY)  ## measure how fast tables are built: states per second and peak memory
	$(BIN)/pdb-builder bench

bench-solve: $(READY)  ## measure how fast boards are solved, a few minutes
	$(BIN)/pdb-solver bench

clean:  ## remove the virtual environment and caches; databases stay
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache *.egg-info build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
