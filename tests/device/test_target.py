"""Targets: what can be opened, and whether direct I/O is real there."""

import errno
import fcntl
import os
import socket
import stat
from pathlib import Path

import pytest
from mounts import Os, direct_folder, fused, in_memory, loop_device, mounted, overlaid

from flashsim.device import target as module
from flashsim.device.machine import BlockDevice
from flashsim.device.prepare import prepare
from flashsim.device.target import Target, aligned_buffer, direct_of, read_into
from flashsim.errors import DataError

SIZE = 64 * 4096


def file_in(folder: Path) -> Path:
    path = folder / "target"
    path.write_bytes(os.urandom(SIZE))
    return path


def opened(path, **options):
    """(whether direct I/O is real, why not) of the target ``path``."""
    with Target.open(path, **options) as target:
        assert target.size == SIZE
        return target.direct.offset_align > 0, target.direct.refusal


def test_a_file_on_a_drive(tmp_path):
    path = file_in(direct_folder(tmp_path))
    with Target.open(path) as target:
        assert (target.kind, target.size, target.seed, target.buffered) == ("file", SIZE, None, False)
        assert target.direct.refusal == "" and target.direct.source == "statx DIOALIGN"
        assert target.direct.offset_align in (512, 4096) and target.mount.type == target.file_system
        flags = fcntl.fcntl(target.fd, fcntl.F_GETFL)
        assert flags & os.O_DIRECT and flags & os.O_ACCMODE == os.O_RDONLY
    with pytest.raises(OSError):
        os.fstat(target.fd)
    with Target.open(path, buffered=True) as target:
        assert target.buffered and not fcntl.fcntl(target.fd, fcntl.F_GETFL) & os.O_DIRECT


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_file_systems_with_direct_io(tmp_path, kind):
    with mounted(kind, direct_folder(tmp_path)) as folder:
        assert opened(file_in(folder)) == (True, "")
        with Target.open(folder / "target") as target:
            assert target.file_system == kind and target.disk.name.startswith("loop") and target.disk.backing_direct


def test_an_overlay_is_what_it_is_over(tmp_path):
    (tmp_path / "lower").mkdir()
    file_in(direct_folder(tmp_path / "lower"))
    with overlaid(tmp_path / "lower", tmp_path) as folder:
        assert opened(folder / "target") == (True, "")
        with Target.open(folder / "target") as target:
            assert target.file_system == "overlay"


THROUGH_CACHE = "O_DIRECT is accepted, but statx tells no alignment: reads go through the page cache"


def test_tmpfs_takes_the_flag_and_answers_from_ram(tmp_path):
    with in_memory("tmpfs", tmp_path) as folder:
        real, refusal = opened(file_in(folder))
        assert not real and refusal in (THROUGH_CACHE, "open with O_DIRECT: Invalid argument (errno 22)")  # before 6.6
        (folder / "lower").mkdir(), (tmp_path / "over").mkdir()
        (folder / "target").rename(folder / "lower/target")
        with overlaid(folder / "lower", tmp_path / "over", folder) as over:
            assert opened(over / "target") == (False, refusal)


def test_ramfs_does_not_take_the_flag(tmp_path):
    with in_memory("ramfs", tmp_path) as folder:
        assert opened(file_in(folder)) == (False, "open with O_DIRECT: Invalid argument (errno 22)")
        assert opened(folder / "target", buffered=True) == (False, THROUGH_CACHE)


def test_btrfs_checks_sums_in_the_page_cache(tmp_path):
    with mounted("btrfs", direct_folder(tmp_path)) as folder:
        assert opened(file_in(folder)) == (False, THROUGH_CACHE)
        with Target.open(folder / "target") as target:
            assert target.disk.name.startswith("loop")  # by what it was mounted from


def test_fuse_decides_for_itself(tmp_path):
    (tmp_path / "source").mkdir()
    file_in(tmp_path / "source")
    with fused(tmp_path / "source", tmp_path) as folder:
        assert opened(folder / "target") == (False, THROUGH_CACHE)


@pytest.mark.parametrize("direct", [True, False])
def test_a_loop_device_is_direct_if_its_file_is(tmp_path, direct):
    with loop_device(direct_folder(tmp_path), 8, direct=direct) as device, Target.open(device) as target:
        assert (target.kind, target.size, target.file_system) == ("block device", 8 << 20, "block device")
        assert target.disk.name == device.name
        if direct:
            assert target.direct.refusal == "" and target.direct.offset_align == target.disk.logical_block
        else:
            assert f"{device.name} reads {tmp_path}/disk.img through the page cache" in target.direct.refusal


