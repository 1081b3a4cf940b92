"""Findings on targets: what is refused, what is flagged, and with which numbers."""

import mmap
import os
import re

import numpy as np
import pytest
from mounts import direct_folder, fused, in_memory, loop_device, mounted, overlaid

from flashsim.device import checks as module
from flashsim.device.checks import FACT, FLAG, REFUSE, Finding, check, require
from flashsim.device.host import Load
from flashsim.device.machine import BlockDevice
from flashsim.device.prepare import prepare
from flashsim.device.target import Target
from flashsim.errors import DataError
from flashsim.kernels.target import allocate

PAGES = 600
SIZE = PAGES * 4096


@pytest.fixture(autouse=True)
def idle(monkeypatch):
    """Nobody else is at work, and no time goes by."""
    monkeypatch.setattr(module, "LOAD_SECONDS", 0)
    monkeypatch.setattr(Load, "now", classmethod(lambda cls: None))


@pytest.fixture
def prepared(tmp_path):
    return prepare(direct_folder(tmp_path) / "target", SIZE, seed=9).path


def found(path, severity, *, buffered=False, pages=None, **reads) -> dict[str, str]:
    """Texts of the findings of ``severity`` by name."""
    with Target.open(path, buffered=buffered) as target:
        findings = check(target, pages=None if pages is None else np.array(pages, np.uint32), **reads)
    for finding in findings:
        assert "\n" not in finding.text and (finding.severity == FACT or re.search(r"\d", finding.text)), finding
    return {finding.name: finding.text for finding in findings if finding.severity == severity}


def test_a_good_target(prepared):
    prepared.read_bytes()  # into the page cache, which is emptied
    assert found(prepared, REFUSE) == {}
    facts = found(prepared, FACT)
    assert facts["direct I/O"] == "yes, by statx DIOALIGN" and "B of memory, by statx DIOALIGN" in facts["alignment"]
    assert facts["size"] == f"{SIZE:,} B (2.344 MiB)" and "written where pages are read" in facts["extents"]
    looked_at = re.fullmatch(r"seed 9; (\d+) pages looked at, all right", facts["stamps"])
    assert 300 < int(looked_at[1]) <= PAGES
    assert facts["page cache"] == "holds 0 B of it"
    assert found(prepared, FLAG).keys() >= {"span"}


def test_pages_of_a_trace(prepared):
    assert found(prepared, REFUSE, pages=[0, 7, PAGES - 1]) == {}
    assert found(prepared, FACT, pages=[7])["stamps"] == "seed 9; 1 page looked at, all right"
    assert found(prepared, FLAG, pages=[5, 7])["span"].startswith("2 distinct pages over 12 KiB")
    assert found(prepared, REFUSE, pages=[]) == {}


def test_pages_of_other_sizes(prepared):
    assert found(prepared, REFUSE, page_bytes=16384, base=8192) == {}
    assert found(prepared, REFUSE, page_bytes=512, pages=[0, 9, PAGES * 8 - 1]) == {}


@pytest.mark.parametrize(("page_bytes", "base"), [(100, 0), (4096, 100), (4097, 0)])
def test_what_does_not_keep_to_the_alignment(prepared, page_bytes, base):
    with Target.open(prepared) as target:
        align = target.direct.offset_align
    text = f"reads of {page_bytes} B from byte {base} on do not keep to its alignment of {align} B"
    assert text in found(prepared, REFUSE, page_bytes=page_bytes, base=base)["alignment"]
    assert found(prepared, REFUSE, page_bytes=page_bytes, base=base, buffered=True) == {}


def test_a_target_that_is_too_short(prepared):
    text = found(prepared, REFUSE, pages=[3, PAGES])["length"]
    assert f"has {SIZE} B, page {PAGES} ends at byte {SIZE + 4096}: prepare a larger one with --for TRACE" in text
    assert "length" in found(prepared, REFUSE, pages=[PAGES - 1], base=4096)
    assert f"no page of 4096 B has room from byte {SIZE} on" in found(prepared, REFUSE, base=SIZE)["length"]
    os.truncate(prepared, SIZE - 1)
    assert "length" in found(prepared, REFUSE, pages=[PAGES - 1])


def test_folding_is_flagged(prepared):
    reads = {"pages": [3, PAGES + 3, 5 * PAGES - 1], "fold": PAGES}
    assert found(prepared, REFUSE, **reads) == {}
    text = f"page numbers up to {5 * PAGES - 1} are taken modulo {PAGES}: 3 distinct pages become 2"
    assert found(prepared, FLAG, **reads)["fold"] == text
    assert "fold" not in found(prepared, FLAG, pages=[3, PAGES - 1], fold=PAGES)
    assert "length" in found(prepared, REFUSE, pages=[3, 5 * PAGES], fold=PAGES + 1)  # folds to what is not there


