# make run    install (once) and start the app on http://localhost:8501 (PORT=, HOST= for others)
# make check  lint, types and the quick tests: what one runs while working
# make test   install test tools and a browser (once), then lint, types and all tests
# make docs   the documentation into site/, every example run
# make bench  the speed tables            make papers  the papers' tables, ours beside theirs
# make fuzz   degenerate data, broken files, odd links, hostile models, for MINUTES=2 or more

PYTHON ?= python3
PORT   ?= 8501
HOST   ?= localhost
JOBS   ?= 2
VENV   := .venv
PY     := $(VENV)/bin/python
# Python compiles what it imports, once for all processes; pip would compile all there is.
unexport PYTHONDONTWRITEBYTECODE
PIP    := $(PY) -m pip install --quiet --disable-pip-version-check --no-compile -r requirements.txt

# What pip installs, all at once: the app, and for some targets the tools of tests with it.
TESTED := test check static lint bench fuzz browser
NEEDS  := $(VENV)/.$(if $(filter $(TESTED),$(MAKECMDGOALS)),test-tools,app)
LOOPS  := $(wildcard kmviz/loops/*.py)
# One BLAS thread a process: tests run in parallel processes, and speed is stated for one thread.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: run test check static browser system-browser lint bench papers fuzz docs install clean help

run: install
	$(PY) -m kmviz app --port $(PORT) --host $(HOST)

test:
	@$(MAKE) --no-print-directory -j $(JOBS) browser install static
	$(ONE_THREAD) $(PY) -m pytest -n $(JOBS) --no-loadscope-reorder

check: install static
	$(ONE_THREAD) $(PY) -m pytest -q -n $(JOBS) -m "not slow"

static: $(VENV)/.test-tools
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy kmviz

bench: install $(VENV)/.test-tools
	$(ONE_THREAD) $(PY) benchmarks/run.py

docs: install $(VENV)/.docs-tools
	$(ONE_THREAD) $(PY) -m sphinx -q -W -b html docs site

fuzz: install $(VENV)/.test-tools
	$(ONE_THREAD) $(PY) -m tests.fuzz --minutes $(or $(MINUTES),2)

papers: install
	$(ONE_THREAD) $(PY) -m kmviz.papers.run --jobs 2 $(if $(FULL),--full)

install: $(VENV)/.compiled

# Each step leaves a stamp in the environment, so that a second call has nothing to do.
$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "kmviz needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "No venv module: on Debian or Ubuntu, apt-get install python3-venv"; exit 2; }
	@touch $@

$(VENV)/.app: $(VENV)/.created requirements.txt pyproject.toml
	$(PIP) -e ".[app]"
	@touch $@

$(VENV)/.test-tools: $(VENV)/.created requirements.txt pyproject.toml
	$(PIP) -e ".[app,test,distributed,onnx]"
	@test -e $(VENV)/.app || touch $(VENV)/.app
	@touch $@

# The loops are compiled here, so that no page waits for a compiler.
$(VENV)/.compiled: $(NEEDS) $(LOOPS)
	$(PY) -m kmviz.loops
	@touch $@

$(VENV)/.docs-tools: $(NEEDS)
	$(PIP) -e ".[app,docs]"
	@touch $@

# Debian's browser takes none of our packages: it is fetched beside them.
browser: $(VENV)/.browser

system-browser:
	@test -e $(VENV)/.browser || $(PYTHON) tests/browser/chromium.py --system

$(VENV)/.browser: $(VENV)/.test-tools tests/browser/chromium.py | system-browser
	$(PY) tests/browser/chromium.py --install
	@touch $@

lint: $(VENV)/.test-tools
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

clean:
	rm -rf $(VENV) site docs/generated docs/auto_gallery docs/sg_execution_times.rst .mypy_cache .pytest_cache .ruff_cache

help:
	@sed -n 1,6p Makefile