@pytest.mark.parametrize(("name", "message"), [
    ("none", r"No such file or directory \(errno 2\): 'flashsim replay prepare' makes one"),
    ("folder", r"is a folder \(0 pages to read\)"),
    ("pipe", r"is a pipe \(0 pages to read\)"),
    ("socket", r"is a socket \(0 pages to read\)"),
    ("/dev/null", r"is a character device \(0 pages to read\)"),
    ("empty", r"is empty \(0 B\): 'flashsim replay prepare --force' fills it"),
    ("empty/under", r"Not a directory \(errno 20\)"),
    ("link", r"Too many levels of symbolic links \(errno 40\)"),
])  # fmt: skip
def test_what_cannot_be_read(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    os.mkdir("folder"), os.mkfifo("pipe"), Path("empty").touch(), os.symlink("link", "link")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    before = os.listdir("/proc/self/fd")
    with pytest.raises(DataError, match=message):
        Target.open(name)
    assert os.listdir("/proc/self/fd") == before


def refuse(monkeypatch, error: int, flags_refused: int = 0) -> None:
    """os.open fails with ``error``, where flags are given with one of those only."""

    def fake(path, flags, *rest, **named):
        if not flags_refused or flags & flags_refused:
            raise OSError(error, os.strerror(error), path)
        return os.open(path, flags, *rest, **named)

    monkeypatch.setattr(module, "os", Os(open=fake))


def test_an_unreadable_file(tmp_path, monkeypatch):
    path = file_in(tmp_path)
    path.chmod(0o200)
    refuse(monkeypatch, errno.EACCES)
    with pytest.raises(DataError, match=r"Permission denied \(errno 13\); its mode is 0200, owner \d+"):
        Target.open(path)


def test_a_device_that_a_cgroup_forbids(tmp_path, monkeypatch):
    refuse(monkeypatch, errno.EPERM)
    status = type("", (), {"st_mode": stat.S_IFBLK | 0o600, "st_rdev": os.makedev(254, 3), "st_uid": 0})
    with pytest.raises(DataError, match=r"\(errno 1\): a device cgroup forbids it.*--device=/dev/vda3.*254:3"):
        module._open(Path("/dev/vda3"), status, False)


def test_a_file_system_that_refuses_the_flag_is_opened_without(tmp_path, monkeypatch):
    path = file_in(tmp_path)
    refuse(monkeypatch, errno.EINVAL, os.O_DIRECT)
    assert opened(path) == (False, "open with O_DIRECT: Invalid argument (errno 22)")


class TestOlderLinux:
    """Before 6.1 statx does not tell."""

    @pytest.fixture(autouse=True)
    def older(self, monkeypatch):
        monkeypatch.setattr(module, "dio_align", lambda fd: None)
        monkeypatch.setattr(module, "_linux", lambda: (5, 15))

    def test_an_odd_offset_that_is_refused_is_direct(self, tmp_path):
        with Target.open(file_in(direct_folder(tmp_path))) as target:
            assert target.direct.refusal == ""
            if target.disk:
                assert target.direct.offset_align == target.disk.logical_block
                assert target.direct.source == f"logical block of {target.disk.name}"

    def test_an_odd_offset_that_is_answered_is_not(self, tmp_path):
        fd = os.open(file_in(tmp_path), os.O_RDONLY)
        assert "a read at byte 1 was answered" in direct_of(fd, SIZE, None).refusal
        os.close(fd)

    def test_what_fails_in_another_way_is_not(self, tmp_path, monkeypatch):
        def broken(fd, buffers, offset):
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(module, "os", Os(preadv=broken))
        assert "a read at byte 1 was answered" in direct_of(-1, SIZE, None).refusal


def test_statx_that_says_no(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "dio_align", lambda fd: (0, 0))
    assert opened(file_in(tmp_path)) == (False, "statx tells an alignment of 0: direct I/O is not supported")


def test_changes_while_it_is_open(tmp_path):
    path = file_in(tmp_path)
    with Target.open(path) as target:
        assert target.changed() is None
        os.utime(path, ns=(1, 2))
        assert "was written to after it was opened" in target.changed()
        os.truncate(path, 4096)
        assert f"had {SIZE} B when it was opened and has 4096 B now" in target.changed()


def test_the_seed_of_its_stamps(tmp_path):
    path = tmp_path / "target"
    prepare(path, SIZE, seed=2**64 - 1)
    with Target.open(path) as target:
        assert target.seed == 2**64 - 1
    with open(path, "r+b") as file:  # page 0 is damaged: it is a target still
        file.seek(100)
        file.write(b"\0\0")
    with Target.open(path) as target:
        assert target.seed == 2**64 - 1
    path.write_bytes(b"x" * 5000)
    with Target.open(path) as target:
        assert target.seed is None


def test_reading_ends_where_the_file_does(tmp_path):
    path = direct_folder(tmp_path) / "target"
    content = os.urandom(3 * 4096 + 100)
    path.write_bytes(content)
    with Target.open(path) as target:
        buffer = aligned_buffer(4 * 4096)
        assert read_into(target.fd, 4096, buffer) == 2 * 4096 + 100
        assert buffer[: 2 * 4096 + 100].tobytes() == content[4096:]
        assert read_into(target.fd, 4 * 4096, buffer) == 0


def test_a_loop_over_a_cached_file_is_no_drive(tmp_path):
    with Target.open(file_in(tmp_path)) as target:
        values = dict.fromkeys(BlockDevice.__dataclass_fields__, "") | {"name": "loop7", "backing": "/x/disk.img"}
        loop = BlockDevice(**values | {"backing_direct": False})
        assert "loop7 reads /x/disk.img through" in direct_of(target.fd, SIZE, loop).refusal
