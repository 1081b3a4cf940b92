"""Drives that are not in the presets: one of two figures from a data sheet, and a known one with something relaxed."""

from dataclasses import dataclass

import msgspec

from flashsim.device.spec import Drive, Figure, Source
from flashsim.errors import UsageError

_IOPS, _BANDWIDTH = "IOPS", "bandwidth"  # also the sources of an assumed drive's figures
# Parameters by what they are: a time that passes whatever else is going on, or a server that reads wait for. The CPU
# that sends (c_us) is none of the drive's.
_LATENCY, _SERVICE, _SERVERS = ("z_us", "w_us"), ("l_us", "h_us", "hl_us"), ("dies", "channels")


def assumed(latency_us: float, iops: float, bytes_per_s: float | None = None, page_bytes: int = 4096) -> Drive:
    """A drive of which nothing is known but the latency of a read alone and the most reads a second.

    bytes_per_s: the most bytes a second, which may be fewer reads of ``page_bytes``. A delay, then one server: reads/s
    are the smaller of in flight / latency and IOPS. Raises UsageError for figures of no drive: a latency below 0.1 us,
    over 1 s, or below the time that a read takes at that rate.
    """
    if not 0.1 <= latency_us <= 1e6 or not iops > 0 or (bytes_per_s is not None and not bytes_per_s > 0):
        raise UsageError(
            f"a drive of {latency_us:g} us and {iops:g} IOPS: take 0.1 us to 1 s a read, and reads/s over 0"
        )
    by_rate, by_bytes = 1e6 / iops, 0 if bytes_per_s is None else page_bytes * 1e6 / bytes_per_s
    service, limit = max((by_rate, _IOPS), (by_bytes, _BANDWIDTH))
    if service > latency_us:
        raise UsageError(
            f"{latency_us:g} us a read, and {1e6 / service:,.0f} reads/s at most are {service:.1f} us each: a read "
            "alone takes no less than that; give a longer latency"
        )
    most = f"{iops:,.0f} IOPS" if bytes_per_s is None else f"{iops:,.0f} IOPS and {bytes_per_s / 1e6:,.0f} MB/s"
    return Drive(
        name="assumed",
        title=f"{latency_us:g} us a read, at most {most}, as given",
        sources={name: Source("the command line", "") for name in ("latency", limit)},
        parameters={"z_us": Figure(latency_us - service, "latency", "C"), "l_us": Figure(service, limit, "C")},
        page_bytes=page_bytes,
    )


def limit_of(drive: Drive) -> str:
    """What limits the reads a second of ``drive``, for people: "bandwidth" where that was given and is the lower, else
    "IOPS", which at one size of read is the same."""
    link = drive.parameters.get("l_us")
    return _BANDWIDTH if link and link.source == _BANDWIDTH else _IOPS


@dataclass(frozen=True)
class Relaxed:
    """``drive`` with ``latency`` times its latency, ``rate`` times its reads a second at the most, and ``cpu`` times
    its sender's time for a read: 2 for one of two drives that one thread sends to."""

    latency: float = 1.0
    rate: float = 1.0
    cpu: float = 1.0

    def of(self, drive: Drive) -> Drive:
        """A die is both: it is made faster for latency with fewer of them, whole ones, and more of them for rate. So
        the latency of few dies changes by the nearest share there is, and that of one, which is its rate, not."""
        dies = drive.value("dies")
        faster = max(1, round(dies * self.latency)) / dies
        changed = dict.fromkeys(_LATENCY, self.latency) | dict.fromkeys(_SERVICE, 1 / self.rate)
        changed |= {"s_us": faster, "s_jitter_us": faster, "b_us": 1.0, "c_us": self.cpu}
        parameters = {
            name: Figure(figure.value * changed.get(name, 1.0), figure.source, "C")
            for name, figure in drive.parameters.items()
        }
        for name in _SERVERS:
            scale = self.rate * (faster if name == "dies" else 1)
            parameters[name] = Figure(max(1, round(drive.value(name) * scale)), "", "C")
        return msgspec.structs.replace(drive, parameters=parameters)