def test_holes(tmp_path):
    path = direct_folder(tmp_path) / "sparse"
    with open(path, "wb") as file:
        file.truncate(SIZE)
        assert found(path, REFUSE).keys() == {"extents"}
        file.seek(64 * 4096)
        file.write(os.urandom(64 * 4096))
    written = list(range(64, 128))
    assert found(path, REFUSE, pages=written) == {}
    text = "2 of 66 pages read are not on the drive (2 in holes), the first is page 20 at byte 81920"
    assert text in found(path, REFUSE, pages=[20, *written, 200])["extents"]
    refused = found(path, REFUSE)
    assert refused.keys() == {"extents"} and f"{PAGES - 64} of {PAGES} pages read are not" in refused["extents"]
    assert f"({PAGES - 64} in holes), the first is page 0 at byte 0" in refused["extents"]


@pytest.mark.parametrize("cached", [False, True])
def test_extents_that_were_never_written(tmp_path, cached):
    path = direct_folder(tmp_path) / "allocated"
    with open(path, "wb") as file:
        allocate(file.fileno(), SIZE // 2)
        file.truncate(SIZE)
        file.write(os.urandom(64 * 4096))
    if cached:  # and held there: lseek takes it for data
        with open(path, "rb") as file:
            held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        assert sum(held[:: mmap.PAGESIZE]) > 0
    text = (
        "300 of 301 pages read are not on the drive (100 allocated but never written and 200 in holes), the first is "
    )
    pages = [1, *range(200, 500)]
    assert f"{text}page 200 at byte {200 * 4096}" in found(path, REFUSE, pages=pages)["extents"]


def test_through_the_page_cache(tmp_path, prepared):
    with in_memory("tmpfs", tmp_path) as folder:
        path = prepare(folder / "target", SIZE).path
        text = found(path, REFUSE)["direct I/O"]
        assert text.startswith(f"{path} is on tmpfs: 0 reads would reach a drive") and "or --buffered" in text
        assert found(path, REFUSE, buffered=True) == {}
        assert "--buffered" in found(path, FLAG, buffered=True)["direct I/O"]
        assert re.match(r"holds 2.344 MiB of it", found(path, FLAG, buffered=True)["page cache"])
    assert "--buffered" in found(prepared, FLAG, buffered=True)["direct I/O"]


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "ramfs", "overlay", "fuse", "loop without direct I/O"])
def test_kinds_of_file_systems(tmp_path, kind):
    direct_folder(tmp_path)
    source = tmp_path / "source"
    source.mkdir()
    prepare(source / "target", SIZE)
    if kind == "loop without direct I/O":
        with loop_device(tmp_path, 8, direct=False) as device:
            text = found(device, REFUSE)["direct I/O"]
        assert text.startswith(
            f"{device}: 0 reads would reach a drive: {device.name} reads {tmp_path}/disk.img through"
        )
        return
    made = {
        "ramfs": lambda: in_memory("ramfs", tmp_path),
        "overlay": lambda: overlaid(source, tmp_path),
        "fuse": lambda: fused(source, tmp_path),
    }.get(kind, lambda: mounted(kind, tmp_path))
    with made() as folder:
        path = folder / "target"
        if not path.exists():
            prepare(path, SIZE)
        refused = found(path, REFUSE)
        assert refused.keys() == (set() if kind in ("ext4", "xfs", "overlay") else {"direct I/O"})
        if refused:
            assert f"is on {kind}: 0 reads" in refused["direct I/O"]
        assert "all right" in found(path, FACT)["stamps"]
        if kind == "overlay":
            text = found(path, FACT)["file system"]
            assert text.startswith(f"overlay over upperdir {tmp_path}/layers/upper and lowerdir {source}")


