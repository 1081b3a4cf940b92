"""Cache policies by name, at several capacities, over a trace in pieces."""

from collections.abc import Sequence

import numpy as np

from flashsim.cache import arc, belady, clock, clock2, fifo, lfu, random, s3fifo, sieve, slru, twoq, wtinylfu
from flashsim.cache.lru import PAGES_MAX, LruSweep, Marked, whole_pages
from flashsim.errors import UsageError
from flashsim.kernels import backend as kernels_of
from flashsim.kernels.state import PolicyState

# One module a policy: NAME, KERNEL, state(capacity, pages), check(state). LRU is apart: one pass serves every capacity.
# With OFFLINE = True the kernel runs over next uses instead of pages, and state takes the number of references.
_ALL = (fifo, clock, clock2, sieve, s3fifo, slru, twoq, arc, lfu, wtinylfu, random, belady)
MODULES = {module.NAME: module for module in _ALL}
POLICIES = ("lru", *MODULES)


def check_policies(policies: Sequence[str]) -> None:
    """Raise UsageError unless each of ``policies`` is one, and comes once."""
    for policy in policies:
        if policy not in POLICIES or list(policies).count(policy) > 1:
            names = ", ".join(POLICIES)
            raise UsageError(f"--policy {policy}: give each of the {len(POLICIES)} policies at most once: {names}")


class PolicySweep(Marked):
    """Caches of one policy and several capacities, fed by one trace in pieces; :class:`LruSweep` for any policy.

    policy: one of POLICIES. capacities: pages each, any order, at least 1. pages: every id is below this.
    Raises UsageError for others.
    """

    def __init__(self, policy: str, capacities: Sequence[int], pages: int, backend: str = "c") -> None:
        if policy not in MODULES:
            raise UsageError(f"{policy!r} is none of the {len(POLICIES)} policies: {', '.join(POLICIES)}")
        wanted = [min(capacity, 2**31 - 1) for capacity in whole_pages(capacities)]
        if pages > PAGES_MAX:
            raise UsageError(f"{pages} different ids are over {PAGES_MAX}: take --unit page or a smaller table")
        self._module = MODULES[policy]
        self._run = getattr(kernels_of(backend), self._module.KERNEL)
        # more capacity than pages changes nothing but the memory it takes
        self._capacities = [max(min(capacity, pages), 1) for capacity in wanted]
        self._future, self._mark = None, 0
        if getattr(self._module, "OFFLINE", False):
            self._future, self._settled = belady.NextUses(pages, kernels_of(backend).next_use), None
        else:
            self._settled = [self._module.state(capacity, pages) for capacity in self._capacities]

    def run(self, trace: np.ndarray) -> None:
        """Go on with ``trace``: uint32, contiguous, every id below ``pages``."""
        if self._future is not None:
            self._future.run(trace)
            self._settled = None
        else:
            for state in self._settled:
                self._run(state, trace)

    @property
    def _states(self) -> list[PolicyState]:
        """The state at each capacity; of an offline policy, computed here."""
        if self._settled is None:
            uses = self._future.uses
            self._settled = [self._module.state(capacity, len(uses)) for capacity in self._capacities]
            for part in (uses[: self._mark], uses[self._mark :]):
                self._misses_before = np.array([state.misses for state in self._settled], np.int64)
                for state in self._settled:
                    self._run(state, part)
        return self._settled

    @property
    def misses(self) -> np.ndarray:
        """int64, shape (capacities,): misses so far, cold ones included."""
        return np.array([state.misses for state in self._states], np.int64)

    @property
    def distinct(self) -> int:
        """Pages touched so far."""
        return (self._future or self._settled[0]).distinct

    def mark(self) -> None:
        """Count from now on. An offline policy knows what comes after, so its misses before are taken at the end."""
        if self._future is None:
            super().mark()
        else:
            self._mark, self._distinct_before = len(self._future.uses), self.distinct

    @property
    def misses_since_mark(self) -> np.ndarray:
        """int64, shape (capacities,): misses since :meth:`mark`."""
        states = self._states  # of an offline policy, this counts those before the mark
        return np.array([state.misses for state in states], np.int64) - self._misses_before

    def check(self) -> None:
        """Raise AssertionError where a state broke its policy's invariant."""
        for state in self._states:
            self._module.check(state)


def sweep_of(policy: str, capacities: Sequence[int], pages: int, backend: str = "c") -> PolicySweep | LruSweep:
    """The caches of ``policy``: all capacities in one pass for "lru", one after the other for the rest."""
    return (LruSweep if policy == "lru" else lambda *args: PolicySweep(policy, *args))(capacities, pages, backend)
