"""Calibration: a drive is found again from few of its points, and what is no measurement is refused."""

import json

import numpy as np
import pytest

from flashsim.device.calibrate import _load, calibrate, errors
from flashsim.device.measured import Measured, measured
from flashsim.device.model import load_drive
from flashsim.device.spec import Drive, Figure, Source
from flashsim.errors import DataError, UsageError

SOURCE = Source("a test", "2026")
QUEUE = Drive("queue", "", parameters={key: Figure(value, "", "C") for key, value in (("w_us", 44), ("h_us", 10.5))})
# what a replay would be asked for: in flight, unit, mode, reads a lookup, lookups a group
ASKED = [
    *((depth, "reads", "stream", reads, 1) for depth in (1, 2, 4, 8, 16, 32, 64) for reads in (2, 16)),
    *((depth, "reads", "decode", 16, 1) for depth in (1, 4, 16, 64)),
    *((depth, "lookups", "decode", 2, 1) for depth in (1, 4, 32)),
    *((depth, "reads", "prefill", 2, 256) for depth in (1, 8, 64)),
]


def point(drive, in_flight, unit="reads", mode="stream", reads=1.0, lookups=1, noise=0.0):
    """What ``drive`` gives, off by ``noise`` (a standard deviation, in log)."""
    asked = Measured(in_flight, unit, mode, reads, lookups, 4096, 1.0)
    drawn = np.random.default_rng([in_flight, lookups]).normal()
    return asked._replace(reads_per_s=_load(asked).reads_per_s(drive) * float(np.exp(noise * drawn)))


def off(found, drive):
    """The largest error of ``found`` at what a replay of ``drive`` would ask for."""
    pairs = [(point(found, *asked).reads_per_s, point(drive, *asked).reads_per_s) for asked in ASKED]
    return max(abs(one / other - 1) for one, other in pairs)


@pytest.mark.parametrize(
    ("drive", "most"),
    [(QUEUE, 0.001), *((load_drive(name), 0.05) for name in ("nvmevirt-970pro", "p3700-800g", "micron9100max-2.4t"))],
    ids=lambda value: getattr(value, "name", ""),
)
def test_depths_1_and_64_predict_every_mode_between(drive, most):
    found = calibrate([point(drive, 1), point(drive, 64)], "found", SOURCE)
    assert found.calibrated and found.name == "found" and len(found.points) == 2
    assert np.abs(errors(found)).max() < 0.005
    assert ("w_us" in found.parameters) == (drive is QUEUE)
    assert off(found, drive) < most


@pytest.mark.parametrize("name", ["queue", "nvmevirt-zn540", "optane-p4800x"])
def test_more_points_choose_the_model(name):
    drive = QUEUE if name == "queue" else load_drive(name)
    found = calibrate([point(drive, depth, noise=0.02) for depth in (1, 2, 4, 8, 16, 32, 64)], "found", SOURCE)
    assert np.sqrt((errors(found) ** 2).mean()) < 0.03
    if name == "nvmevirt-zn540":
        assert found.parameters.keys() == {"dies", "z_us", "s_us", "l_us"}
    else:
        assert found.parameters.keys() == ({"w_us", "h_us"} if name == "queue" else {"z_us", "l_us"})
    assert off(found, drive) < 0.08


@pytest.mark.parametrize("drive", [QUEUE, load_drive("optane-p4800x")], ids=lambda drive: drive.name)
def test_points_without_noise_are_met(drive):
    found = calibrate([point(drive, depth) for depth in (1, 4, 64)], "found", SOURCE)
    assert np.abs(errors(found)).max() < 0.004


def test_a_stray_point_does_not_change_the_model():
    """One run of fio on a virtual disk, at 8 in flight lucky: dies would come nearer to that, but not by much."""
    rates = {1: 21.3e3, 2: 37.3e3, 4: 56.3e3, 8: 90.5e3, 16: 85e3, 32: 92.3e3, 64: 106e3}
    found = calibrate(
        [point(QUEUE, depth)._replace(reads_per_s=rate) for depth, rate in rates.items()], "found", SOURCE
    )
    assert found.parameters.keys() == {"w_us", "h_us"}


