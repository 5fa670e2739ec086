# Every command is relative to the checkout, so its path may hold spaces.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.made-from-lock
QUERY ?= queries/departures_per_hour.sql
WORKERS ?= 2
# All that starts Spark is in one of them.
PYTEST = $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadgroup --durations 15
SEED ?= 1
export PYTHON
# Where it is set, each process that tests start would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE
# The frames of tests are small, and the workers have the cores.
test test-more test-long golden docs: export POLARS_MAX_THREADS = 1
# How many examples a property draws, see tests/conftest.py.
test-more: export HYPOTHESIS_PROFILE = more
test-long: export HYPOTHESIS_PROFILE = hours

.DEFAULT_GOAL := help
.PHONY: help demo kafka-demo test test-more test-long check golden golden-rewrite golden-trace pairs-rewrite functions reference site pictures bench docs lock

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | while IFS='	' read -r target what; do \
	  printf '  make %-15s %s\n' "$$target" "$$what"; done

$(STAMP): requirements.lock pyproject.toml tools/setup
	@tools/setup
	@touch $@

demo: $(STAMP) ## departures per hour, on Spark, over January 2013
	@tools/with-java $(BIN)/python -m sqlwin.cli run "$(QUERY)"

kafka-demo: $(STAMP) ## flights through Kafka into PostgreSQL, by a run that is killed twice
	@tools/with-java $(BIN)/python -m queries.kafka $(ARGS)

test: $(STAMP) ## run the tests, but those that take long
	@tools/with-java $(PYTEST) -m "not long" $(ARGS)

test-more: $(STAMP) ## run the others: every golden on Spark, larger draws
	@tools/with-chromium tools/with-java $(PYTEST) -m "(long or drawn) and not hours" $(ARGS)

test-long: $(STAMP) ## search for hours, from SEED on
	@tools/with-java $(BIN)/python -m tests.long --seed $(SEED)

check: $(STAMP) ## style, types and layers
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports

golden: $(STAMP) ## run the goldens
	@tools/with-java $(PYTEST) tests/golden $(ARGS)

golden-rewrite: $(STAMP) ## rewrite the goldens' expected parts, from the reference only
	@$(BIN)/python -m tests.golden.rewrite $(ARGS)

golden-trace: $(STAMP) ## record the order of emitted rows and the deadlines of goldens
	@$(BIN)/python -m tests.golden.trace $(ARGS)

pairs-rewrite: $(STAMP) ## rewrite what is said of the queries in tests/pairs
	@$(BIN)/python -m tests.pairs.rewrite $(ARGS)

functions: $(STAMP) ## write docs/functions.md from the table of functions
	@$(BIN)/python -m sqlwin.plan.explain.functions > docs/functions.md

reference: $(STAMP) ## write docs/reference from the grammar and the tables of options
	@$(BIN)/python -m tools.reference

site: $(STAMP) ## build the docs as a site, into build/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet $(ARGS)
pictures: $(STAMP) ## draw the images of the docs anew
	@$(BIN)/python -m tests.docs.charts

bench: $(STAMP) ## run the benchmarks
	@tools/with-java $(BIN)/python -m bench $(ARGS)

docs: $(STAMP) ## run every example in the docs
	@tools/with-java $(PYTEST) docs README.md tests/docs $(ARGS)

# One lock for Python 3.10 to 3.13 and every system; no index is named in it.
# What is pinned stays so unless pyproject.toml or UPGRADE=--upgrade moves it.
lock: $(STAMP) ## pin the dependencies anew (UPGRADE=--upgrade for newer ones)
	@$(BIN)/python -m pip install --quiet uv
	@UV_PYTHON_DOWNLOADS=never $(BIN)/python -m uv pip compile --quiet --universal \
	  --python-version 3.10 --extra dev --no-emit-index-url --no-emit-find-links \
	  --custom-compile-command "make lock" $(UPGRADE) \
	  --output-file requirements.lock pyproject.toml
