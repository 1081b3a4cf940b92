"""The estimate before a run: references exact where no document starts, memory and time of the right size."""

import time
import tracemalloc

import numpy as np
import pytest

from flashsim.cache.engine import POLICIES
from flashsim.errors import UsageError
from flashsim.layouts import layout
from flashsim.studies.cache_sweep import sweep_cache
from flashsim.studies.cells import cells_of
from flashsim.studies.estimate import estimate, require_memory
from flashsim.studies.hot_set import hot_set, memory_bytes
from flashsim.tokens.stream import TokenStream

SIZES = [1 << 20, 1 << 22, 1 << 24]


@pytest.mark.parametrize("policy", POLICIES)
def test_memory_is_bounded_by_the_estimate(policy):
    stream = TokenStream(np.random.default_rng(0).integers(0, 65536, 60_000).astype(np.uint16))
    made = layout("engram", params="400M")
    needs = estimate(cells_of([stream], [made]), [policy], SIZES, 1, "c")
    assert 0 <= needs.references - 60_000 * 16 < 100
    warm = estimate(cells_of([stream], [made]), [policy, policy], SIZES, 1, "c", 1234)
    assert warm.references == 2 * (needs.references + 1234)
    tracemalloc.start()
    sweep_cache(stream, made, SIZES, policies=[policy])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    buffers = 64 << 20  # pieces, pandas, the least number of time slots
    assert needs.memory_bytes / 8 < peak < needs.memory_bytes + buffers


def test_a_short_text_takes_memory_for_its_reads_not_for_the_table(stream):
    """Of 800 M rows: 4 B for each would be 3 GB."""
    made = layout("deepseek-v4.1", raw_ids=True)
    (cell,) = cells_of([stream], [made], 0, 1000, unit="row")
    assert memory_bytes(cell) < 3 << 20 and estimate([cell], ["lru"], SIZES, 1, "c").memory_bytes < 2 << 30
    tracemalloc.start()
    hot_set(cell)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < memory_bytes(cell) + (24 << 20)  # pieces
    (many,) = cells_of([stream], [made], unit="row")
    assert memory_bytes(many) < 1 << 30 < 3 << 30 < estimate([many], ["lru"], SIZES, 1, "c").memory_bytes


@pytest.mark.parametrize(("unit", "way_out"), [("row", "take --unit page"), ("page", "fewer of it")])
def test_what_is_over_the_free_memory_is_refused_with_both(stream, tmp_path, monkeypatch, unit, way_out):
    monkeypatch.setattr("flashsim.studies.estimate._MEMORY", tmp_path / "meminfo")
    cells = cells_of([stream], [layout("flat", params="2M")], unit=unit)
    require_memory(1 << 50, cells, "fewer of it")  # nobody knows how much is free
    (tmp_path / "meminfo").write_text("MemTotal:  4096 kB\nMemAvailable:  2048 kB\n")
    require_memory(2 << 20, cells, "fewer of it")
    with pytest.raises(UsageError, match=f"about 3 MiB of memory are needed, 2 MiB are free: {way_out}"):
        require_memory(3 << 20, cells, "fewer of it")


def test_more_work_takes_longer(stream):
    cells = cells_of([stream], [layout("flat", params="2M"), layout("engram", params="2M")])
    one, two = (estimate(cells[:count], ["lru"], SIZES, 1, "c") for count in (1, 2))
    assert two.references > one.references and two.seconds > one.seconds
    assert (
        estimate(cells, ["lru", "fifo"], SIZES, 2, "c").seconds
        < estimate(cells, ["lru", "fifo"], SIZES, 1, "c").seconds
    )
    began = time.perf_counter()
    estimate(cells, list(POLICIES), SIZES, 1, "c")
    assert time.perf_counter() - began < 5
