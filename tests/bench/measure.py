"""How the benchmarks measure: CPU seconds of this process, sides interleaved, medians with their spread."""

import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple


class Timing(NamedTuple):
    """CPU seconds of each round."""

    seconds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def rate(self, count: int) -> str:
        """``count`` things in millions a second: median, and the slowest and fastest round."""
        low, high = count / max(self.seconds) / 1e6, count / min(self.seconds) / 1e6
        return f"{count / self.median / 1e6:,.1f} ({low:,.1f} - {high:,.1f})"


def interleaved(rounds: int, warm: bool = True, **sides: Callable[[], object]) -> dict[str, Timing]:
    """Run every side once a round, in turn, so that noise falls on all alike; with ``warm`` after a round that is not
    counted (compilation, first touch of memory)."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for round_number in range(rounds + warm):
        for name, side in sides.items():
            began = time.process_time()
            side()
            if round_number >= warm:
                seconds[name].append(time.process_time() - began)
    return {name: Timing(values) for name, values in seconds.items()}


def machine() -> str:
    """One line that says where this ran."""
    from flashsim.files import _cpu_model

    load = Path("/proc/loadavg").read_text().split()[0] if Path("/proc/loadavg").exists() else "?"
    return f"{_cpu_model()}, {platform.system()} {platform.release()}, Python {platform.python_version()}, load {load}"