def test_the_hosts_cost_of_a_lookup_is_found_where_groups_differ():
    drive = Drive("", "", parameters=QUEUE.parameters | {"hl_us": Figure(6, "", "C")})
    points = [point(drive, depth, reads=reads) for depth in (1, 64) for reads in (2, 16)]
    found = calibrate(points, "found", SOURCE)
    assert found.value("hl_us") == pytest.approx(6, rel=0.05) and found.value("h_us") == pytest.approx(10.5, rel=0.02)
    without = calibrate([point(QUEUE, depth, reads=reads) for depth in (1, 64) for reads in (2, 16)], "found", SOURCE)
    assert "hl_us" not in without.parameters


def test_the_senders_cpu_is_told_apart_where_it_was_measured():
    """Depths 1 and 64 are met either way, but steps of few reads only with it."""
    drive = Drive("", "", parameters=QUEUE.parameters | {"c_us": Figure(4, "", "C")})
    points = [point(drive, 1)._replace(cpu_us_per_read=40), point(drive, 64)._replace(cpu_us_per_read=4)]
    found = calibrate(points, "found", SOURCE)
    without = calibrate([each._replace(cpu_us_per_read=None) for each in points], "without", SOURCE)
    assert found.value("c_us") == 4 and found.value("w_us") == pytest.approx(44, rel=0.01)
    assert found.points[1].cpu_us_per_read == 4 and "c_us" not in without.parameters
    assert np.abs([*errors(found), *errors(without)]).max() < 0.005
    assert off(found, drive) < 0.01 < 0.1 < off(without, drive)


def test_a_sender_takes_no_more_than_reads_are_apart():
    """CPU of several threads, or waking up, would make a drive that is slower than what was measured."""
    points = [point(QUEUE, depth)._replace(cpu_us_per_read=200.0) for depth in (1, 64)]
    found = calibrate(points, "found", SOURCE)
    assert np.abs(errors(found)).max() < 0.01
    assert found.value("c_us") == pytest.approx(1e6 / points[1].reads_per_s, rel=1e-4)


def test_one_depth_is_too_few():
    with pytest.raises(UsageError, match=r"1 depth in 2 points: 2 are needed"):
        calibrate([point(QUEUE, 8), point(QUEUE, 8, reads=2)], "found", SOURCE)


@pytest.mark.parametrize("rate", [1.9, 3e8])
def test_rates_of_no_drive_are_refused(rate):
    with pytest.raises(UsageError, match=r"reads/s with 2 in flight: no drive takes"):
        calibrate([point(QUEUE, 8), point(QUEUE, 2)._replace(reads_per_s=rate)], "found", SOURCE)


def fio_job(iops, group=0, **options):
    return {"jobname": "a", "groupid": group, "job options": options, "read": {"iops": iops, "lat_ns": {"mean": 1.0}}}


def written(path, facts, before=""):
    path.write_text(before + json.dumps(facts))
    return path


def test_fio(tmp_path):
    common = {"rw": "randread", "direct": "1", "bs": "4k", "ioengine": "libaio"}
    jobs = [
        fio_job(100, 0, iodepth="4", numjobs="2"),  # with group_reporting: 2 jobs in one entry
        fio_job(10, 1, iodepth="8", numjobs="2"),  # without: one entry each
        fio_job(11, 1, iodepth="8", numjobs="2"),
        fio_job(7, 2, iodepth="32", ioengine="psync", numjobs="3"),  # threads that wait
        fio_job(0, 3, iodepth="1"),  # ran for no time
        fio_job(20e3, 4, iodepth="64") | {"usr_cpu": 2.5, "sys_cpu": 7.5},
    ]
    one = written(tmp_path / "one.json", {"global options": common, "jobs": jobs}, before="note: both iodepth >= 1\n")
    two = written(tmp_path / "two.json", {"jobs": [fio_job(300, 0, **common, iodepth="8")]})
    three = written(tmp_path / "three.json", {"jobs": [fio_job(200, 0, **common | {"bs": "4096"}, iodepth="8")]})
    found = [(point.in_flight, point.reads_per_s) for point in measured([one, two, three])]
    assert found == [(3, 7), (8, 200), (16, 21), (64, 20e3)]  # at 8: the median of 100, 300 and 200
    assert [point.cpu_us_per_read for point in measured([one])] == [None, None, None, 5]
    assert {point[1:6] for point in measured([one])} == {("reads", "stream", 1.0, 1, 4096)}


