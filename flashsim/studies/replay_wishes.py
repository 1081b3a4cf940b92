"""What a replay is asked to run, and the points that it comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from flashsim.device.workload import MODES, UNITS, limits
from flashsim.errors import UsageError
from flashsim.kernels.replay import require_rate


@dataclass(frozen=True)
class Wishes:
    """What is to be run. in_flight: numbers of ``unit``, one of UNITS. modes: of MODES. cache_bytes: 0 = none. seconds
    or lookups: how long a point is, one of them None; ramp_s: before that, uncounted. rate: lookups/s sent at their
    times, 0 = as fast as may be. chunk: tokens of a group of prefill. seed: of the places where points start."""

    in_flight: Sequence[int]
    unit: str = "reads"
    modes: Sequence[str] = ("stream",)
    cache_bytes: Sequence[int] = (0,)
    seconds: float | None = 2.0
    lookups: int | None = None
    ramp_s: float = 0.5
    repeats: int = 3
    rate: float = 0.0
    chunk: int = 2048
    seed: int = 0

    @property
    def groupings(self) -> int:
        """Ways in which the modes make groups of tokens: so often the caches go over each trace."""
        return len({MODES[mode].make for mode in self.modes})

    def check(self) -> None:
        """Raise UsageError where this cannot be run as asked."""
        for name, values, known in (("--mode", self.modes, MODES), ("--in-flight-unit", [self.unit], UNITS)):
            if unknown := [value for value in values if value not in known]:
                raise UsageError(f"{name} {unknown[0]}: none of the {len(known)} there are: {', '.join(known)}")
        for name, values in (("--in-flight", self.in_flight), ("--mode", self.modes), ("--cache", self.cache_bytes)):
            if len(set(values)) < len(values) or not values:
                raise UsageError(f"{name}: {len(values)} values, some twice or none: give each once")
        for mode in self.modes:
            for in_flight in self.in_flight:
                limits(mode, self.unit, in_flight)
        if (self.seconds is None) == (self.lookups is None):
            raise UsageError("--seconds and --lookups: 1 of the 2 ends a point")
        for name, value, least in (
            ("--seconds", self.seconds, 0.01), ("--lookups", self.lookups, 1), ("--repeat", self.repeats, 1),
            ("--ramp", self.ramp_s, 0), ("--chunk", self.chunk, 1),
        ):  # fmt: skip
            if value is not None and not least <= value < inf:
                raise UsageError(f"{name} {value:g}: take {least:g} or more")
        require_rate(self.rate)


class Point(NamedTuple):
    trace: int
    cache_bytes: int
    mode: str
    in_flight: int
    repeat: int  # from 1


def points_of(wishes: Wishes, traces: int) -> list[Point]:
    """The points in the order in which they are run: traces beside one another, a round over everything a repeat."""
    return [
        Point(trace, cache, mode, in_flight, repeat)
        for repeat in range(1, wishes.repeats + 1)
        for in_flight in wishes.in_flight
        for mode in wishes.modes
        for cache in wishes.cache_bytes
        for trace in range(traces)
    ]
