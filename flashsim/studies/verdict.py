"""What a plan comes to, in words: what binds, what a stream waits for, how early the reads of a layer are there."""

from dataclasses import dataclass

_BARELY = 1.05  # a gain that is none


@dataclass(frozen=True)
class Bound:
    """what: the resource that binds, "RAM", "latency", "IOPS", "bandwidth" or "queue depth". case: what relaxes it.
    gain: tokens/s that it buys, times the plan's; None where nothing is read."""

    what: str
    case: str
    gain: float | None

    def told(self) -> str:
        """What binds, for people."""
        if self.gain is None:
            return "nothing is read, so nothing of the drive binds"
        if self.gain < _BARELY:
            return f"nothing binds alone ({self.case} buys most, {self.gain:.2f} x)"
        return f"{self.what} binds ({self.case}: {self.gain:.2f} x)"


@dataclass(frozen=True)
class Slack:
    """How long before its reads are needed a layer has them. layer: its number. needed_us: after the token is known.
    mean_us, p99_us: when its reads are there, and those of the layers before it; 0 where there are none."""

    layer: int
    needed_us: float
    mean_us: float
    p99_us: float

    def told(self) -> str:
        """How early they are there, for people."""
        if not self.mean_us:
            return f"layer {self.layer}: nothing to read"
        return (
            f"layer {self.layer}: needed {self.needed_us / 1e3:.2f} ms after the token is known, there after "
            f"{self.mean_us / 1e3:.2f} ms (p99 {self.p99_us / 1e3:.2f}): slack "
            f"{(self.needed_us - self.mean_us) / 1e3:+.2f} ms"
        )


def cost_told(compute_us: float, stall_us: float, layers_known: bool) -> str:
    """What a stream whose token takes ``compute_us`` loses to a drive that it waits ``stall_us`` for, for people."""
    own, left = 1e6 / compute_us, 1e6 / (compute_us + stall_us)
    costs = f"the drive costs {100 * (1 - left / own):.2g} %" if stall_us else "the drive keeps up"
    where = "" if layers_known else ", where each token waits for all of its reads"
    return f"1 stream, {own:,.1f} tokens/s without a drive, {left:,.1f} with it: {costs}{where}"
