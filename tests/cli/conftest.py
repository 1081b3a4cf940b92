"""Interrupting a sweep, as Ctrl-C does."""

from pathlib import Path

import pytest

from flashsim.studies import cache_sweep
from flashsim.studies.cells import names_of


@pytest.fixture
def interrupt_at(monkeypatch):
    """interrupt_at(n) interrupts the n-th cell and later ones, until a file "killed" is there; returns the list of the
    (label, policy) that were run."""

    def install(cell_number):
        real, ran = cache_sweep.run_cell, []

        def run_cell(cell, policy, *arguments):
            ran.append((names_of(cell)["label"], policy))
            if len(ran) >= cell_number and not Path("killed").exists():
                raise KeyboardInterrupt
            return real(cell, policy, *arguments)

        monkeypatch.setattr(cache_sweep, "run_cell", run_cell)
        return ran

    return install
