"""What else a machine did while something was measured on it: other processes, time stolen by its hypervisor."""

import os
import resource
from dataclasses import dataclass
from pathlib import Path

_USER, _NICE, _SYSTEM, _STEAL = 0, 1, 2, 7  # fields of /proc/stat's first line, see proc(5)


@dataclass(frozen=True)
class Load:
    """Seconds since boot, or between two of these: of all cores together (total), running any process (busy), stolen by
    the hypervisor (steal), and of this process, its threads and the kernel's workers for it (own)."""

    total: float
    busy: float
    steal: float
    own: float

    @classmethod
    def now(cls) -> "Load | None":
        """None where there is no /proc/stat."""
        try:
            ticks = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        except (OSError, ValueError):
            return None
        used, hertz = resource.getrusage(resource.RUSAGE_SELF), os.sysconf("SC_CLK_TCK")
        busy = ticks[_USER] + ticks[_NICE] + ticks[_SYSTEM]
        return cls(sum(ticks) / hertz, busy / hertz, ticks[_STEAL] / hertz, used.ru_utime + used.ru_stime)

    def __sub__(self, before: "Load") -> "Load":
        return Load(
            self.total - before.total, self.busy - before.busy, self.steal - before.steal, self.own - before.own
        )

    @property
    def foreign(self) -> float:
        """Share of all cores that other processes took; interrupts are not counted, many are for this one's reads."""
        return max(0.0, self.busy - self.own) / self.total if self.total > 0 else 0.0

    @property
    def stolen(self) -> float:
        """Share of all cores that the hypervisor gave to others."""
        return self.steal / self.total if self.total > 0 else 0.0


def virtual_machine() -> str | None:
    """What says that this is a virtual machine, or None."""
    try:
        flags = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags"))
    except (OSError, StopIteration):
        return None
    if "hypervisor" not in flags.split():
        return None
    product = Path("/sys/class/dmi/id/product_name")
    return product.read_text().strip() if product.is_file() else "CPU flag hypervisor"
