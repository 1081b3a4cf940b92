"""What speaks for and against a target: would a replay on it measure the drive?"""

import mmap
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from flashsim.device.extents import holes, union, unwritten
from flashsim.device.host import Load, virtual_machine
from flashsim.device.machine import io_limits
from flashsim.device.reads import Reads
from flashsim.device.target import Target, aligned_buffer, read_into
from flashsim.device.verify import Verification, verify
from flashsim.errors import DataError
from flashsim.kernels.stamps import STAMP_BYTES
from flashsim.kernels.target import cached_pages
from flashsim.units import format_bytes, number_of

REFUSE, FLAG, FACT = "refuse", "flag", "fact"

SAMPLE = 1000  # stamps that are read
SMALL_SPAN_BYTES, SMALL_SPAN_SHARE = 16 << 30, 0.05  # a drive's own caches may hold less
NAND_LEAST_US = 20.0  # no NAND flash answers a read in less
BUSY_SHARE, LOAD_SECONDS = 0.2, 0.2  # of all cores, from which on figures suffer; how long it is looked at

_NO_ROOM = ("alignment", "length")  # findings after which there is nothing to read


class Finding(NamedTuple):
    """severity: REFUSE (a replay would not measure the drive), FLAG (to be said beside each result) or FACT."""

    severity: str
    name: str
    text: str


def check(
    target: Target, *, pages: np.ndarray | None = None, page_bytes: int = 4096, base: int = 0, fold: int = 0
) -> list[Finding]:
    """All findings on a replay that reads ``pages`` of ``target``. pages: uint32, distinct, increasing; None = all of
    them. base: byte offset of page 0. fold: 0, or what page numbers are taken modulo. What the page cache holds of the
    target is dropped."""
    with suppress(OSError):
        os.fsync(target.fd)  # a read-only file system may refuse
    os.posix_fadvise(target.fd, 0, 0, os.POSIX_FADV_DONTNEED)
    reads = Reads(pages, page_bytes, base, fold, target.size)
    found = [*_of_direct_io(target), *_of_disk(target), *_of_machine(target), *_of_room(target, reads)]
    if reads.count and not any(finding.severity == REFUSE and finding.name in _NO_ROOM for finding in found):
        extents = list(_of_extents(target, reads))
        found += [*_of_span(target, reads), *extents]
        if not any(finding.severity == REFUSE for finding in extents):  # else it would be said twice
            found += _of_content(target, reads)
    return found


def require(findings: list[Finding]) -> None:
    """Raise DataError with the first refusal among ``findings``, and how many more there are."""
    refused = [finding.text for finding in findings if finding.severity == REFUSE]
    if refused:
        more = f" (and {len(refused) - 1} more: 'flashsim replay check' tells all)" if len(refused) > 1 else ""
        raise DataError(refused[0] + more)


def _of_direct_io(target: Target) -> Iterator[Finding]:
    path, direct, mount = target.path, target.direct, target.mount
    layers = [
        f"{layer} {mount.options[layer]}" for layer in ("upperdir", "lowerdir") if mount and layer in mount.options
    ]
    name = f"{target.file_system}{' over ' if layers else ''}{' and '.join(layers)}"
    mounted = f", mounted on {mount.point} from {mount.source}" if mount else ""
    yield Finding(FACT, "file system", name + mounted)
    yield Finding(FACT, "size", f"{target.size:,} B ({format_bytes(target.size)})")
    if target.buffered:
        yield Finding(
            FLAG, "direct I/O", "no, --buffered: 0 reads are sure to reach the drive, results are the page cache's"
        )
    elif direct.refusal:
        text = f"{path}{f' is on {name}' * (mount is not None)}: 0 reads would reach a drive: {direct.refusal}"
        yield Finding(
            REFUSE, "direct I/O", f"{text}: take a file on ext4 or XFS, or --buffered, which labels the results"
        )
    else:
        yield Finding(FACT, "direct I/O", f"yes, by {direct.source}")
        text = f"{direct.offset_align} B of offset and length, {direct.memory_align} B of memory, by {direct.source}"
        yield Finding(FACT, "alignment", text)


