"""What Linux says of what is under a target: its mount, its block device, and the limits of this process on it.

Everything is read from /proc and /sys and may be missing there: then it is None, "" or empty, never a guess.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

PROC, SYS = Path("/proc"), Path("/sys")


def _text(path: Path) -> str:
    """The content of ``path`` without blanks around it, "" where it cannot be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


class Mount(NamedTuple):
    """A line of mountinfo. number: MAJOR:MINOR. options: those of the file system, such as ``lowerdir`` of overlay."""

    identity: str
    number: str
    point: str
    type: str
    source: str
    options: dict[str, str]


def mounts() -> Iterator[Mount]:
    """What this process sees mounted."""
    for line in _text(PROC / "self/mountinfo").splitlines():
        fields, _, of_type = line.partition(" - ")
        identity, _, number, _, point = fields.split()[:5]
        kind, source, options = (of_type.split() + [""] * 3)[:3]
        pairs = (option.partition("=") for option in options.split(","))
        yield Mount(
            identity, number, _unescaped(point), kind, _unescaped(source), {key: value for key, _, value in pairs}
        )


def _unescaped(text: str) -> str:
    """mountinfo writes blanks as \\040."""
    for code in ("040", "011", "012", "134"):
        text = text.replace(f"\\{code}", chr(int(code, 8)))
    return text


def mount_of(fd: int) -> Mount | None:
    """The mount that the open file ``fd`` is on."""
    lines = (line.split() for line in _text(PROC / f"self/fdinfo/{fd}").splitlines())
    identity = next((words[1] for words in lines if words[:1] == ["mnt_id:"]), None)
    return next((mount for mount in mounts() if mount.identity == identity), None)


def file_system_of(path: str | os.PathLike) -> str:
    """Name of the file system that ``path`` is on, "" where that cannot be told."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    mount = mount_of(fd)
    os.close(fd)
    return mount.type if mount else ""


@dataclass(frozen=True)
class BlockDevice:
    """A disk as sysfs shows it; a partition counts as its disk.

    name: such as ``nvme0n1``. number: MAJOR:MINOR. partition: name of the partition that was asked for, or "".
    backing: the file behind a loop device, or "", and ``backing_direct`` whether it is read by direct I/O.
    slaves: the disks under a mapped or RAID device. partitions: those that the kernel found on it.
    """

    name: str
    number: str
    partition: str
    model: str
    virtio: bool
    bytes: int
    logical_block: int
    rotational: bool | None
    scheduler: str
    backing: str
    backing_direct: bool
    slaves: tuple[str, ...]
    partitions: tuple[str, ...]

    @classmethod
    def of(cls, device: int) -> "BlockDevice | None":
        """The one with the number ``device`` (st_dev of a file, st_rdev of a node), None where sysfs has none."""
        folder = SYS / "dev/block" / f"{os.major(device)}:{os.minor(device)}"
        if not folder.exists():
            return None
        folder = folder.resolve()
        partition = folder.name if (folder / "partition").exists() else ""
        if partition:
            folder = folder.parent
        queue = folder / "queue"
        schedulers = _text(queue / "scheduler")  # the one in use stands in brackets
        return cls(
            name=folder.name,
            number=_text(folder / "dev"),
            partition=partition,
            model=_text(folder / "device/model"),
            virtio=any(part.startswith("virtio") for part in folder.parts),
            bytes=512 * int(_text(folder / "size") or 0),
            logical_block=int(_text(queue / "logical_block_size") or 512),
            rotational={"0": False, "1": True}.get(_text(queue / "rotational")),
            scheduler=schedulers.partition("[")[2].partition("]")[0] or schedulers,
            backing=_text(folder / "loop/backing_file"),
            backing_direct=_text(folder / "loop/dio") == "1",
            slaves=tuple(sorted(entry.name for entry in folder.glob("slaves/*"))),
            partitions=tuple(sorted(entry.parent.name for entry in folder.glob("*/partition"))),
        )

    @property
    def in_ram(self) -> bool:
        """Whether it is memory that looks like a disk."""
        return self.name.startswith(("ram", "zram")) or file_system_of(self.backing) in ("tmpfs", "ramfs")


def disk_under(path: str | os.PathLike, mount: Mount | None) -> BlockDevice | None:
    """The disk that the file ``path`` is on; overlays and btrfs have no number of their own, so what they were mounted
    from is looked at."""
    found = BlockDevice.of(os.stat(path).st_dev)
    for source in () if found or mount is None else (mount.options.get("upperdir"), mount.source):
        if not source or not source.startswith("/"):
            continue
        with suppress(OSError):
            status = os.stat(source)
            found = found or BlockDevice.of(status.st_rdev or status.st_dev)
    return found


def moved_bytes(number: str) -> int | None:
    """Bytes that the disk ``number`` (MAJOR:MINOR) has moved for all processes, or None where /sys does not tell."""
    fields = _text(SYS / "dev/block" / number / "stat").split()
    return 512 * (int(fields[2]) + int(fields[6])) if len(fields) > 6 else None


def io_limits(number: str) -> list[str]:
    """The cgroup limits on reads of the disk ``number`` (MAJOR:MINOR), as the kernel writes them."""
    roots = {mount.type: mount.point for mount in mounts() if mount.type == "cgroup2" or "blkio" in mount.options}
    found = []
    for line in _text(PROC / "self/cgroup").splitlines():
        hierarchy, controllers, path = line.split(":", 2)
        if hierarchy == "0":
            root, names = roots.get("cgroup2"), ("io.max",)
        elif "blkio" in controllers.split(","):
            root, names = roots.get("cgroup"), tuple(f"blkio.throttle.read_{unit}_device" for unit in ("bps", "iops"))
        else:
            continue
        parts = Path(path.lstrip("/")).parts
        for depth in range(len(parts) + 1) if root else ():
            for name in names:
                for entry in _text(Path(root, *parts[:depth], name)).splitlines():
                    of, _, limit = entry.partition(" ")
                    if of == number and limit.strip() != "rbps=max wbps=max riops=max wiops=max":
                        found.append(f"{name} {limit}")
    return found
