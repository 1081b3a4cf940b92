"""What plans and curves come to, in words, for the screen and the page of results: what binds, what a stream waits for,
how early the reads of a layer are there, what more cache saves."""

from collections.abc import Sequence
from dataclasses import dataclass

from flashsim.units import format_bytes

_BARELY = 1.05  # a gain that is none
_ALIKE = 0.95  # of the best gain: binds as well
_COSTS_LEAST = 0.0005  # of tokens/s
_DOUBLINGS = 6  # the largest ones are told, all are in the JSON


@dataclass(frozen=True)
class Bound:
    """what: the resource that binds, "RAM", "latency", "IOPS", "bandwidth" or "queue depth". case: what relaxes it.
    gain: tokens/s that it buys, times the plan's; None where nothing is read then."""

    what: str
    case: str
    gain: float | None

    def _told(self) -> str:
        return f"{self.case}: {'nothing is read' if self.gain is None else f'{self.gain:.2f} x'}"


def binding(relaxed: Sequence[Bound]) -> list[Bound]:
    """Of those that buy something, the one that buys most, first, and those that buy about as much."""

    def gain(bound: Bound) -> float:
        return float("inf") if bound.gain is None else bound.gain

    best = max(map(gain, relaxed))
    return sorted((bound for bound in relaxed if gain(bound) >= _ALIKE * best), key=gain, reverse=True)


def bounds_told(bounds: Sequence[Bound]) -> str:
    """What binds, for people. bounds: of :func:`binding`, or () where nothing is read."""
    if not bounds:
        return "too little is read for anything of the drive to bind"
    whats, told = " and ".join(bound.what for bound in bounds), ", ".join(bound._told() for bound in bounds)
    if bounds[0].gain is not None and bounds[0].gain < _BARELY:
        return f"nothing binds alone ({bounds[0]._told()} at most)"
    return f"{whats} bind{'s' * (len(bounds) == 1)} ({told})"


@dataclass(frozen=True)
class Slack:
    """How long before its reads are needed a layer has them. layer: its number. needed_us: after the token is known.
    mean_us, p99_us: when its reads are there, and those of the layers before it; 0 where there are none. wait_us: mean
    of what a token waits for them."""

    layer: int
    needed_us: float
    mean_us: float
    p99_us: float
    wait_us: float

    def told(self) -> str:
        """How early they are there, for people."""
        if not self.mean_us:
            return f"layer {self.layer}: nothing to read"
        return (
            f"layer {self.layer}: needed {self.needed_us / 1e3:.2f} ms after the token is known, there after "
            f"{self.mean_us / 1e3:.2f} ms (p99 {self.p99_us / 1e3:.2f}): slack "
            f"{(self.needed_us - self.mean_us) / 1e3:+.2f} ms"
        )


def cost_told(compute_us: float, stall_us: float, reads_per_token: float) -> str:
    """What a stream whose token takes ``compute_us`` loses to a drive that it waits ``stall_us`` for, for people."""
    own, left = 1e6 / compute_us, 1e6 / (compute_us + stall_us)
    cost = 1 - left / own
    costs = f"the drive costs {100 * cost:.2g} %" if cost >= _COSTS_LEAST else "the drive keeps up"
    reads = f"{left * reads_per_token:,.0f} reads/s"
    return f"1 stream, {own:,.1f} tokens/s without a drive, {left:,.1f} with it, {reads}: {costs}"


@dataclass(frozen=True)
class Doubling:
    """What a cache of ``cache_bytes`` saves over one of half the size, in reads/token."""

    cache_bytes: int
    saved_reads_per_token: float


def doublings_told(doublings: Sequence[Doubling]) -> str:
    """What the last doublings of the cache save, for people; in increasing order of size, at least one."""
    saved = [f"{one.saved_reads_per_token:.3f} to {format_bytes(one.cache_bytes)}" for one in doublings[-_DOUBLINGS:]]
    return f"a doubling of the cache saves, in reads/token: {', '.join(saved)}"
