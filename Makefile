# All targets run in .venv, which is made on first use: for `fuzz` with the dependencies of the package
# alone, for the others with the extra `dev` on top.

PYTHON ?= python3.11
MINUTES ?= 5
FIXES ?= off
# Further arguments for pip, e.g. --extra-index-url with PyTorch's index of CPU wheels.
PIP_ARGS ?=

# The newest release, which the lint and everything measured goes by.
CONSTRAINTS := constraints-0.27.txt

VENV := .venv
BIN := $(VENV)/bin
# What `fuzz` needs, and what tests and lint need on top.
READY := $(VENV)/ready
READY_DEV := $(VENV)/ready-dev
# The models of the zoo, on top of that. Their pins are apart: no release environment has them.
READY_ZOO := $(VENV)/ready-zoo
ZOO_PINS := tests/zoo/constraints.txt
# Compilers and devices for other targets than LLVM's, likewise.
READY_TARGETS := $(VENV)/ready-targets
TARGET_PINS := tests/harness/native/constraints.txt

PIP_INSTALL = $(BIN)/pip install --disable-pip-version-check --constraint $(CONSTRAINTS) $(PIP_ARGS)
# PyTorch's CPU build is on an index of its own.
HINT = { echo "pip failed. If it found no torch==…+cpu, name the index of PyTorch's CPU wheels," \
  "whose URL is on PyTorch's installation page:" \
  "make $(MAKECMDGOALS) PIP_ARGS='--extra-index-url URL'"; exit 1; } >&2

# Run in parallel, each process taking over what another has left.
PYTEST := $(BIN)/pytest -n auto --dist worksteal

.PHONY: help fuzz test test-thorough test-all test-fast quality bench soak zoo targets lint clean

help:
	@echo "make fuzz [MINUTES=5] [FIXES=off|on]   fuzz TVM Relax, end in a table of findings"
	@echo "make test [ARGS=...]                   the tests that a change needs, in 10 minutes"
	@echo "make test-thorough [ARGS=...]          those that few changes need, in 11 minutes"
	@echo "make test-all [ARGS=...]               all tests, larger grids, more examples"
	@echo "make test-fast [ARGS=...]              the tests that need no TVM, in a minute"
	@echo "make quality [ARGS=...]                false alarms, planted bugs, bounds, coverage: measured"
	@echo "make bench [ARGS=...]                  what a case costs, against the naive loop: measured"
	@echo "make soak [MINUTES=60]                 a long campaign, its memory and processes watched"
	@echo "make zoo [ARGS=...]                    small models through both importers, all releases"
	@echo "make targets                           what compiles or runs kernels without a GPU: installed"
	@echo "make lint                              ruff, mypy, import-linter"

# Exit code 1 says that there are findings: for somebody who looks for them that is no failed make.
fuzz: $(READY)
	@$(BIN)/relaxcheck fuzz --minutes $(MINUTES) --fixes $(FIXES) $(ARGS) || test $$? -eq 1

# tox.ini has the same options. tests/README.md says which tests are slow or thorough, and why.
SMALL = --hypothesis-profile ci --grid small --max-examples 5
test: $(READY_DEV)
	$(PYTEST) -m "not slow and not thorough" $(SMALL) $(ARGS)

test-thorough: $(READY_DEV)
	$(PYTEST) -m "thorough and not slow" $(SMALL) $(ARGS)

test-all: $(READY_DEV)
	$(PYTEST) --real-processes $(ARGS)

test-fast: $(READY_DEV)
	$(PYTEST) -m "not tvm and not slow and not thorough" $(ARGS)

# Hours at full size; ARGS='tvm --share 0.05' measures less, and keeps what was measured before.
quality: $(READY_DEV)
	$(BIN)/python -m tests.measure.quality $(ARGS)

bench: $(READY_DEV)
	$(BIN)/python -m tests.measure.bench $(ARGS); code=$$?; \
	$(BIN)/python -m tests.measure.bench.graphs && exit $$code

soak: MINUTES = 60
soak: $(READY_DEV)
	$(BIN)/python -m tests.measure.bench.soak --minutes $(MINUTES) $(ARGS)

# Hours on all releases; ARGS='--models bert --tvm 0.27' runs one on one.
zoo: $(READY_ZOO)
	$(BIN)/python -m tests.zoo --tvm all $(ARGS)

targets: $(READY_TARGETS)

lint: $(READY_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(READY): pyproject.toml constraints.txt $(CONSTRAINTS)
	@echo "Installing relaxcheck into $(VENV), once: about 1.5 GB on disk, a few minutes. It needs"
	@echo "  apache-tvm                       the compiler that it tests            0.3 GB"
	@echo "  torch (CPU), onnx, onnxruntime   oracles that TVM is compared with     0.9 GB"
	@echo "  numpy, ml_dtypes                 the reference, and input values       0.1 GB"
	@echo "  hypothesis, covertable           draw programs"
	@echo "  msgspec, rich, typer, Jinja2, matplotlib, networkx, pytest"
	@echo "                                   case files, terminal, pages, plots    0.2 GB"
	$(PYTHON) -m venv $(VENV)
	@$(PIP_INSTALL) --editable . || $(HINT)
	@touch $@

$(READY_DEV): $(READY)
	@echo "Adding to $(VENV) what tests, lint and measurements need: mypy, ruff, import-linter, tox,"
	@echo "mutmut, z3 and distributed, about 0.3 GB on disk."
	@$(PIP_INSTALL) --editable '.[dev]' || $(HINT)
	@touch $@

$(READY_ZOO): $(READY_DEV) $(ZOO_PINS)
	@echo "Adding to $(VENV) the packages that models of the zoo are made of: transformers, timm,"
	@echo "torchvision, onnxscript, about 0.2 GB on disk."
	@$(PIP_INSTALL) --constraint $(ZOO_PINS) --editable '.[zoo]' || $(HINT)
	@touch $@

$(READY_TARGETS): $(READY) $(TARGET_PINS)
	@echo "Adding to $(VENV) what compiles kernels for other targets, and runs OpenCL's on the CPU:"
	@echo "pyopencl with pocl, wgpu, NVRTC with CUDA's headers, about 0.4 GB on disk. naga, in wgpu, needs"
	@echo "a driver of Vulkan: Debian's package mesa-vulkan-drivers has one for the CPU."
	@$(PIP_INSTALL) --constraint $(TARGET_PINS) --editable '.[targets]' || $(HINT)
	@touch $@

clean:
	rm -rf $(VENV) .tox .pytest_cache .mypy_cache .ruff_cache
