# Everything runs inside .venv, which the first target that needs it creates.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Without compiled modules every process of the tests would compile thousands of files again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help quickstart test test-fast test-slow test-minimum wheel-check attack fuzz check lint types imports docs docs-fast reproduce benchmark clean

help:
	@echo "make quickstart   install into .venv and run the main job"
	@echo "make test         install the test extra and run the whole suite"
	@echo "make test-fast    what needs no torch, Dask, browser, data or processes (two minutes)"
	@echo "make test-slow    the tests marked slow (minutes)"
	@echo "make test-minimum  the fast tests with the lowest versions of the dependencies"
	@echo "make wheel-check  build the wheel and try it in fresh environments"
	@echo "make attack       100,000 damaged and hostile files against every reader (minutes)"
	@echo "make fuzz         coverage-guided fuzzing of the readers (two minutes each)"
	@echo "make check        lint, types and the direction of imports"
	@echo "make docs         build the site and run its examples, into docs/_build/html (minutes)"
	@echo "make docs-fast    the same without running the examples"
	@echo "make reproduce    the paper's tables, as far as their data are there (hours)"
	@echo "make benchmark    propagation against its peers (several minutes)"
	@echo "make clean        remove .venv and caches"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# Modules are compiled when first imported: most of what is installed never is.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --editable

# One stamp for each set of extras, renewed when the dependencies change.
$(VENV)/.core: pyproject.toml | $(BIN)/python
	$(INSTALL) .
	@touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(INSTALL) ".[test]"
	@touch $@ $(VENV)/.core

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(INSTALL) ".[dev]"
	@touch $@ $(VENV)/.core $(VENV)/.test

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(INSTALL) ".[docs]"
	@touch $@ $(VENV)/.core

$(VENV)/.fuzz: pyproject.toml | $(BIN)/python
	$(INSTALL) ".[fuzz]"
	@touch $@

quickstart: $(VENV)/.core
	$(BIN)/labeltrick quickstart

# A worker keeps to its half of the files until it has nothing left, so that what the tests of a file
# share is made once.
test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-fast: $(VENV)/.test
	LABELTRICK_WITHOUT_TORCH=1 $(BIN)/python -m pytest -n 2 -m "not (slow or torch or dask or browser or data or process)"

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -m slow

attack: $(VENV)/.test
	$(BIN)/python -m tests.attack

fuzz: $(VENV)/.fuzz
	$(BIN)/python -m tests.attack.fuzz

check: lint types imports

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports --no-cache

# Warnings, a name or link that leads nowhere included, make it fail.
SPHINX := $(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html

docs: $(VENV)/.docs
	$(SPHINX)

docs-fast: $(VENV)/.docs
	LABELTRICK_DOCS_FAST=1 $(SPHINX)

# The lowest versions that pyproject.toml allows, in an environment of their own.
MINIMUM := .venv-minimum
MINIMUM_BIN := $(MINIMUM)/bin
test-minimum:
	$(PYTHON) -m venv $(MINIMUM)
	$(MINIMUM_BIN)/python -m pip install --quiet --upgrade pip "tomli; python_version < '3.11'"
	$(MINIMUM_BIN)/python tools/minimum_versions.py > $(MINIMUM)/constraints.txt
	$(MINIMUM_BIN)/python -m pip install --quiet --constraint $(MINIMUM)/constraints.txt --editable ".[excel,sql]" \
		pytest pytest-xdist hypothesis networkx igraph pandas pyarrow xlsxwriter numpydoc pyyaml trustme
	LABELTRICK_WITHOUT_TORCH=1 $(MINIMUM_BIN)/python -m pytest -n 2 -m "not (slow or torch or dask or browser or data or process)"

wheel-check: | $(BIN)/python
	$(BIN)/python -m pip install --quiet build twine
	$(BIN)/python tools/wheel_check.py --all

reproduce: $(VENV)/.dev
	$(BIN)/python -m experiments all

benchmark: $(VENV)/.dev
	$(BIN)/python benchmarks/propagation.py

clean:
	rm -rf $(VENV) $(MINIMUM) .pytest_cache .mypy_cache .ruff_cache .hypothesis
