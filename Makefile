# make fuzz | test | test-all | test-fast | quality | bench | soak | lint: all run in .venv, which is made on first use.

PYTHON ?= python3.11
MINUTES ?= 5
FIXES ?= off
# Further arguments for pip, e.g. --extra-index-url with PyTorch's index of CPU wheels.
PIP_ARGS ?=

# The newest release, which the lint and everything measured goes by.
CONSTRAINTS := constraints-0.27.txt

BIN := .venv/bin
READY := .venv/ready

# Run in parallel, each process taking over what another has left.
PYTEST := $(BIN)/pytest -n auto --dist worksteal

.PHONY: help fuzz test test-all test-fast quality bench soak lint clean

help:
	@echo "make fuzz [MINUTES=5] [FIXES=off|on]   fuzz TVM Relax, end in a table of findings"
	@echo "make test [ARGS=...]                   the tests that a change needs, in 11 minutes"
	@echo "make test-all [ARGS=...]               all tests, larger grids, more examples"
	@echo "make test-fast [ARGS=...]              the tests that need no TVM, in a minute"
	@echo "make quality [ARGS=...]                false alarms, planted bugs, bounds, coverage: measured"
	@echo "make bench [ARGS=...]                  what a case costs, against the naive loop: measured"
	@echo "make soak [MINUTES=60]                 a long campaign, its memory and processes watched"
	@echo "make lint                              ruff, mypy, import-linter"

# Exit code 1 says that there are findings: for somebody who looks for them that is no failed make.
fuzz: $(READY)
	@$(BIN)/relaxcheck fuzz --minutes $(MINUTES) --fixes $(FIXES) $(ARGS) || test $$? -eq 1

# tox.ini has the same options. tests/README.md says which tests are slow, and why.
test: $(READY)
	$(PYTEST) -m "not slow" --hypothesis-profile ci --grid small --max-examples 8 $(ARGS)

test-all: $(READY)
	$(PYTEST) $(ARGS)

test-fast: $(READY)
	$(PYTEST) -m "not tvm and not slow" $(ARGS)

# Hours at full size; ARGS='tvm --share 0.05' measures less, and keeps what was measured before.
quality: $(READY)
	$(BIN)/python -m tests.measure.quality $(ARGS)

bench: $(READY)
	$(BIN)/python -m tests.measure.bench $(ARGS)

soak: MINUTES = 60
soak: $(READY)
	$(BIN)/python -m tests.measure.bench.soak --minutes $(MINUTES) $(ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(READY): pyproject.toml constraints.txt $(CONSTRAINTS)
	@echo "Making .venv; this takes a few minutes."
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --disable-pip-version-check --constraint $(CONSTRAINTS) $(PIP_ARGS) --editable '.[dev]'
	@touch $(READY)

clean:
	rm -rf .venv .tox .pytest_cache .mypy_cache .ruff_cache
