# Everything a person does here, each from a fresh clone: set-up is part of every target.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo torch test lint types bench versus studies studies-quick docs examples clean

help:  ## Show this text
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if v >= (3, 11) else "askew needs Python 3.11 or newer; $(PYTHON) is %d.%d. Try: make PYTHON=python3.11 ..." % v)'
	$(PYTHON) -m venv $(VENV)

# one stamp per set of extras: installing is skipped while pyproject.toml and the pins are unchanged
$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt -e ".[$*]"
	@touch $@

demo: $(VENV)/.installed-cli  ## Set up and run the main job: a million transactions, a detector with a promise, its page
	$(BIN)/askew demo

# not in the extra "test": it brings gigabytes of CUDA packages on Linux, unless pip is set to an index of CPU builds
$(VENV)/.torch: constraints.txt | $(BIN)/python
	$(PIP) install --quiet -c constraints.txt torch
	@touch $@

torch: $(VENV)/.torch  ## Install PyTorch, pinned in constraints.txt, for the tests that run on it

test: $(VENV)/.installed-test  ## Set up and run the tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

lint: $(VENV)/.installed-lint  ## Style and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.installed-lint  ## Static types of qp, solvers and methods
	$(BIN)/mypy

bench: $(VENV)/.installed-bench  ## Ratios against scikit-learn and scikit-learn-intelex, saved as JSON
	$(BIN)/python -m benchmarks.solver

versus: $(VENV)/.installed-bench  ## Where a peer is faster: fits, predictions, searches, first fits, the command line
	$(BIN)/python -m benchmarks.versus

studies: $(VENV)/.installed-studies  ## Every table and figure of the papers, run again; goes on where it was stopped
	$(BIN)/python -m studies

studies-quick: $(VENV)/.installed-studies  ## The same programs on a few sets and repeats, in minutes
	$(BIN)/python -m studies --quick

docs: examples  ## Build the site into docs/_build/html, offline, a warning is an error; run every example
	$(BIN)/sphinx-build -W -n -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

examples: $(VENV)/.installed-test  ## Run every example: docstrings, README and examples/
	$(BIN)/python -m pytest --doctest-modules -p no:cacheprovider src/askew tests/behaviour/test_readme.py
	@for file in examples/*.py; do echo "$$file"; MPLBACKEND=Agg $(BIN)/python "$$file" || exit 1; done

clean:  ## Remove the environment and all caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis docs/_build docs/reference docs/gallery docs/sg_execution_times.rst
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