def damaged(path, page: int, content: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(page * 4096 + 8)
        file.write(content)


def test_a_page_that_is_not_what_was_written(prepared):
    damaged(prepared, 40, b"\x07")
    text = found(prepared, REFUSE, pages=[40])["stamps"]
    assert "1 of 1 pages looked at are wrong: page 40 (byte 163840) is damaged: it calls itself page 7" in text
    assert found(prepared, REFUSE, pages=[39, 41]) == {}
    for page in range(50, 54):
        damaged(prepared, page, b"\x07")
    text = found(prepared, REFUSE, pages=list(range(50, 54)))["stamps"]
    assert [f"page {page} " in text for page in range(50, 54)] == [True, True, True, False]


def test_every_part_of_a_large_page_is_looked_at(prepared):
    for page in range(PAGES):
        if page % 4:
            damaged(prepared, page, b"\xff")
    assert "pages looked at are wrong" in found(prepared, REFUSE, page_bytes=16384)["stamps"]


def test_a_target_without_stamps(tmp_path):
    path = direct_folder(tmp_path) / "target"
    path.write_bytes(os.urandom(10 * 4096) + bytes(5 * 4096) + b"\xff" * (5 * 4096))
    text = found(path, FLAG)["stamps"]
    assert text.startswith("none: reads cannot be verified; ") and "pages looked at repeat 1 byte, such as 0" in text
    text = found(path, REFUSE, pages=list(range(10, 20)))["stamps"]
    assert "10 of 10 pages looked at repeat 1 byte, such as 0, never written or trimmed" in text


def test_reads_that_fail(prepared, monkeypatch):
    """As on an overlay over squashfs, where open takes O_DIRECT and reading does not."""

    def broken(fd, offset, buffer):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(module, "read_into", broken)
    refused = found(prepared, REFUSE, pages=[3, 5])
    assert refused.keys() == {"read"}
    assert "reading 4096 B at byte 12288 failed: Invalid argument (errno 22)" in refused["read"]


DISK = BlockDevice("nvme0n1", "259:0", "", "Fast 9000", False, 1 << 40, 4096, False, "none", "", False, (), ())


def of_disk(disk) -> dict[str, list[tuple[str, str]]]:
    target = type("", (), {"disk": disk})
    by_name: dict[str, list[tuple[str, str]]] = {}
    for finding in module._of_disk(target):
        by_name.setdefault(finding.name, []).append((finding.severity, finding.text))
    return by_name


def test_what_is_said_of_a_disk(monkeypatch):
    monkeypatch.setattr(module, "io_limits", lambda number: ["io.max riops=300"] if number == "259:0" else [])
    text = "nvme0n1: Fast 9000, 1 TiB, blocks of 4096 B, scheduler none, not rotational"
    assert of_disk(DISK) == {"disk": [(FACT, text)], "cgroup": [(FLAG, "1 limit on nvme0n1: io.max riops=300")]}
    assert of_disk(None) == {"disk": [(FACT, "none that /sys tells of")]}
    values = vars(DISK) | {"number": "7:0", "model": "", "rotational": None}
    assert "zram0 is RAM (0 drives)" in of_disk(BlockDevice(**values | {"name": "zram0"}))["disk"][1][1]
    loop = of_disk(BlockDevice(**values | {"name": "loop0", "backing": "/x.img"}))
    assert loop["disk"][1] == (FLAG, "loop0 is a loop over /x.img: a read passes 2 block layers")
    assert loop["cgroup"] == [(FACT, "0 limits on reads of loop0")]
    mapped = of_disk(BlockDevice(**values | {"name": "dm-0", "slaves": ("sda", "sdb"), "partition": "dm-0p1"}))
    assert mapped["disk"][0][1].startswith("dm-0 (partition dm-0p1) over sda sdb: model not told")


@pytest.mark.parametrize(("machine", "virtio", "text"), [
    ("KVM", True, "virtual machine (2 signs: KVM, a virtio disk): its host's page cache may answer"),
    (None, True, "virtual machine (1 sign: a virtio disk): its host's page cache may answer"),
    ("KVM", False, "virtual machine (1 sign: KVM): its host's page cache may answer"),
    (None, False, None),
])  # fmt: skip
def test_virtual_machines(monkeypatch, machine, virtio, text):
    monkeypatch.setattr(module, "virtual_machine", lambda: machine)
    target = type("", (), {"disk": BlockDevice(**vars(DISK) | {"virtio": virtio})})
    assert list(module._of_machine(target)) == ([Finding(FLAG, "host", text)] if text else [])


@pytest.mark.parametrize(("foreign", "steal", "severity"), [(0.1, 0.1, FACT), (0.3, 0.0, FLAG), (0.0, 0.3, FLAG)])
def test_who_else_is_at_work(monkeypatch, foreign, steal, severity):
    moments = iter([Load(0, 0, 0, 0), Load(10.0, 10 * foreign, 10 * steal, 0.0)])
    monkeypatch.setattr(Load, "now", classmethod(lambda cls: next(moments)))
    monkeypatch.setattr(module, "virtual_machine", lambda: None)
    (finding,) = module._of_machine(type("", (), {"disk": None}))
    assert finding.severity == severity
    assert finding.text.startswith(f"other processes take {foreign:.0%} of all cores, the hypervisor {steal:.0%}")


@pytest.mark.parametrize(
    ("gib", "of_tib", "severity"), [(15, 0.125, FLAG), (16, 0.125, FACT), (60, 1, FACT), (60, 2, FLAG)]
)
def test_how_much_of_a_drive_is_read(gib, of_tib, severity):
    disk = BlockDevice(**vars(DISK) | {"bytes": int(of_tib * 2**40)})
    reads = module.Reads(None, 4096, 0, 0, gib << 30)
    (finding,) = module._of_span(type("", (), {"disk": disk}), reads)
    share = gib / of_tib / 1024
    assert finding.severity == severity and finding.text.startswith(f"{gib << 18:,} distinct pages over {gib} GiB, ")
    assert f"{share:.2%} of nvme0n1" in finding.text


def test_require():
    flag, first, second = Finding(FLAG, "a", "1"), Finding(REFUSE, "b", "two"), Finding(REFUSE, "c", "three")
    require([flag])
    with pytest.raises(DataError, match=r"^two$"):
        require([flag, first])
    with pytest.raises(DataError, match=r"^two \(and 1 more: 'flashsim replay check' tells all\)$"):
        require([first, flag, second])
