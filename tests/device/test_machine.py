"""What /proc and /sys say, in made-up trees of both and on this machine."""

import os
from pathlib import Path

import pytest
from mounts import Os

from flashsim.device import machine
from flashsim.device.machine import BlockDevice, disk_under, file_system_of, io_limits, mount_of, mounts, moved_bytes

MOUNTS = """\
22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw,errors=remount-ro
23 22 0:5 / /mnt/with\\040blank rw - tmpfs tmpfs rw,size=10k
24 22 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
25 22 0:31 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio
26 22 0:40 / /over rw - overlay overlay rw,lowerdir=/a:/b,upperdir=/up,workdir=/w
"""


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def sysfs(tmp_path, monkeypatch):
    """/sys with an NVMe drive and its partition, a virtio disk, a loop device, and a mapped one."""
    root = tmp_path / "sys"
    disk = "devices/pci0000:00/nvme/nvme0/nvme0n1"
    virtual = "devices/virtual/block"
    written(root, {
        f"{disk}/dev": "259:0\n", f"{disk}/size": "2000\n", f"{disk}/device/model": "Fast 9000   \n",
        f"{disk}/queue/logical_block_size": "4096\n", f"{disk}/queue/rotational": "0\n",
        f"{disk}/queue/scheduler": "[none] mq-deadline\n",
        f"{disk}/nvme0n1p2/partition": "2\n", f"{disk}/nvme0n1p2/dev": "259:2\n", f"{disk}/nvme0n1p2/size": "100\n",
        "devices/pci0000:00/virtio1/block/vda/dev": "254:0\n",
        "devices/pci0000:00/virtio1/block/vda/queue/scheduler": "none\n",
        f"{virtual}/loop0/dev": "7:0\n", f"{virtual}/loop0/loop/backing_file": f"{tmp_path}/disk.img\n",
        f"{virtual}/loop0/loop/dio": "1\n",
        f"{virtual}/dm-0/dev": "252:0\n", f"{virtual}/dm-0/slaves/nvme0n1p2/dev": "259:2\n",
        f"{virtual}/zram0/dev": "253:0\n",
    })  # fmt: skip
    (root / "dev/block").mkdir(parents=True)
    for dev in root.glob("devices/**/dev"):
        if "slaves" not in dev.parts:
            (root / "dev/block" / dev.read_text().strip()).symlink_to(dev.parent)
    monkeypatch.setattr(machine, "SYS", root)
    return root


def test_a_drive_and_its_partition(sysfs):
    drive = BlockDevice.of(os.makedev(259, 0))
    assert (drive.name, drive.number, drive.model, drive.bytes) == ("nvme0n1", "259:0", "Fast 9000", 2000 * 512)
    assert (drive.logical_block, drive.rotational, drive.scheduler) == (4096, False, "none")
    assert (drive.partition, drive.partitions, drive.virtio) == ("", ("nvme0n1p2",), False)
    partition = BlockDevice.of(os.makedev(259, 2))
    assert (partition.name, partition.partition, partition.bytes) == ("nvme0n1", "nvme0n1p2", 2000 * 512)


def test_other_devices(sysfs):
    virtio = BlockDevice.of(os.makedev(254, 0))
    assert (virtio.virtio, virtio.model, virtio.rotational, virtio.scheduler, virtio.logical_block) == (
        True, "", None, "none", 512,
    )  # fmt: skip
    loop, mapped = BlockDevice.of(os.makedev(7, 0)), BlockDevice.of(os.makedev(252, 0))
    assert loop.backing.endswith("disk.img") and loop.backing_direct and not loop.in_ram
    assert mapped.slaves == ("nvme0n1p2",)
    assert BlockDevice.of(os.makedev(253, 0)).in_ram
    assert BlockDevice.of(os.makedev(1, 1)) is None


