"""Targets made: whole, gone on with after a kill, and never over anything else."""

import errno
import fcntl
import os
import random
import signal
import subprocess
import sys

import pytest
import reference
from mounts import Os, direct_folder, in_memory, loop_device, mounted, run

from flashsim.device import fill
from flashsim.device import prepare as module
from flashsim.device.prepare import prepare
from flashsim.device.target import Target
from flashsim.device.verify import BLOCK_PAGES, verify
from flashsim.errors import DataError, UsageError

BLOCK = BLOCK_PAGES * 4096
MIB = 1 << 20


def sound(path) -> bool:
    with Target.open(path) as target:
        return verify(target).bad == 0


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(("size", "pages"), [(1, 1), (4096, 1), (4097, 2), (5 * 4096, 5)])
def test_every_page_is_the_stamp_of_its_place(tmp_path, size, pages):
    made = prepare(tmp_path / "target", size, seed=3)
    assert (made.size, made.seed, made.kept) == (pages * 4096, 3, 0) and made.gb_per_s > 0
    expected = b"".join(reference.stamp(page, 3) for page in range(pages))
    assert contents(tmp_path) == {"target": expected}


def test_it_is_fully_written(tmp_path):
    path, taken = direct_folder(tmp_path) / "target", []
    prepare(path, 3 * BLOCK + 4096, progress=taken.append)
    assert sum(taken) == path.stat().st_size == 3 * BLOCK + 4096
    assert path.stat().st_blocks * 512 >= path.stat().st_size and sound(path)


def test_what_is_prepared_already_is_left_alone(tmp_path):
    path = tmp_path / "target"
    prepare(path, 2 * BLOCK, seed=1)
    before = path.stat().st_mtime_ns
    again = prepare(path, 2 * BLOCK, seed=1)
    assert (again.kept, again.seconds, path.stat().st_mtime_ns) == (2 * BLOCK, 0.0, before)


@pytest.mark.parametrize(("size", "seed"), [(2 * BLOCK, 2), (BLOCK, 1), (3 * BLOCK, 1)])
def test_another_target_is_replaced_by_force_only(tmp_path, size, seed):
    path = tmp_path / "target"
    prepare(path, 2 * BLOCK, seed=1)
    before = contents(tmp_path)
    with pytest.raises(UsageError, match=rf"is there already \({2 * BLOCK} B\) .* {size} B and seed {seed}: --force"):
        prepare(path, size, seed=seed)
    assert contents(tmp_path) == before
    assert prepare(path, size, seed=seed, force=True).size == size == path.stat().st_size
    with Target.open(path) as target:
        assert target.seed == seed and verify(target).bad == 0


def test_a_damaged_target_is_not_prepared_already(tmp_path):
    path = tmp_path / "target"
    prepare(path, 40 * 4096)
    with open(path, "r+b") as file:
        file.seek(20 * 4096 + 5)
        file.write(b"\0\0\0")
    with pytest.raises(UsageError, match="--force"):
        prepare(path, 40 * 4096)


@pytest.mark.parametrize("content", [b"", b"somebody's notes", bytes(4096)])
def test_a_file_of_somebody_else_stands(tmp_path, content):
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=rf"is there already \({len(content)} B\)"):
        prepare(path, BLOCK)
    assert contents(tmp_path) == {"notes": content}


@pytest.mark.parametrize("content", [b"x", b"somebody's notes" * 1000, bytes(4096)])
def test_a_partial_file_of_somebody_else_stands(tmp_path, content):
    partial = tmp_path / "target.partial"
    partial.write_bytes(content)
    with pytest.raises(UsageError, match=rf"\({len(content)} B\) and holds no page of seed 0: delete it, or --force"):
        prepare(tmp_path / "target", BLOCK)
    assert contents(tmp_path) == {"target.partial": content}
    prepare(tmp_path / "target", BLOCK, force=True)
    assert sound(tmp_path / "target") and not partial.exists()


