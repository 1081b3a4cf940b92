"""The model of a drive: laws of queues, closed forms, and the published figures that its presets are made from."""

import numpy as np
import pytest

from flashsim.device.model import Drive, drive_names, load_drive, simulate
from flashsim.device.mva import bounds, mva
from flashsim.device.spec import Figure
from flashsim.device.workload import GROUPS_MAX, Groups, limits
from flashsim.errors import UsageError

CALIBRATED = [name for name in drive_names() if load_drive(name).calibrated]
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 256)


def drive(**parameters):
    return Drive("test", "", parameters={name: Figure(value, "", "C") for name, value in parameters.items()})


def groups(reads, count=20_000, lookups=1):
    pages = np.random.default_rng(1).integers(0, 2**32, count * reads, dtype=np.uint32)
    return Groups(pages, np.arange(1, count + 1) * reads, np.full(count, lookups), 4096)


def stream(made, in_flight, **more):
    return simulate(made, groups(1), max_reads=in_flight, max_groups=GROUPS_MAX, **more)


@pytest.mark.parametrize("name", CALIBRATED)
def test_laws_of_queues(name):
    made, before = load_drive(name), 0.0
    for in_flight in DEPTHS:
        found = stream(made, in_flight, lookups=40_000)
        assert found.mean_in_flight == pytest.approx(in_flight, rel=1e-9)
        # Little: what is cut off at the two ends is in_flight reads of 40,000
        assert found.reads_per_s * found.read.mean_ns / 1e9 == pytest.approx(in_flight, rel=0.01)
        assert found.reads_per_s <= bounds(made).reads_per_s(in_flight) * 1.001
        assert found.reads_per_s >= before * 0.999
        before = found.reads_per_s
        # exponential times wait more than constant ones, but not much more
        assert 0.855 <= mva(made, in_flight).reads_per_s / found.reads_per_s <= 1.006


def test_every_depth_counts_lookups_and_reads():
    for reads in (1, 2, 16):
        for mode, unit, in_flight in (("stream", "reads", 8), ("decode", "reads", 8), ("decode", "lookups", 5)):
            max_reads, max_groups = limits(mode, unit, in_flight)
            found = simulate(
                load_drive("p3700-800g"), groups(reads, 4000), max_reads=max_reads, max_groups=max_groups, lookups=9000
            )
            assert found.lookups == found.groups == found.lookup.count >= 9000
            cut = max_reads if max_groups > max_reads else max_groups * reads  # of lookups begun or not ended
            assert abs(found.reads - reads * found.lookups) <= cut
            assert found.read.count == found.reads and found.bytes == 4096 * found.reads
            if max_groups == 1:
                assert found.reads == reads * found.lookups
            if unit == "lookups":  # Little's law of lookups
                assert found.lookups_per_s * found.lookup.mean_ns / 1e9 == pytest.approx(in_flight, rel=0.01)


def test_a_lookup_lasts_as_long_as_its_slowest_read():
    made = drive(z_us=10, s_us=50, dies=1000)
    one, many = (simulate(made, groups(k, 3000), max_reads=64, max_groups=1) for k in (1, 16))
    assert one.lookup.mean_ns == one.read.mean_ns == 60_000
    assert many.lookup.mean_ns > many.read.mean_ns > 60_000
    # of 16 reads, two or more meet at one of 1000 dies with this chance; then one of them waits for 50 us
    meet = 1 - np.prod(1 - np.arange(16) / 1000)
    assert many.lookup.mean_ns == pytest.approx(60_000 + 50_000 * meet, rel=0.02)


def test_a_queue_that_works_in_batches_adds_the_same_for_each_read_in_flight():
    made = drive(w_us=40, h_us=10)
    for in_flight in DEPTHS:
        assert stream(made, in_flight).read.mean_ns == pytest.approx(1000 * (40 + 10 * in_flight), rel=2e-3)
        assert mva(made, in_flight).read_us == pytest.approx(40 + 10 * in_flight)
    together = simulate(made, groups(16, 1000), max_reads=4096, max_groups=1)
    assert together.lookup.mean_ns == 40_000 + 16 * 10_000
    assert bounds(made).latency_us == 50 and bounds(made).cap == 100e3 and bounds(made).knee == 5
    costly = drive(w_us=40, h_us=10, hl_us=8)
    assert mva(costly, 1, reads_per_lookup=4).read_us == bounds(costly, reads_per_lookup=4).latency_us == 52
    with_lookups = simulate(drive(w_us=40, h_us=10, hl_us=7), groups(16, 1000), max_reads=4096, max_groups=1)
    assert with_lookups.lookup.mean_ns == 40_000 + 16 * 10_000 + 7_000


@pytest.mark.parametrize(
    ("reads", "max_reads", "burst"), [(1, 64, 1), (8, 64, 8), (16, 64, 8), (16, 128, 16), (9, 9, 3)]
)
def test_the_cpu_of_a_first_burst_is_not_hidden(reads, max_reads, burst):
    made = drive(c_us=4, w_us=40, h_us=10)
    alone = simulate(made, groups(reads, 1000), max_reads=max_reads, max_groups=1)
    assert alone.lookup.mean_ns == 1000 * (4 * burst + 40 + 10 * reads)


