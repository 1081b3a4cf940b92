"""Drives by two figures, and what a drive does once something of it is relaxed."""

import msgspec
import numpy as np
import pytest

from flashsim.device.model import drive_names, load_drive, simulate
from flashsim.device.relaxed import Relaxed, assumed
from flashsim.device.spec import Figure
from flashsim.device.workload import GROUPS_MAX, by_token
from flashsim.errors import UsageError


def reads_per_s(drive, in_flight):
    groups = by_token(np.arange(20_000, dtype=np.uint32), np.ones(20_000, np.int64), 4096)
    return simulate(drive, groups, max_reads=in_flight, max_groups=GROUPS_MAX).reads_per_s


@pytest.mark.parametrize("in_flight", [1, 4, 64])
def test_two_figures_are_all_of_an_assumed_drive(in_flight):
    drive = assumed(100, 200_000)
    assert reads_per_s(drive, in_flight) == pytest.approx(min(in_flight * 1e4, 2e5), rel=0.01)


def test_a_token_waits_for_its_last_read():
    """k reads at once take the latency of one and k - 1 times the server."""
    groups = by_token(np.arange(8000, dtype=np.uint32), np.full(1000, 8), 4096)
    rate = simulate(assumed(100, 200_000), groups, max_reads=64, max_groups=1).lookups_per_s
    assert rate == pytest.approx(1e6 / (100 + 7 * 5), rel=0.01)


def test_bandwidth_is_reads_of_a_page():
    assert reads_per_s(assumed(100, 1e6, 4096 * 50_000), 64) == pytest.approx(50_000, rel=0.01)


@pytest.mark.parametrize("name", ["pcie4-consumer", "p3700-800g", "optane-p4800x", "virtio-blk"])
def test_relaxing_does_what_it_says(name):
    """Half the latency doubles reads/s of one read at a time, as far as no server takes part in it, and leaves the most
    there can be; twice the rate doubles the most, and leaves one read at a time."""
    drive = load_drive(name)
    alone, most = reads_per_s(drive, 1), reads_per_s(drive, 4096)
    faster, wider = Relaxed(latency=0.5).of(drive), Relaxed(rate=2).of(drive)
    assert 1.5 * alone < reads_per_s(faster, 1) <= 2.01 * alone
    assert reads_per_s(faster, 4096) == pytest.approx(most, rel=0.2)
    assert reads_per_s(wider, 4096) == pytest.approx(2 * most, rel=0.1)
    assert alone <= 1.001 * reads_per_s(wider, 1) and reads_per_s(wider, 1) < 1.4 * alone


def test_no_relaxed_drive_is_slower():
    for name in drive_names():
        drive = load_drive(name)
        if drive.calibrated:
            for in_flight in (1, 16, 256):
                for relaxed in (Relaxed(latency=0.5), Relaxed(rate=2)):
                    assert reads_per_s(relaxed.of(drive), in_flight) > 0.97 * reads_per_s(drive, in_flight), name


def test_a_better_drive_has_the_same_sender():
    drive = load_drive("optane-p4800x")
    drive = msgspec.structs.replace(drive, parameters=drive.parameters | {"c_us": Figure(20, "", "C")})
    for relaxed in (Relaxed(latency=0.5), Relaxed(rate=2)):
        assert reads_per_s(relaxed.of(drive), 64) == pytest.approx(50e3, rel=0.001)


@pytest.mark.parametrize(
    ("figures", "message"),
    [((0, 1000), "0 us and 1000 IOPS"), ((10, 0), "10 us and 0 IOPS"), ((10, 1000), "1,000 reads/s at most are 1000"),
     ((10, 1e6, 4096e3), "1,000 reads/s"), ((float("nan"), 5), "nan us")],
)  # fmt: skip
def test_refusals(figures, message):
    with pytest.raises(UsageError, match=message):
        assumed(*figures)


@pytest.mark.parametrize("dies", [1, 2, 3, 5, 7])
def test_few_dies_keep_their_rate_where_latency_is_halved(dies):
    """As far as whole dies let it; one die's latency is its rate."""
    drive = load_drive("pcie4-consumer")
    figures = {"dies": dies, "z_us": 5, "s_us": 100}
    drive = msgspec.structs.replace(drive, parameters={name: Figure(value, "", "C") for name, value in figures.items()})
    faster = Relaxed(latency=0.5).of(drive)
    assert reads_per_s(faster, 4096) == pytest.approx(reads_per_s(drive, 4096), rel=0.02)
    assert (reads_per_s(faster, 1) > 1.4 * reads_per_s(drive, 1)) == (dies > 1)


@pytest.mark.parametrize("figures", [(0.01, 1e9), (2e6, 1), (100, 0), (100, 1e5, 0)])
def test_figures_of_no_drive(figures):
    with pytest.raises(UsageError, match=r"0.1 us to 1 s a read"):
        assumed(*figures)


def test_larger_reads_have_no_more_bytes_a_second():
    """A drive's figures are of reads of one size: IOPS that were given of those, and others as many bytes."""

    def bytes_per_s(drive, page_bytes):
        groups = by_token(np.arange(20_000, dtype=np.uint32), np.ones(20_000, np.int64), page_bytes)
        return simulate(drive, groups, max_reads=4096, max_groups=GROUPS_MAX).reads_per_s * page_bytes

    assert bytes_per_s(assumed(100, 1e6, 5e8, page_bytes=16384), 16384) == pytest.approx(5e8, rel=0.01)
    assert bytes_per_s(assumed(100, 1e5, page_bytes=16384), 16384) == pytest.approx(16384e5, rel=0.01)
    for drive in (load_drive("optane-p4800x"), assumed(100, 1e5)):
        assert bytes_per_s(drive, 16384) == pytest.approx(bytes_per_s(drive, 4096), rel=0.02)