def row(**more):
    usual = {
        "in_flight": 4, "in_flight_unit": "reads", "mode": "stream", "reads_per_lookup": 2.0, "reads_per_s": 50e3,
        "source": "measured", "cache_bytes": 0, "rate": 0.0, "layout": "pagegram", "page_bytes": 4096,
        "engine": "io_uring",
    }  # fmt: skip
    return usual | more


def test_a_replay(tmp_path):
    rows = [
        row(repeat=1, cpu_us_per_read=4.0), row(repeat=2, reads_per_s=52e3, reads_per_lookup=1.99),
        row(repeat=3, reads_per_s=70e3, cpu_us_per_read=6.0),
        row(trace="another", reads_per_s=10e3),
        row(mode="decode", in_flight=8, reads_per_lookup=15.998),
        row(mode="decode", in_flight=8, in_flight_unit="lookups"),
        row(mode="prefill", reads_per_lookup=1.5, engine="threads", cpu_us_per_read=9.0),
        row(source="model"), row(cache_bytes=1 << 30), row(rate=1000.0), row(reads_per_s=0.0),
        row(reads_per_lookup=None),
    ]  # fmt: skip
    facts = {"kind": "replay", "asked": {"chunk": 512}, "points": rows}
    found = measured([written(tmp_path / "replay.json", facts)])
    assert [(each.mode, each.in_flight, each.reads_in_flight, each.reads_per_group) for each in found] == [
        ("decode", 8, 8, 16), ("decode", 8, 16, 2), ("prefill", 4, 4, 768), ("stream", 4, 4, 2), ("stream", 4, 4, 2),
    ]  # fmt: skip
    assert [each.cpu_us_per_read for each in found] == [None, None, None, 5, None]
    assert [each.reads_per_s for each in found[-2:]] == [52e3, 10e3] and found[2].lookups_per_group == 512


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"jobs": [fio_job(1, rw="read", direct="1")]}, r"rw=read \(1 job\).*--rw=randread"),
        ({"jobs": [fio_job(1, rw="randread")]}, "without direct=1"),
        ({"jobs": [fio_job(1, rw="randread", direct="1"), fio_job(1, rw="randread", direct="1", bs="8k")]}, "2 block"),
        ({"jobs": []}, "0 points that were measured"),
        ({"points": [row(source="model")]}, "0 measured points, 1 that a model predicted"),
        ({"points": [row(in_flight=5000)]}, "5000"),
    ],
)
def test_measurements_of_something_else_are_refused(tmp_path, facts, message):
    with pytest.raises(UsageError, match=message):
        measured([written(tmp_path / "bad.json", facts)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "0 of the keys"), ("[1]", "not an object"), ("fio: nothing", "not JSON"), ("\xff", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"jobs": [{}]}', "KeyError 'groupid' in 1 of its points"), ('{"points": [{"mode": "rw"}]}', "KeyError"),
        ('{"points": 5}', "TypeError"),
    ],
)  # fmt: skip
def test_files_that_hold_no_measurements_are_refused(tmp_path, text, message):
    (tmp_path / "bad.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=message):
        measured([tmp_path / "bad.json"])
    with pytest.raises(DataError, match="No such file"):
        measured([tmp_path / "none.json"])


def test_one_size_of_reads(tmp_path):
    paths = [written(tmp_path / f"{size}.json", {"points": [row(page_bytes=size)]}) for size in (4096, 8192)]
    with pytest.raises(UsageError, match="reads of 4,096 and 8,192 B"):
        measured(paths)
