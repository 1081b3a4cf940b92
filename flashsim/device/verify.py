"""Stamped pages read back: is each page of a target the one that was written there?"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from threading import local
from typing import NamedTuple, TypeVar

import numpy as np

from flashsim.device.target import Target, aligned_buffer, read_into
from flashsim.kernels import backend
from flashsim.kernels.stamps import DAMAGED, FOREIGN, GOOD, OTHER_SEED, STAMP_BYTES, ZERO, number_and_seed
from flashsim.kernels.target import dio_align

BLOCK_PAGES = 1024  # 4 MiB
WORKERS = 4
_NAMED = 16  # bad pages that are kept

_Task, _Result = TypeVar("_Task"), TypeVar("_Result")


class BadPage(NamedTuple):
    """A page that is not what it should be. number: of its stamp; offset: bytes. holds: in words."""

    number: int
    holds: str

    @property
    def offset(self) -> int:
        return self.number * STAMP_BYTES

    def __str__(self) -> str:
        return f"page {self.number} (byte {self.offset}) {self.holds}"


@dataclass
class Verification:
    """checked: stamps looked at. bad: how many were wrong, the first of which are ``named``. seconds: it took."""

    checked: int
    bad: int
    named: list[BadPage]
    seconds: float

    @property
    def gb_per_s(self) -> float:
        return self.checked * STAMP_BYTES / self.seconds / 1e9


def verify(
    target: Target,
    numbers: np.ndarray | None = None,
    *,
    seed: int | None = None,
    progress: Callable[[int], None] = lambda pages: None,
) -> Verification:
    """Read stamps of ``target`` and check each, as it was opened: past the page cache, or through it.

    numbers: those of the stamps to read, increasing; None = all, in blocks of 4 MiB. seed: of the stamps, by default
    what the first one says. ``progress`` is called with the number of stamps that each step took.
    """
    check = _Check(target.fd, target.size, (target.seed or 0) if seed is None else seed, target.direct.offset_align)
    began, result = time.perf_counter(), Verification(0, 0, [], 0.0)
    for count, bad, named in in_order(check, check.runs(numbers)):
        result.checked += count
        result.bad += bad
        result.named = (result.named + named)[:_NAMED]
        progress(count)
    result.seconds = time.perf_counter() - began
    return result


def sound_pages(fd: int, size: int, seed: int, progress: Callable[[int], None]) -> int:
    """How many stamps of ``seed`` the file ``fd`` holds before the first in its ``size`` bytes that is wrong.
    ``progress`` as for :func:`verify`."""
    found, align = 0, (dio_align(fd) or (0, 0))[1]
    check = _Check(fd, size, seed, align)
    for count, bad, named in in_order(check, check.runs(None)):
        if bad:
            return named[0].number
        found += count
        progress(count)
    return found


def in_order(work: Callable[[_Task], _Result], tasks: Iterable[_Task]) -> Iterator[_Result]:
    """The results of ``work`` on each of ``tasks``, in order, WORKERS at a time: the oldest task that is not done is
    never more than WORKERS - 1 tasks before the newest that has begun."""
    tasks = iter(tasks)
    with ThreadPoolExecutor(WORKERS) as pool:
        running = deque(pool.submit(work, task) for task in islice(tasks, WORKERS))
        while running:
            result = running.popleft().result()
            running.extend(pool.submit(work, task) for task in islice(tasks, 1))
            yield result


class _Check(local):
    """Reads runs of stamps and checks them; each thread has its own buffer."""

    def __init__(self, fd: int, size: int, seed: int, align: int) -> None:
        self._fd, self._size, self._seed = fd, size, seed
        self._least = max(1, align // STAMP_BYTES)  # stamps that a read has to take
        self._buffer = aligned_buffer(BLOCK_PAGES * STAMP_BYTES)

    def runs(self, numbers: np.ndarray | None) -> Iterator[tuple[int, int]]:
        """(first, count) of each run of stamps to read for those of ``numbers``, None = all."""
        least = self._least
        if numbers is not None:
            return ((first * least, least) for first in np.unique(numbers // least).tolist())
        pages = self._size // STAMP_BYTES // least * least
        return ((first, min(BLOCK_PAGES, pages - first)) for first in range(0, pages, BLOCK_PAGES))

    def __call__(self, run: tuple[int, int]) -> tuple[int, int, list[BadPage]]:
        """(stamps checked, bad, the first of them)."""
        first, count = run
        block = self._buffer[: count * STAMP_BYTES]
        try:
            got = read_into(self._fd, first * STAMP_BYTES, block) // STAMP_BYTES
        except OSError as error:
            if count == self._least:
                return count, count, [BadPage(first, f"cannot be read: {error.strerror} (errno {error.errno})")]
            parts = [self((number, self._least)) for number in range(first, first + count, self._least)]
            return count, sum(bad for _, bad, _ in parts), [page for *_, named in parts for page in named][:_NAMED]
        pages = block.reshape(count, STAMP_BYTES)
        states = backend("c").stamp_check(pages[:got], first, self._seed)
        wrong = np.flatnonzero(states != GOOD).tolist()
        named = [BadPage(first + at, _holds(states[at], pages[at], self._seed)) for at in wrong[:_NAMED]]
        cut = [BadPage(number, "is not there: the file ends before it") for number in range(first + got, first + count)]
        return count, len(wrong) + len(cut), (named + cut)[:_NAMED]


def _holds(state: int, page: np.ndarray, seed: int) -> str:
    """What a bad page holds, in words."""
    number, other = number_and_seed(page)
    return {
        ZERO: "holds zeros: it was never written, or trimmed",
        FOREIGN: "holds no stamp: something else was written there",
        DAMAGED: f"is damaged: it calls itself page {number}, but its checksum is wrong (1 bit or more flipped)",
        OTHER_SEED: f"holds page {number} of a target with seed {other}, not {seed}: it is stale",
    }.get(state, f"holds page {number} instead")