def test_a_full_queue_hides_the_cpu_until_it_binds():
    made = drive(c_us=4, w_us=40, h_us=10)
    for in_flight in (2, 16, 64):
        assert stream(made, in_flight).reads_per_s == pytest.approx(in_flight / (40 + 10 * in_flight) * 1e6, rel=2e-3)
    assert bounds(made).latency_us == 54 and bounds(made).caps == {"cpu": 250e3, "host": 100e3}
    bound = drive(c_us=12, z_us=30, l_us=10)
    found = bounds(bound).cap, stream(bound, 64).reads_per_s, mva(bound, 64).reads_per_s
    assert found == pytest.approx((1e6 / 12,) * 3, rel=0.005)


def test_mva_is_exact_where_a_closed_form_is():
    # D customers at N equal exponential servers, one drawn at random each time: X = D / (D + N - 1) * N / s
    made = drive(s_us=50, dies=8)
    for in_flight in (1, 3, 8, 40):
        assert mva(made, in_flight).reads_per_s == pytest.approx(in_flight / (in_flight + 7) * 8 / 50e-6)
    # a delay and one server (machine repair): X = (1 - P(nobody at the server)) / l
    weights = np.cumprod([1, *(number * 2 / 10 for number in range(6, 0, -1))])
    assert mva(drive(z_us=10, l_us=2), 6).reads_per_s == pytest.approx((1 - 1 / weights.sum()) / 2e-6)


@pytest.mark.parametrize("load", [0.2, 0.5, 0.8])
def test_open_loop_waits_as_m_d_1_says(load):
    # lookups come at even times, but to random dies: at each of many dies they come nearly as a Poisson process
    dies, service = 256, 50.0
    rate = load * dies / service * 1e6
    found = simulate(
        drive(s_us=service, dies=dies), groups(1, 1_000_000), max_reads=4096, max_groups=GROUPS_MAX, rate=rate
    )
    assert found.lookups_per_s == pytest.approx(rate, rel=0.001)
    assert found.lookup.mean_ns / 1e3 - service == pytest.approx(service * load / (2 * (1 - load)), rel=0.03)


def test_open_loop_latency_counts_from_when_a_lookup_was_due():
    made = drive(l_us=10)  # 100 K reads/s
    held = simulate(made, groups(1, 1000), max_reads=1, max_groups=GROUPS_MAX, rate=200e3, lookups=900)
    assert held.lookups_per_s == pytest.approx(100e3, rel=0.01)
    assert held.lookup.max_ns == pytest.approx(1000 * (10 + 5 * 1000), rel=0.02)  # each one 5 us later than that before
    assert held.read.max_ns == 10_000


def test_the_report():
    made = load_drive("pagegram-report")
    engram, pagegram = (
        simulate(made, groups(k, 100_000 // k), max_reads=64, max_groups=GROUPS_MAX).lookups_per_s for k in (16, 2)
    )
    assert 16e3 < engram < 18e3
    assert pagegram == pytest.approx(135e3, rel=0.02)
    assert bounds(made).latency_us == 60


@pytest.mark.parametrize("name", ["p3700-800g", "micron9100max-2.4t", "optane-p4800x", "pcie4-consumer", "virtio-blk"])
def test_presets_go_through_what_was_measured(name):
    made = load_drive(name)
    points = [point for point in made.points if point.confidence == "A"]
    assert len(points) >= 2
    for point in points:
        found = stream(made, point.in_flight)
        assert found.reads_per_s == pytest.approx(point.reads_per_s, rel=0.05)


def test_seeds_and_backends():
    made, load = load_drive("nvmevirt-970pro"), groups(2, 2000)
    first, again, other = (
        simulate(made, load, max_reads=16, max_groups=GROUPS_MAX, seed=seed).wall_ns for seed in (0, 0, 1)
    )
    numba = simulate(made, load, max_reads=16, max_groups=GROUPS_MAX, backend="numba")
    assert first == again == numba.wall_ns != other


def test_a_hot_page_has_one_die():
    made, hot = drive(s_us=50, dies=16), groups(1, 1000)
    hot.pages[:] = 7
    assert stream(made, 16).reads_per_s > 5 / 50e-6
    found = simulate(made, hot, max_reads=16, max_groups=GROUPS_MAX)
    assert found.reads_per_s == pytest.approx(1 / 50e-6, rel=1e-3)


def test_what_cannot_be_modelled_is_refused():
    with pytest.raises(UsageError, match=r"apple-ssd is a template with 0 of 11 .* device calibrate"):
        stream(load_drive("apple-ssd"), 1)
    nothing = Groups(np.zeros(0, np.uint32), np.zeros(5, np.int64), np.ones(5, np.int64), 4096)
    with pytest.raises(UsageError, match="0 of 5 lookups read from the drive"):
        simulate(load_drive("p3700-800g"), nothing, max_reads=1, max_groups=1)
    seldom = Groups(np.zeros(1, np.uint32), np.array([0] * 99 + [1]), np.ones(100, np.int64), 4096)
    with pytest.raises(UsageError, match="the first 10 lookups read nothing"):
        simulate(load_drive("p3700-800g"), seldom, max_reads=1, max_groups=1, lookups=10)
