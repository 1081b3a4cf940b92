# make demo: the report's Fig. 4a from real text.   make test: every test.   Both set everything up by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILT := $(VENV)/.built

.PHONY: demo test bench lint clean

demo: $(BUILT)
	$(BIN)/flashsim sweep-cache

test: $(BUILT)
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	./tools/get-chromium
	$(BIN)/pytest

bench: $(BUILT)
	$(BIN)/python -m tests.bench

$(BUILT): pyproject.toml $(wildcard csim/*)
	./tools/make-venv $(PYTHON) $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[text,weights,dev]'
	touch $@

clean:
	rm -rf $(VENV) build dist