def _of_disk(target: Target) -> Iterator[Finding]:
    disk = target.disk
    if disk is None:
        yield Finding(FACT, "disk", "none that /sys tells of")
        return
    of = "".join(
        [f" (partition {disk.partition})" * bool(disk.partition), f" over {' '.join(disk.slaves)}" * bool(disk.slaves)]
    )
    rotational = {True: "rotational", False: "not rotational", None: "rotational or not is not told"}[disk.rotational]
    scheduler = f"scheduler {disk.scheduler or 'not told'}"
    parts = (disk.model or "model not told", format_bytes(disk.bytes), f"blocks of {disk.logical_block} B", scheduler)
    yield Finding(FACT, "disk", f"{disk.name}{of}: {', '.join(parts)}, {rotational}")
    if disk.in_ram:
        behind = f" over {disk.backing}" if disk.backing else ""
        yield Finding(FLAG, "disk", f"{disk.name}{behind} is RAM (0 drives): results are the limit of the software")
    elif disk.backing:
        yield Finding(FLAG, "disk", f"{disk.name} is a loop over {disk.backing}: a read passes 2 block layers")
    if limits := io_limits(disk.number):
        yield Finding(FLAG, "cgroup", f"{number_of(len(limits), 'limit')} on {disk.name}: {'; '.join(limits)}")
    else:
        yield Finding(FACT, "cgroup", f"0 limits on reads of {disk.name}")


def _of_machine(target: Target) -> Iterator[Finding]:
    virtio = target.disk is not None and target.disk.virtio
    if signs := list(filter(None, (virtual_machine(), "a virtio disk" if virtio else None))):
        yield Finding(
            FLAG,
            "host",
            f"virtual machine ({number_of(len(signs), 'sign')}: {', '.join(signs)}): its host's page cache may answer",
        )
    before = Load.now()
    time.sleep(LOAD_SECONDS)
    after = Load.now()
    if before and after:
        load = after - before
        busy = max(load.foreign, load.stolen) > BUSY_SHARE
        text = f"other processes take {load.foreign:.0%} of all cores, the hypervisor {load.stolen:.0%}"
        yield Finding(FLAG if busy else FACT, "load", f"{text}{': figures will suffer' if busy else ''}")


def _of_room(target: Target, reads: Reads) -> Iterator[Finding]:
    """Whether the reads fit in at all."""
    path, page, base, align = target.path, reads.page_bytes, reads.base, target.direct.offset_align or 1
    if not target.buffered and (page % align or base % align):
        text = f"{path}: reads of {page} B from byte {base} on do not keep to its alignment of {align} B"
        yield Finding(REFUSE, "alignment", f"{text}: take pages and a base that are multiples of it, or --buffered")
    if reads.pages is None:
        if not reads.room:
            text = f"{path} has {target.size} B: no page of {page} B has room from byte {base} on"
            yield Finding(REFUSE, "length", f"{text}: prepare a larger one")
    elif reads.end > target.size:
        last = (reads.end - base) // page - 1
        text = f"{path} has {target.size} B, page {last} ends at byte {reads.end}"
        yield Finding(
            REFUSE, "length", f"{text}: prepare a larger one with --for TRACE, or fold page numbers with --fold"
        )
    elif reads.fold and len(reads.pages) and reads.pages[-1] >= reads.fold:
        text = f"page numbers up to {reads.pages[-1]} are taken modulo {reads.fold}"
        yield Finding(FLAG, "fold", f"{text}: {len(reads.pages):,} distinct pages become {reads.count:,}")


