# make fuzz | test | quality | bench | soak | lint: all run in .venv, which is made on first use.

PYTHON ?= python3.11
MINUTES ?= 5
FIXES ?= off
# Further arguments for pip, e.g. --extra-index-url with PyTorch's index of CPU wheels.
PIP_ARGS ?=

# The newest release, which the lint and everything measured goes by.
CONSTRAINTS := constraints-0.27.txt

BIN := .venv/bin
READY := .venv/ready

.PHONY: help fuzz test quality bench soak lint clean

help:
	@echo "make fuzz [MINUTES=5] [FIXES=off|on]   fuzz TVM Relax, end in a table of findings"
	@echo "make test [ARGS=...]                   the project's tests and the conformance suite"
	@echo "make quality [ARGS=...]                false alarms, planted bugs, bounds, coverage: measured"
	@echo "make bench [ARGS=...]                  what a case costs, against the naive loop: measured"
	@echo "make soak [MINUTES=60]                 a long campaign, its memory and processes watched"
	@echo "make lint                              ruff, mypy, import-linter"

# Exit code 1 says that there are findings: for somebody who looks for them that is no failed make.
fuzz: $(READY)
	@$(BIN)/relaxcheck fuzz --minutes $(MINUTES) --fixes $(FIXES) $(ARGS) || test $$? -eq 1

test: $(READY)
	$(BIN)/pytest -n auto --dist worksteal $(ARGS)

# Hours at full size; ARGS='tvm --share 0.05' measures less, and keeps what was measured before.
quality: $(READY)
	$(BIN)/python -m tests.quality $(ARGS)

bench: $(READY)
	$(BIN)/python -m tests.bench $(ARGS)

soak: MINUTES = 60
soak: $(READY)
	$(BIN)/python -m tests.bench.soak --minutes $(MINUTES) $(ARGS)

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