def test_a_link_stays_one(tmp_path):
    (tmp_path / "drive").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "drive/target")
    assert prepare(tmp_path / "link", BLOCK).path == tmp_path / "drive/target"
    assert (tmp_path / "link").is_symlink() and sound(tmp_path / "link")
    (tmp_path / "other.partial").symlink_to(tmp_path / "drive/notes")
    with pytest.raises(UsageError, match=r"other.partial: .*errno 40"):
        prepare(tmp_path / "other", BLOCK)


@pytest.mark.parametrize(("name", "message"), [
    ("folder", r"is a folder, pipe or the like \(0 pages fit\)"),
    ("pipe", r"is a folder, pipe or the like \(0 pages fit\)"),
    ("/dev/null", r"is a folder, pipe or the like \(0 pages fit\)"),
    ("none/target", r"none: 0 folders of this name: mount the drive, or make the folder"),
    ("/dev/nvme9n9", r"/dev/nvme9n9: 0 devices of this name: see lsblk"),
    ("n" * 300, r"File name too long \(errno 36\)"),
    ("/proc/target", r"/proc/target.partial: .*\(errno \d+\): choose another folder"),
])  # fmt: skip
def test_where_no_target_can_be(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    os.mkdir("folder"), os.mkfifo("pipe")
    with pytest.raises(UsageError, match=message):
        prepare(name, BLOCK, force=True)
    assert sorted(os.listdir()) == ["folder", "pipe"]


@pytest.mark.parametrize("size", [0, -4096, 2**63])
def test_sizes(tmp_path, size):
    with pytest.raises(UsageError, match=f"a target of {size} B"):
        prepare(tmp_path / "target", size)


CHILD = """
import sys, time
from flashsim.device.prepare import prepare
def progress(size):
    print(size, flush=True)
    time.sleep(0.005)
prepare(sys.argv[1], int(sys.argv[2]), seed=7, progress=progress, note=lambda text: print(text, flush=True))
print("done", flush=True)
"""


def test_killed_at_any_moment_it_goes_on(tmp_path):
    """SIGKILL after some blocks, written or read back, over and over: nothing that was written is lost."""
    draw, path, size, kept, runs = random.Random(1), tmp_path / "target", 40 * BLOCK + 4096, [], 0
    while not path.exists():
        runs += 1
        assert runs < 60, "no end"
        child = subprocess.Popen([sys.executable, "-c", CHILD, path, str(size)], stdout=subprocess.PIPE, text=True)
        steps = draw.randrange(1, 60)
        for line in child.stdout:
            if "were written before" in line:
                kept.append(int(line.split()[1]))
                steps = draw.randrange(1, 9)  # blocks from now on
            steps -= 1
            if steps == 0 and "done" not in line:
                os.kill(child.pid, signal.SIGKILL)
        assert child.wait() in (0, -signal.SIGKILL)
        assert path.exists() or (tmp_path / "target.partial").stat().st_size in (0, size)
    assert len(kept) > 2 and kept == sorted(kept) and kept[-1] > size // 2
    assert path.stat().st_size == size and sound(path)
    assert not (tmp_path / "target.partial").exists()


@pytest.mark.parametrize("bad", [BLOCK_PAGES - 1, BLOCK_PAGES, 2 * BLOCK_PAGES + 9, 5 * BLOCK_PAGES])
def test_it_goes_on_at_the_first_page_that_does_not_stand(tmp_path, bad):
    path, partial, size, notes, taken = tmp_path / "target", tmp_path / "target.partial", 5 * BLOCK + 4096, [], []
    prepare(path, size)
    path.rename(partial)
    with open(partial, "r+b") as file:
        file.seek(bad * 4096)
        file.write(bytes(4096))
    made = prepare(path, size, note=notes.append, progress=taken.append)
    assert made.kept == bad * 4096 and sum(taken) == size and sound(path)
    text = f"{bad * 4096} of {size} B were written before, and every page of them stands: going on from there"
    assert notes == [f"{partial}: {text}"]


@pytest.mark.parametrize("size", [2 * BLOCK, 7 * BLOCK])
def test_it_may_go_on_to_another_size(tmp_path, size):
    path = tmp_path / "target"
    prepare(path, 5 * BLOCK)
    path.rename(tmp_path / "target.partial")
    made = prepare(path, size)
    assert made.kept == min(size, 5 * BLOCK) and path.stat().st_size == size and sound(path)


def test_a_run_that_was_killed_before_its_first_page(tmp_path):
    partial = tmp_path / "target.partial"
    partial.touch()
    assert prepare(tmp_path / "target", BLOCK).kept == 0
    partial.touch()
    os.truncate(partial, 3 * BLOCK)
    assert prepare(tmp_path / "other", BLOCK).kept == 0
    partial.unlink()


def test_one_at_a_time(tmp_path):
    partial = tmp_path / "target.partial"
    with open(partial, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="is being written by 1 other prepare"):
            prepare(tmp_path / "target", BLOCK, force=True)


def test_what_was_renamed_meanwhile_is_not_written_to(tmp_path, monkeypatch):
    partial = tmp_path / "target.partial"
    partial.touch()

    def finished(fd, operation):
        partial.rename(tmp_path / "target")

    monkeypatch.setattr(module.fcntl, "flock", finished)
    with pytest.raises(UsageError, match="was finished by 1 other prepare just now"):
        prepare(tmp_path / "target", BLOCK)
    assert contents(tmp_path) == {"target": b""}


def test_a_full_disk_is_told_before_the_first_byte(tmp_path):
    with in_memory("tmpfs", tmp_path, 16) as folder:
        with pytest.raises(UsageError, match=rf"has {16 * MIB} B free, {17 * MIB} B are to be written: free 1 MiB"):
            prepare(folder / "target", 17 * MIB)
        assert os.listdir(folder) == []
        prepare(folder / "target", 12 * MIB)
        with pytest.raises(UsageError, match=rf"has {4 * MIB} B free, {13 * MIB} B are to be written"):
            prepare(folder / "target", 13 * MIB, force=True)
        assert os.listdir(folder) == ["target"] and sound(folder / "target")


def test_a_disk_that_says_so_only_when_asked_for_blocks(tmp_path, monkeypatch):
    def full(fd, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fill, "allocate", full)
    with pytest.raises(UsageError, match=r"No space left on device \(errno 28\): take a smaller --size"):
        prepare(tmp_path / "target", BLOCK)
    assert os.listdir(tmp_path) == []


def test_a_disk_that_fills_up_meanwhile(tmp_path, monkeypatch):
    """As where blocks cannot be allocated beforehand: what was written stays and is gone on from."""

    def unsupported(fd, size):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(fill, "allocate", unsupported)
    with in_memory("tmpfs", tmp_path, 40) as folder:
        ballast, size = folder / "ballast", 32 * MIB
        taken = []

        def progress(step: int) -> None:
            taken.append(step)
            if len(taken) == 1:
                ballast.write_bytes(bytes(20 * MIB))

        with pytest.raises(UsageError, match=rf"\(errno 28\) after \d+ of {size} B, which stay: make room"):
            prepare(folder / "target", size, progress=progress)
        assert sorted(os.listdir(folder)) == ["ballast", "target.partial"]
        ballast.unlink()
        made = prepare(folder / "target", size)
        assert made.kept >= 4 * MIB and sound(folder / "target")


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_file_systems(tmp_path, kind):
    with mounted(kind, tmp_path) as folder:
        prepare(folder / "target", 3 * BLOCK + 4096)
        assert sound(folder / "target")


def test_a_drive_that_fails(tmp_path, monkeypatch):
    def pwrite(fd, content, at):
        if at >= 2 * BLOCK:
            raise OSError(errno.EIO, "Input/output error")
        return os.pwrite(fd, content, at)

    monkeypatch.setattr(fill, "os", Os(pwrite=pwrite))
    with pytest.raises(
        DataError, match=rf"Input/output error \(errno 5\) after {2 * BLOCK} of {5 * BLOCK} B, which stay"
    ):
        prepare(tmp_path / "target", 5 * BLOCK)
    monkeypatch.undo()
    assert prepare(tmp_path / "target", 5 * BLOCK).kept >= 2 * BLOCK and sound(tmp_path / "target")


def test_short_writes_are_gone_on_with(tmp_path, monkeypatch):
    monkeypatch.setattr(fill, "os", Os(pwrite=lambda fd, content, at: os.pwrite(fd, content[:4096], at)))
    prepare(tmp_path / "target", 20 * 4096)
    assert sound(tmp_path / "target")


def test_an_end_that_fills_no_block_of_the_drive_goes_through_the_cache(tmp_path, monkeypatch):
    def pwrite(fd, content, at):
        if len(content) % 16384 and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_DIRECT:
            raise OSError(errno.EINVAL, "Invalid argument")
        return os.pwrite(fd, content, at)

    monkeypatch.setattr(fill, "os", Os(pwrite=pwrite))
    prepare(tmp_path / "target", BLOCK + 4096)
    assert sound(tmp_path / "target")


class TestDevices:
    @pytest.fixture
    def device(self, tmp_path):
        with loop_device(tmp_path, 24) as device:
            yield device

    def test_by_force_only(self, device):
        with pytest.raises(UsageError, match=rf"{device} \(.*24 MiB\) is a block device, its first {BLOCK} B would be"):
            prepare(device, BLOCK)
        assert device.read_bytes() == bytes(24 * MIB)

    def test_filled_and_filled_already(self, device):
        made = prepare(device, 24 * MIB, seed=4, force=True)
        assert (made.path, made.kept) == (device, 0) and sound(device)
        assert prepare(device, 24 * MIB, seed=4).seconds == 0
        assert prepare(device, 4 * MIB, seed=4).seconds == 0  # a part of it

    def test_gone_on_with(self, device):
        prepare(device, 10 * MIB, force=True)
        notes = []
        assert prepare(device, 24 * MIB, force=True, note=notes.append).kept == 10 * MIB
        assert "10485760 of 25165824 B were written before" in notes[0] and sound(device)

    def test_too_small(self, device):
        with pytest.raises(
            UsageError, match=rf"holds {24 * MIB} B, {25 * MIB} B are asked for: take --size {24 * MIB}B"
        ):
            prepare(device, 25 * MIB, force=True)

    def test_mounted(self, device, tmp_path):
        run("mkfs.ext4", "-q", device)
        (tmp_path / "point").mkdir()
        subprocess.run(["mount", device, tmp_path / "point"], check=True)
        try:
            with pytest.raises(UsageError, match=r"\(errno 16\): it is mounted, or in use"):
                prepare(device, BLOCK, force=True)
        finally:
            subprocess.run(["umount", tmp_path / "point"], check=True)

    def test_partitioned(self, device):
        run("addpart", device, "1", "2048", "2048")
        try:
            with pytest.raises(UsageError, match=rf"has 1 partition \({device.name}p1\): give one of them"):
                prepare(device, BLOCK, force=True)
        finally:
            run("delpart", device, "1")

    def test_forbidden_by_a_cgroup(self, device, monkeypatch):
        def forbidden(path, *_):
            raise PermissionError(errno.EPERM, "Operation not permitted", path)

        monkeypatch.setattr(module, "os", Os(open=forbidden))
        with pytest.raises(UsageError, match=r"\(errno 1\): a device cgroup forbids it"):
            prepare(device, BLOCK, force=True)