def _of_span(target: Target, reads: Reads) -> Iterator[Finding]:
    """How much of the drive is read."""
    disk_bytes = target.disk.bytes if target.disk else 0
    share = reads.span / disk_bytes if disk_bytes else 1.0
    of_disk = f", {share:.2%} of {target.disk.name}" if disk_bytes else ""
    text = f"{reads.count:,} distinct pages over {format_bytes(reads.span)}{of_disk}"
    if reads.span < SMALL_SPAN_BYTES or share < SMALL_SPAN_SHARE:
        least = f"less than {format_bytes(SMALL_SPAN_BYTES)} or {SMALL_SPAN_SHARE:.0%}"
        yield Finding(FLAG, "span", f"{text}: {least}: caches of the drive or its host may hold it")
    else:
        yield Finding(FACT, "span", text)


def _of_extents(target: Target, reads: Reads) -> Iterator[Finding]:
    """Reads that no flash would answer."""
    if target.kind != "file":
        return
    allocated = unwritten(target.fd, target.size)
    count, first = reads.within(union(holes(target.fd, target.size), allocated))
    if not count:
        yield Finding(FACT, "extents", "all written where pages are read, by FIEMAP and SEEK_HOLE")
        return
    never, _ = reads.within(allocated)
    what = " and ".join(
        [f"{never:,} allocated but never written"] * bool(never) + [f"{count - never:,} in holes"] * (count > never)
    )
    page = (first - reads.base) // reads.page_bytes
    text = f"{target.path}: {count:,} of {reads.count:,} pages read are not on the drive ({what}), the first is page"
    yield Finding(REFUSE, "extents", f"{text} {page} at byte {first}: 'flashsim replay prepare --force' fills it")


def _of_content(target: Target, reads: Reads) -> Iterator[Finding]:
    """What a sample of the reads brings."""
    cached = cached_pages(target.fd)
    if cached is not None:
        text = f"holds {format_bytes(cached * mmap.PAGESIZE)} of it"
        yield Finding(FLAG if cached and target.buffered else FACT, "page cache", text)
    draw = np.random.default_rng(0)
    offsets = reads.sample(SAMPLE, draw)
    page, blank = aligned_buffer(reads.page_bytes), 0
    for offset in (offsets if target.seed is None else offsets[[0, -1]]).tolist():
        try:
            read_into(target.fd, offset, page)
        except OSError as error:
            text = f"{target.path} on {target.file_system}: reading {reads.page_bytes} B at byte {offset} failed"
            text = f"{text}: {error.strerror} (errno {error.errno}): take another file or file system"
            yield Finding(REFUSE, "read", text)
            return
        blank += int((page == page[0]).all())
    if target.seed is None:
        text = f"{blank} of {len(offsets):,} pages looked at repeat 1 byte, such as 0"
        if blank == len(offsets):
            text = f"{target.path}: {text}, never written or trimmed: no flash answers there"
            yield Finding(REFUSE, "stamps", f"{text}: 'flashsim replay prepare --force' fills it")
        else:
            yield Finding(
                FLAG, "stamps", f"none: reads cannot be verified; {text}: 'flashsim replay prepare' writes stamps"
            )
        return
    within = draw.integers(0, reads.page_bytes, len(offsets))  # one stamp of each page read
    result = verify(target, np.unique((offsets + within) // STAMP_BYTES))
    yield of_stamps(target, result)


def of_stamps(target: Target, result: Verification) -> Finding:
    """What the stamps of ``target`` said."""
    if not result.bad:
        rate = f", read at {result.gb_per_s:.2f} GB/s" if result.checked > SAMPLE else ""
        return Finding(
            FACT,
            "stamps",
            f"seed {target.seed}; {number_of(result.checked, 'page', ',')} looked at, all right{rate}",
        )
    text = f"{target.path}: {result.bad:,} of {result.checked:,} pages looked at are wrong"
    named = "; ".join(map(str, result.named[:3]))
    return Finding(REFUSE, "stamps", f"{text}: {named}: prepare it again, or for all that is read")
