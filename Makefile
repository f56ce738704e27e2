# Two commands set everything up: `make run` and `make test`. Each makes the virtual environment once and says so.
.DEFAULT_GOAL := help
.PHONY: help install run test lint format docs notebooks clean

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile

install: $(INSTALLED)  ## make the virtual environment .venv and install samovar into it

run: $(INSTALLED)  ## install, then train and test the default model (a few minutes) in runs/glyphs
	$(BIN)/samovar train glyphs --out runs/glyphs

test: $(INSTALLED)  ## install, then run the tests
	$(BIN)/python -m pytest -n auto

lint: $(INSTALLED)  ## format check, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(INSTALLED)  ## format and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# mkdocs-material prints a notice about a future MkDocs at every build, which says nothing about ours.
docs: $(INSTALLED)  ## build the documentation into site/ (open site/index.html); a dead link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

notebooks: $(INSTALLED)  ## run the notebooks of docs/ from top to bottom
	$(BIN)/python -m pytest --nbmake -n auto docs/*.ipynb

clean:  ## remove the virtual environment and the built documentation
	rm -rf .venv site

# The stamp is made last: an installation that was cut short is done again.
$(INSTALLED): pyproject.toml constraints.txt
	@echo "Making the virtual environment .venv and installing samovar into it (once; needs the network)."
	@$(PYTHON) -c 'import sys; sys.exit("samovar needs Python 3.11 or newer." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@