def test_a_loop_over_a_file_in_memory_is_ram(sysfs, monkeypatch):
    monkeypatch.setattr(machine, "file_system_of", lambda path: "tmpfs")
    assert BlockDevice.of(os.makedev(7, 0)).in_ram


@pytest.fixture
def procfs(tmp_path, monkeypatch):
    root = written(tmp_path / "proc", {"self/mountinfo": MOUNTS, "self/fdinfo/7": "pos:\t0\nflags:\t0\nmnt_id:\t23\n"})
    monkeypatch.setattr(machine, "PROC", root)
    return root


def test_mounts(procfs):
    found = {mount.point: mount for mount in mounts()}
    assert found["/"].source == "/dev/nvme0n1p2" and found["/"].number == "259:2" and found["/"].type == "ext4"
    assert found["/over"].options["lowerdir"] == "/a:/b"
    assert mount_of(7) == found["/mnt/with blank"]
    assert mount_of(8) is None


def test_the_disk_of_what_has_no_number_of_its_own(sysfs, tmp_path, monkeypatch):
    """Overlays: that of the upper layer; btrfs: that of the source."""
    statuses = {"/over/file": (40, 0), "/up": (os.makedev(259, 2), 0), "/dev/loop0": (5, os.makedev(7, 0))}

    def stat(path):
        if path not in statuses:
            raise FileNotFoundError(path)
        return type("", (), dict(zip(("st_dev", "st_rdev"), statuses[path], strict=True)))

    monkeypatch.setattr(machine, "os", Os(stat=stat))
    overlay = machine.Mount("1", "0:40", "/over", "overlay", "overlay", {"upperdir": "/up"})
    assert disk_under("/over/file", overlay).partition == "nvme0n1p2"
    assert disk_under("/over/file", overlay._replace(options={}, source="/dev/loop0")).name == "loop0"
    assert disk_under("/over/file", overlay._replace(options={"upperdir": "/not seen from here"})) is None
    assert disk_under("/over/file", None) is None


def test_limits_of_cgroups(procfs, tmp_path, monkeypatch):
    points = {24: tmp_path / "v2", 25: tmp_path / "v1"}
    (procfs / "self/mountinfo").write_text(
        f"24 22 0:30 / {points[24]} rw - cgroup2 cgroup2 rw\n25 22 0:31 / {points[25]} rw - cgroup cgroup rw,blkio\n"
    )
    (procfs / "self/cgroup").write_text("9:blkio:/\n8:memory:/deep\n0::/outer/inner\n")
    written(points[24], {
        "outer/io.max": "8:0 rbps=max wbps=max riops=max wiops=max\n259:0 rbps=1000 wbps=max riops=max wiops=max\n",
        "outer/inner/io.max": "8:0 rbps=max wbps=max riops=50 wiops=max\n",
    })  # fmt: skip
    written(points[25], {"blkio.throttle.read_iops_device": "259:0 300\n", "deep/io.max": "259:0 no\n"})
    assert io_limits("259:0") == [
        "blkio.throttle.read_iops_device 300",
        "io.max rbps=1000 wbps=max riops=max wiops=max",
    ]
    assert io_limits("8:0") == ["io.max rbps=max wbps=max riops=50 wiops=max"]
    assert io_limits("8:1") == []


def test_here(tmp_path):
    assert file_system_of(tmp_path) == next(mount.type for mount in mounts() if mount.identity == _identity(tmp_path))
    assert file_system_of("/proc/self/stat") == "proc"
    assert file_system_of(tmp_path / "none") == ""


def _identity(path) -> str:
    fd = os.open(path, os.O_RDONLY)
    found = mount_of(fd).identity
    os.close(fd)
    return found


def test_what_a_disk_has_moved(sysfs):
    written(sysfs, {"devices/pci0000:00/virtio1/block/vda/stat": " 9 8 100 6  5 4 20 2  1 0 0\n"})
    assert moved_bytes("254:0") == 120 * 512 and moved_bytes("259:0") is None and moved_bytes("9:9") is None
