"""W-TinyLFU: pages come in by a small LRU window, and get into the main part if they were read more than what they push
out of it, by the count of a small sketch.

Paper: G. Einziger, R. Friedman, B. Manes, "TinyLFU: a highly efficient cache admission policy", ACM Transactions on
Storage 13(4), 2017.
Constants: the window has 1 % of the capacity, rounded down, at least a page; the main part, an SLRU, the rest. 80 % of
that, rounded down, can be protected: a page of the main part that is read again becomes the newest protected one, and
the oldest protected one too many becomes the newest of probation. The main part fills up by probation, without a
contest; then the window's oldest page meets probation's oldest (the protected part's, if probation is empty).
Sketch: count-min of 4 rows, counters of 4 bits that stay at 15, minimal increment (only the lowest of a page's four
counters grow), 16 counters for each page of capacity rounded up to a power of two, 128 at least. A page's counters lie
in one block of 64 bytes, 32 to a row. The hash is mix13 of csim/mix64.h, of the page id: its low bits are the block,
its bits 44 to 63 the columns, five a row. Each read counts once, before anything else. When the number of reads gets to
10 for each page of capacity, all counters are halved, rounded down, and so is that number. No doorkeeper.
Ties: equal counts keep the old page. No random admission.

libCacheSim's WTinyLFU differs: its sketch is a counting Bloom filter of 10 hashes, 14 counters of 32 bits for each
page, without minimal increment, halved after 32 hits in the main part for each of its pages; it does not count hits in
the window, and counts a page once more when it leaves the window; while the cache fills up, pages may go straight into
the protected part; below 100 pages its window has no room and it caches nothing. On skewed traces the two miss ratios
are within 0.01 of each other; where the hot set moves this one, which halves sooner, has missed up to 0.07 less.
Memory: 8 B a page; for each page of capacity 8 to 16 B of sketch, and logs of 1 and of 0.8 capacities: 15 to 30 B.
"""

from flashsim.cache.logs import CACHED, GHOSTS, check_logs, registers, state_with_logs
from flashsim.kernels.state import PolicyState

NAME, KERNEL = "wtinylfu", "wtinylfu_run"
SAMPLE = 10  # reads, for each page of capacity, after which the sketch is halved
_BLOCK_WORDS = 16


def state(capacity: int, pages: int) -> PolicyState:
    """A cache of ``capacity`` pages, empty; ids below ``pages``."""
    window = max(capacity // 100, 1)
    main = capacity - window
    protected = main * 4 // 5
    blocks = max((1 << (capacity - 1).bit_length()) // 8, 1)
    made = state_with_logs(capacity, pages, window + 1, main + 1, protected + 1, slots=blocks * _BLOCK_WORDS)
    made.reg[1:7] = window, protected, 0, SAMPLE * capacity, len(made.slot) - blocks * _BLOCK_WORDS, blocks - 1
    return made


def check(state: PolicyState) -> None:
    """The invariant at the end: every page in one queue, each within its bound, and the sketch's sample not over."""
    cached = check_logs(state, 3)
    window, probation, protected = (registers(state, log) for log in range(3))
    assert window[CACHED] <= state.reg[1] and protected[CACHED] <= state.reg[2]
    assert window[GHOSTS] == probation[GHOSTS] == protected[GHOSTS] == 0
    assert cached == min(state.misses, state.capacity)
    assert 0 <= state.reg[3] < state.reg[4]
