# `make report` sets up, measures and reports, `make test` tests, `make demo` shows a report in a minute.

PYTHON  ?= python3
VENV    ?= .venv
PROFILE ?= quick
RUNS    ?= runs
OUT     ?= report
DATA    ?= made-up-data
BIN     := $(VENV)/bin
# tests of files side by side, on every core
SIDE_BY_SIDE := --numprocesses logical --maxprocesses 8 --dist loadfile
# those of the real floor wait for processes and pages half of the time: one more than there are cores
WAITING := --numprocesses $(shell cores=$$(getconf _NPROCESSORS_ONLN); echo $$((cores < 8 ? cores + 1 : 8))) --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: convergence help setup demo report official llm rehearse plan equivalence test test-nightly check lint docs docs-site examples bench clean

help: #- these; all of them: make help ALL=1
	@awk -F ':.*#[#-] ' '/^[a-z-]+:.*$(if $(ALL),#[#-],##) / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@$(if $(ALL),,echo "  and others: make help ALL=1")

setup: $(VENV)/.installed ## make evalsuite's own virtual environment

# One environment for evalsuite itself; each framework gets one of its own on first use (evalsuite doctor).
$(VENV)/.installed: requirements.lock pyproject.toml
	$(PYTHON) tools/check_python.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python tools/install_locked.py requirements.lock
	@touch $@

# what the tests and the checks of style and types need in addition
$(VENV)/.ready: $(VENV)/.installed requirements-test.lock
	$(BIN)/python tools/install_locked.py requirements-test.lock
	@touch $@

demo: setup ## a report of runs recorded elsewhere, within a minute: nothing is trained
	$(BIN)/python tools/demo.py

report: setup ## measure with PROFILE=quick (default), full, bert, cifar10, wide-deep or face, then write report/report.html
	$(BIN)/python -m evalsuite compare --profile $(PROFILE) --runs $(RUNS) --out $(OUT)

official: setup ## the same for the official scripts that train without a GPU, on made-up data in DATA
	-$(BIN)/python -m evalsuite env repositories --profile official-cpu
	EVALSUITE_DATA=$(abspath $(DATA)) $(BIN)/python -m evalsuite data make --for official-cpu
	EVALSUITE_DATA=$(abspath $(DATA)) $(BIN)/python -m evalsuite compare --profile official-cpu --runs $(RUNS) --out $(OUT)

llm: setup #- seven stacks of language models and plain PyTorch, JAX, PaddlePaddle, on a Llama of 4 M parameters made in DATA
	EVALSUITE_DATA=$(abspath $(DATA)) $(BIN)/python -m evalsuite data make llama-tiny
	EVALSUITE_DATA=$(abspath $(DATA)) $(BIN)/python -m evalsuite compare --profile llm --runs $(RUNS) --out $(OUT)

rehearse: setup #- the first steps of official scripts on a CPU, one at a time: all, or RECIPES="F/R …"; up to 2.5 GB at once
	$(BIN)/python -m evalsuite rehearse $(foreach recipe,$(RECIPES),--recipe $(recipe)) $(if $(MIRROR),--mirror $(MIRROR)) --out rehearsals

plan: setup #- show what `make report` would run
	$(BIN)/python -m evalsuite plan --profile $(PROFILE) --runs $(RUNS)

equivalence: setup #- prove that our reference workloads compute the same; writes data/equivalence
	$(BIN)/python -m evalsuite equivalence --models all --receipts data/equivalence

test: $(VENV)/.ready ## six minutes: the unit floor, then four frameworks, a scheduler, ssh and a browser, once each
	$(BIN)/python tools/prepare_tests.py
	$(BIN)/python -m pytest tests/unit $(SIDE_BY_SIDE)
	$(BIN)/python -m pytest tests/real -m 'not alone' $(WAITING)
	$(BIN)/python -m pytest tests/real -m alone

test-nightly: $(VENV)/.docs #- everything, benchmarks too: an hour or two, 20 GB of environments, root for the played clusters
	$(BIN)/python tools/prepare_tests.py
	EVALSUITE_NIGHTLY=1 $(BIN)/python -m pytest tests/unit $(SIDE_BY_SIDE)
	EVALSUITE_NIGHTLY=1 $(BIN)/python -m pytest tests/real -m 'not alone' $(WAITING)
	EVALSUITE_NIGHTLY=1 $(BIN)/python -m pytest tests/real -m alone
	$(BIN)/python tools/write_reliability.py
	$(BIN)/python benchmarks/all.py

CONVERGENCE ?= convergence
convergence: $(VENV)/.ready #- time to a stated accuracy in three frameworks, five seeds each and one run killed and resumed: some ten minutes
	$(BIN)/evalsuite run --spec data/specs/convergence.toml --runs $(CONVERGENCE)/runs
	PATTERNS_STOP_AT=155 $(BIN)/evalsuite run --spec data/specs/convergence.toml --repeats 6 --runs $(CONVERGENCE)/runs
	$(BIN)/evalsuite report --runs $(CONVERGENCE)/runs --criteria data/criteria/convergence.toml --out $(CONVERGENCE)/report \
		--forms html,md

check: lint ## what each commit should pass, within a minute: style, types, who imports what
	$(BIN)/python -m pytest --quiet tests/unit/test_architecture.py tests/unit/test_architecture_picture.py tests/unit/test_references.py tests/unit/test_size.py

lint: $(VENV)/.ready #- style and types
	$(BIN)/ruff check evalsuite adapters tests benchmarks tools
	$(BIN)/ruff format --check evalsuite adapters tests benchmarks tools
	$(BIN)/mypy
	$(BIN)/mypy adapters/*.py

docs: setup #- what is made of the code: schemas and the page of keys
	$(BIN)/python tools/write_schemas.py

docs-site: $(VENV)/.docs ## the documentation as a site in both languages, in build/docs
	$(BIN)/python tools/build_docs.py

$(VENV)/.docs: $(VENV)/.ready pyproject.toml
	$(BIN)/pip install --quiet --editable '.[docs]'
	touch $@

examples: setup #- the example reports of docs/examples, with their tables and summary.json
	$(BIN)/python tools/make_examples.py --pictures

bench: $(VENV)/.ready #- figures against named yardsticks and those recorded in benchmarks/recorded.toml
	$(BIN)/python benchmarks/all.py

clean: ## remove what can be made again here; run folders and reports stay
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
