"""flashsim device: the list, one drive in figures, and a calibration."""

import json

import pytest

from flashsim.device.spec import drive_names, load_drive


def test_list(flashsim):
    code, out, err = flashsim("device", "list")
    assert (code, err) == (0, "")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert list(lines) == drive_names()
    assert "63.6 us alone,     447 K reads/s at most" in lines["nvmevirt-970pro"]
    assert "template: calibrate it before use" in lines["apple-ssd"]


def test_show(flashsim):
    code, out, err = flashsim("device", "show", "pagegram-report")
    assert (code, err) == (0, "")
    assert "s_us                34  C, fit: a die, for a read" in out and "source report: PageGram report" in out
    assert "238,000 reads/s  B, report" in out and "knee 17.6 in flight" in out
    table = out[out.index("in flight     reads/s") :].splitlines()[1:]
    rows = {int(line.split()[0]): line.split() for line in table}
    assert sorted(rows) == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert rows[1] == ["1", "16,667", "60.0", "60.2", "16,667", "16,667"]
    simulated, formula, bound = (float(rows[64][at].replace(",", "")) for at in (1, 4, 5))
    assert formula < simulated < bound


def test_show_a_template(flashsim):
    code, out, err = flashsim("device", "show", "ufs3-phone")
    assert (code, err) == (0, "") and "in flight" not in out
    assert "37,240 reads/s" in out and "flashsim device calibrate FIO.json" in out


@pytest.fixture
def fio_files(tmp_path):
    """fio's JSON of a drive that takes 40 + 10 D us with D in flight."""
    for depth in (1, 8, 64):
        options = {"rw": "randread", "direct": "1", "iodepth": str(depth), "ioengine": "io_uring"}
        job = {"groupid": 0, "job options": options, "read": {"iops": depth / (40 + 10 * depth) * 1e6}}
        (tmp_path / f"fio{depth}.json").write_text(json.dumps({"fio version": "fio-3.33", "jobs": [job]}))
    return tmp_path


def test_calibrate(flashsim, fio_files):
    code, out, err = flashsim("device", "calibrate", "fio1.json", "fio64.json", "-o", "mine.toml")
    assert code == 0 and "note: 2 depths do not tell" in err and "wrote mine.toml" in err
    drive = load_drive("mine.toml")
    assert drive.name == "mine" and drive.value("w_us") == pytest.approx(40, rel=0.01)
    assert "fio1.json, fio64.json" in drive.sources["measured"].text
    rows = [line.split() for line in out.splitlines()]
    assert rows[1][:5] == ["stream", "1", "reads", "1", "20,000"] and rows[2][1] == "64"
    assert all(abs(float(row[-1].rstrip("%"))) < 0.5 for row in rows[1:3])
    code, out, err = flashsim("device", "show", "mine.toml")
    assert code == 0 and "model 20,0" in out and "knee 5.0 in flight" in out


def test_calibrate_with_three_depths(flashsim, fio_files):
    files = [f"fio{depth}.json" for depth in (8, 1, 64)]
    code, _, err = flashsim("device", "calibrate", *files, "--name", "three")
    assert code == 0 and "note" not in err and load_drive("drive.toml").name == "three"


def test_show_a_drive_of_delays_alone(flashsim, tmp_path):
    (tmp_path / "d.toml").write_text(
        'name = "d"\ntitle = ""\nsources.me = { text = "a guess", date = "2026" }\n'
        'parameters.z_us = { value = 50, source = "me", confidence = "C" }\n'
    )
    code, out, _ = flashsim("device", "show", "d.toml")
    assert code == 0 and "inf" not in out
    assert "a lone read 50.0 us; 0 caps: delays are all it has, so reads/s grow with every read in flight\n" in out


def replayed(path, **changed):
    """The JSON of a replay with a point at 1 and one at 64 in flight, of 2 reads a lookup."""
    point = {
        "in_flight_unit": "reads", "mode": "stream", "reads_per_lookup": 2.0, "trace": "t", "source": "measured",
        "flags": [{"name": "virtual", "value": None, "text": "a virtual machine"}],
    }  # fmt: skip
    points = [point | {"in_flight": 1, "reads_per_s": 1e4}, point | {"in_flight": 64, "reads_per_s": 9e4}]
    points = [one | changed for one in points]
    points[1]["flags"] = [*point["flags"], {"name": "drift", "value": 0.2, "text": "reads/s of the last third +20%"}]
    path.write_text(json.dumps({"points": points}))


def test_flags_of_the_points_are_told_and_kept(flashsim, tmp_path):
    replayed(tmp_path / "r.json")
    code, out, _ = flashsim("device", "calibrate", "r.json", "-o", "d.toml")
    assert code == 0 and "flag virtual: 2 of 2 points\nflag drift: 1 of 2 points\n" in out
    assert [point.note for point in load_drive("d.toml").points] == ["flags: virtual", "flags: virtual, drift"]
    assert "(flags: virtual, drift)" in flashsim("device", "show", "d.toml")[1]
    assert [line.split()[4:6] for line in out.splitlines()[1:3]] == [["5,000", "10,000"], ["45,000", "90,000"]]


def test_what_a_model_says_is_no_measurement(flashsim, tmp_path):
    replayed(tmp_path / "r.json", source="model")
    code, out, err = flashsim("device", "calibrate", "r.json", "-o", "d.toml")
    assert (code, out) == (2, "") and len(err.splitlines()) == 1
    assert "r.json: 0 measured points, 2 that a model predicted: replay with --target" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["show", "nothing"], 2, "no drive 'nothing': take one of the 16 presets"),
        (["calibrate", "fio1.json"], 2, "1 depth in 1 point: 2 are needed at least"),
        (["calibrate", "none.json"], 3, "none.json: No such file"),
        (["calibrate", "."], 3, ".: Is a directory (errno 21)"),
        (["calibrate", "fio1.json", "-o", "fio1.json"], 2, "1 file NAME.toml is written"),
        (["calibrate", "fio1.json", "fio64.json", "--name", "a b"], 2, "name 'a b'"),
        (["calibrate", "fio1.json", "fio64.json", "-o", "fio1.json/x.toml"], 2, "cannot write"),
        (["calibrate"], 2, "Missing argument"),
    ],
)
def test_what_goes_wrong_is_one_line(flashsim, fio_files, arguments, code, message):
    found, out, err = flashsim("device", *arguments)
    assert (found, out) == (code, "") and message in err and len(err.splitlines()) == 1
    assert sorted(path.suffix for path in fio_files.iterdir()) == [".json"] * 3


def test_points_of_no_unit(flashsim, tmp_path):
    point = {
        "in_flight": 1, "in_flight_unit": None, "mode": "stream", "reads_per_lookup": 2.0, "reads_per_s": 1e4,
        "trace": "t", "layout": "flat",
    }  # fmt: skip
    (tmp_path / "r.json").write_text(json.dumps({"points": [point, point | {"in_flight": 64, "reads_per_s": 9e4}]}))
    code, out, err = flashsim("device", "calibrate", "r.json", "-o", "d.toml")
    assert code and out == "" and "in_flight_unit None" in err and not (tmp_path / "d.toml").exists()
