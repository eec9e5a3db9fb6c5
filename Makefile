# `make report` sets up, measures and reports, `make test` tests everything, `make demo` shows a report in a minute.

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
.PHONY: convergence help setup demo report official rehearse plan equivalence test test-crash test-clusters test-rehearsals test-frameworks test-attacks test-goodput test-judgement unit real check lint docs docs-site test-docs examples bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

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

demo: setup ## in a minute: the report of recorded runs, in demo/; opened where there is a display
	$(BIN)/python tools/demo.py

report: setup ## measure with PROFILE=quick (default), full, bert, cifar10, wide-deep or face, then write report/report.html
	$(BIN)/python -m evalsuite compare --profile $(PROFILE) --runs $(RUNS) --out $(OUT)

official: setup ## the same for the official scripts that train without a GPU, on made-up data in DATA
	-$(BIN)/python -m evalsuite repositories get --profile official-cpu
	EVALSUITE_DATA=$(abspath $(DATA)) $(BIN)/python -m evalsuite data make --for official-cpu
	EVALSUITE_DATA=$(abspath $(DATA)) $(BIN)/python -m evalsuite compare --profile official-cpu --runs $(RUNS) --out $(OUT)

rehearse: setup ## the first steps of official scripts on a CPU, one at a time: all, or RECIPES="F/R …"; up to 2.5 GB at once
	$(BIN)/python -m evalsuite rehearse $(foreach recipe,$(RECIPES),--recipe $(recipe)) $(if $(MIRROR),--mirror $(MIRROR)) --out rehearsals

plan: setup ## show what `make report` would run
	$(BIN)/python -m evalsuite plan --profile $(PROFILE) --runs $(RUNS)

equivalence: setup ## prove that our reference workloads compute the same; writes data/equivalence
	$(BIN)/python -m evalsuite equivalence --model all --receipts data/equivalence

test: $(VENV)/.ready ## everything: the unit floor, then the real floor (frameworks, browser)
	$(BIN)/python tools/prepare_tests.py
	$(BIN)/python -m pytest tests/unit $(SIDE_BY_SIDE)
	$(BIN)/python -m pytest tests/real -m 'not alone' $(WAITING)
	$(BIN)/python -m pytest tests/real -m alone

unit: $(VENV)/.ready ## the unit floor alone: a minute, no network, no framework, no whole page, no waiting
	$(BIN)/python -m pytest tests/unit -m 'not real and not whole' $(SIDE_BY_SIDE)

real: $(VENV)/.ready ## the real floor alone
	$(BIN)/python tools/prepare_tests.py
	$(BIN)/python -m pytest tests/real -m 'not alone' $(WAITING)
	$(BIN)/python -m pytest tests/real -m alone

test-crash: $(VENV)/.ready ## the whole series of kills, with counts: some twenty minutes
	EVALSUITE_CRASHES=1 nice -n 19 $(BIN)/python -m pytest -s tests/real/test_crashes.py

test-clusters: $(VENV)/.ready ## several machines played by network namespaces: Slurm and ssh, some of which die
	$(BIN)/python tools/prepare_tests.py
	EVALSUITE_CLUSTERS=1 $(BIN)/python -m pytest tests/real/test_clusters.py tests/real/test_ssh_hosts.py tests/real/test_slurm.py \
		tests/real/test_shaped_links.py tests/real/test_mpi_launchers.py

test-rehearsals: $(VENV)/.ready ## eight official scripts on a CPU in one campaign over two played hosts, killed and resumed (12 GB)
	EVALSUITE_REHEARSALS=1 $(BIN)/python -m pytest tests/real/test_rehearsed_campaign.py

test-frameworks: $(VENV)/.ready ## ResNet-50 in the frameworks with the largest environments (2 GB each)
	EVALSUITE_FRAMEWORKS=1 $(BIN)/python -m pytest tests/real/test_large_frameworks.py

test-judgement: $(VENV)/.ready ## ways to a wrong statement by tables, imports and scripts, and what is said of each: two minutes
	PYTHONPATH=tests $(BIN)/python -m tests.judgement.tables
	PYTHONPATH=tests $(BIN)/python -m tests.judgement.imports
	PYTHONPATH=tests $(BIN)/python -m tests.judgement.further
	PYTHONPATH=tests $(BIN)/python -m tests.judgement.scripts

test-attacks: $(VENV)/.ready ## every attack and every fault, generated ones too: some ten minutes
	EVALSUITE_ATTACKS=1 nice -n 19 $(BIN)/python -m pytest \
		tests/unit/test_audit.py tests/unit/test_bad_files.py tests/unit/test_certainty.py tests/unit/test_foreign_rules.py \
		tests/unit/test_publishing.py tests/unit/test_redaction.py tests/real/test_faults.py

test-goodput: $(VENV)/.ready ## a small training killed at twenty instants and resumed: where its time went, against its own record
	EVALSUITE_GOODPUT=1 $(BIN)/python -m pytest tests/goodput

CONVERGENCE ?= convergence
convergence: $(VENV)/.ready ## time to a stated accuracy in three frameworks, five seeds each and one run killed and resumed: some ten minutes; PRICE=FILE
	$(BIN)/evalsuite run --spec data/specs/convergence.toml --runs $(CONVERGENCE)/runs
	PATTERNS_STOP_AT=155 $(BIN)/evalsuite run --spec data/specs/convergence.toml --repeats 6 --runs $(CONVERGENCE)/runs
	$(BIN)/evalsuite report --runs $(CONVERGENCE)/runs --criteria data/criteria/convergence.toml --out $(CONVERGENCE)/report \
		--forms html,md $(if $(PRICE),--price $(PRICE))

check: lint ## what each commit should pass, within a minute: style, types, who imports what
	$(BIN)/python -m pytest --quiet tests/unit/test_architecture.py tests/unit/test_architecture_picture.py tests/unit/test_references.py tests/unit/test_size.py

lint: $(VENV)/.ready ## style and types
	$(BIN)/ruff check evalsuite adapters tests benchmarks tools
	$(BIN)/ruff format --check evalsuite adapters tests benchmarks tools
	$(BIN)/mypy
	$(BIN)/mypy adapters/*.py

docs: setup ## what is made of the code: the page of dialects (not in git), the picture of the imports
	$(BIN)/python tools/write_dialects.py
	$(BIN)/python tools/draw_architecture.py

docs-site: $(VENV)/.docs ## the documentation as a site in both languages, in build/docs
	$(BIN)/python tools/build_docs.py

$(VENV)/.docs: $(VENV)/.ready pyproject.toml
	$(BIN)/pip install --quiet --editable '.[docs]'
	touch $@

test-docs: $(VENV)/.docs ## the site with its links, and what every page tells to type: some ten minutes
	EVALSUITE_DOCS=1 $(BIN)/python -m pytest tests/real/test_docs_site.py

examples: setup ## the example reports of docs/examples, with their tables and summary.json
	$(BIN)/python tools/make_examples.py

bench: $(VENV)/.ready ## ratios against named yardsticks
	for file in benchmarks/[a-z]*.py; do $(BIN)/python $$file || exit 1; done

clean: ## remove what can be made again here; run folders and reports stay
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
