"""The files of drives: every figure has a source, and what is wrong is refused with its place."""

import msgspec
import pytest

from flashsim.device.spec import PARAMETERS, Drive, drive_names, load_drive, to_toml
from flashsim.errors import UsageError
from flashsim.kernels.drive import Stations

GOOD = """
name = "mine"
title = "a drive"
sources.me = { text = "measured", date = "2026-11" }
[parameters]
dies = { value = 8, source = "me", confidence = "A" }
s_us = { value = 50.5, source = "me", confidence = "B" }
"""


@pytest.mark.parametrize("name", drive_names())
def test_presets(name):
    drive = load_drive(name)
    assert drive.name == name and drive.title
    assert all(source.text and source.date[:2] in ("20", "se") for source in drive.sources.values())
    used = {each.source for each in (*drive.parameters.values(), *drive.points)}
    assert used == drive.sources.keys()  # none is missing and none idle
    assert all(point.reads_per_s or point.read_mean_us for point in drive.points)
    if drive.calibrated:
        assert drive.stations(seed=5).seed == 5


def test_templates_are_those_of_which_too_little_is_known():
    templates = {name for name in drive_names() if not load_drive(name).calibrated}
    assert templates == {
        "apple-ssd", "gen5-enterprise", "micron9200", "optane-p5800x", "pm9a3", "ufs2-256g", "ufs3-phone", "ufs4-phone",
    }  # fmt: skip


@pytest.mark.parametrize("name", drive_names())
def test_written_and_read_again(name, tmp_path):
    drive = load_drive(name)
    (tmp_path / "again.toml").write_text(to_toml(drive))
    (tmp_path / "again.json").write_bytes(msgspec.json.encode(drive))
    assert load_drive(str(tmp_path / "again.toml")) == load_drive(str(tmp_path / "again.json")) == drive
    assert drive.facts()["name"] == name


def test_odd_text_is_written_as_toml(tmp_path):
    drive = msgspec.structs.replace(load_drive("pcie4-consumer"), title='5" \\ Größe\t\x01\x7f', note="two\nlines ✓")
    (tmp_path / "odd.toml").write_text(to_toml(drive), encoding="utf-8")
    assert load_drive(str(tmp_path / "odd.toml")) == drive


def test_parameters_become_whole_nanoseconds(tmp_path):
    (tmp_path / "mine.toml").write_text(GOOD)
    drive = load_drive(str(tmp_path / "mine.toml"))
    assert drive.stations() == Stations(dies=8, sense=50_500)
    three = msgspec.structs.replace(drive.parameters["dies"], value=3)
    every = Drive("x", "", parameters=dict.fromkeys(PARAMETERS, three))
    assert every.stations(9) == Stations(3000, 3000, 3000, 3000, 3000, 3000, 3000, 3000, 3000, 3, 3, 9)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[parameters]", "[parameters", "not TOML"),
        ("s_us", "t_us", "'t_us' is none of the 11 parameters, dies"),
        (
            '"B"',
            '"D"',
            r"invalid enum value 'D' at \$\.parameters\[\.\.\.\]\.confidence: one of A, B, C \(1 field wrong\)",
        ),
        ('source = "me", confidence = "A"', 'source = "you", confidence = "A"', "source 'you' is none of the 1"),
        ("value = 8,", "value = 8.5,", "dies = 8.5: a whole number"),
        ("value = 8,", "value = 0,", "dies = 0: a whole number"),
        ("value = 50.5,", "value = -1,", "s_us = -1: 0 to"),
        ("value = 50.5,", "value = 3e6,", r"s_us = 3e\+06: 0 to 2.14748e\+06"),
        ("value = 50.5,", "value = nan,", "s_us = nan: 0 to"),
        ("value = 50.5,", "value = inf,", r"s_us = inf: 0 to 2.14748e\+06"),
        ("value = 8,", "value = nan,", "dies = nan: a whole number from 1 to 1048576"),
        ("value = 8,", "value = inf,", "dies = inf: a whole number from 1 to 1048576"),
        ("value = 50.5,", "value = 0,", "a read would take 0 ns"),
        ("value = 50.5,", "value = 4e-4,", "a read would take 0 ns"),
        *(
            (
                "[parameters]",
                f'points = [{{ source = "me", confidence = "A", reads_per_s = {rate} }}]\n[parameters]',
                f"point 1: reads_per_s = {rate}: 0 or more is needed, and finite",
            )
            for rate in ("nan", "inf", "-1")
        ),
        ("s_us", "s_jitter_us", "s_jitter_us = 50.5 is over s_us = 0"),
        ('"mine"', '"a/b"', "name 'a/b'"),
        ('title = "a drive"', "", "missing required field `title`"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, message):
    (tmp_path / "mine.toml").write_text(GOOD.replace(old, new))
    with pytest.raises(UsageError, match=message):
        load_drive(str(tmp_path / "mine.toml"))


def test_a_drive_that_is_not_there(tmp_path):
    for name in ("nvme", str(tmp_path / "no.toml"), __file__):
        with pytest.raises(UsageError, match=r"no drive .* one of the 16 presets, apple-ssd, "):
            load_drive(name)
    for name, text in (("bad.json", "{"), ("deep.json", "[" * 100_000), ("deep.toml", "a = " + "[" * 100_000)):
        (tmp_path / name).write_text(text)
        with pytest.raises(UsageError, match=f"{name}: (not JSON|not TOML|expected `object`)"):
            load_drive(str(tmp_path / name))
