"""Extents and reads: against plain loops, and on real files with holes and extents that were never written."""

import os

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mounts import direct_folder, in_memory

from flashsim.device import extents
from flashsim.device.extents import holes, overlapping, union, unwritten
from flashsim.device.reads import Reads, fold_of
from flashsim.kernels.target import allocate

MIB = 1 << 20
ranges = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=8).map(
    lambda pairs: np.array([(begin, begin + length) for begin, length in pairs], np.int64).reshape(-1, 2)
)


def covered(extents: np.ndarray) -> set[int]:
    return {byte for begin, end in extents.tolist() for byte in range(begin, end)}


@settings(max_examples=150)
@given(ranges, ranges)
def test_a_union_covers_what_its_parts_do(a, b):
    both = union(a, b)
    assert covered(both) == covered(a) | covered(b)
    assert (both[1:, 0] > both[:-1, 1]).all()


@settings(max_examples=150)
@given(ranges, st.lists(st.integers(0, 70), unique=True), st.integers(1, 9))
def test_overlapping(parts, offsets, length):
    parts, bytes_of = union(parts, parts), covered(parts)
    expected = [any(byte in bytes_of for byte in range(at, at + length)) for at in offsets]
    assert overlapping(parts, np.array(offsets, np.int64), length).tolist() == expected


@settings(max_examples=200)
@given(
    st.none() | st.sets(st.integers(0, 40)), st.integers(1, 5), st.integers(0, 9), st.integers(0, 12),
    st.integers(0, 90), ranges,
)  # fmt: skip
@example(None, 4, 0, 0, 16, np.array([(1, 2), (3, 5)], np.int64))  # two extents on page 0, one of them on page 1 too
@example(set(), 4, 0, 0, 16, np.zeros((0, 2), np.int64))
def test_reads_against_plain_loops(pages, page_bytes, base, fold, size, parts):
    array = None if pages is None else np.array(sorted(pages), np.uint32)
    reads = Reads(array, page_bytes, base, fold, size)
    room = max(0, size - base) // page_bytes
    taken = range(room) if pages is None else sorted({page % fold for page in pages} if fold else pages)
    offsets = [base + page * page_bytes for page in taken]
    assert (reads.room, reads.count) == (room, len(offsets))
    assert reads.span == (offsets[-1] + page_bytes - offsets[0] if offsets else 0)
    if not fold and offsets:
        assert reads.end == offsets[-1] + page_bytes
    if offsets:
        assert reads.end >= offsets[-1] + page_bytes  # folded: the byte behind all that could be read
        sample = reads.sample(5, np.random.default_rng(0)).tolist()
        assert sample == sorted(set(sample)) and set(sample) <= set(offsets) and len(sample) <= 5
        assert (sample[0], sample[-1]) == (offsets[0], offsets[-1])
    dry = [at for at in offsets if covered(parts) & set(range(at, at + page_bytes))]
    assert reads.within(union(parts, parts)) == (len(dry), dry[0] if dry else 0)


def test_folding():
    assert [fold_of(size, 10, 4096, base=4096) for size in (11 * 4096, 11 * 4096 - 1, 4096, 0)] == [0, 9, 0, 0]


def patchy(path) -> int:
    """A file of 4 MiB that is written from 1 to 1.5 MiB and from 3.5 on."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, 4 * MIB)
    os.pwrite(fd, b"x" * (MIB // 2), MIB)
    os.pwrite(fd, b"x" * (MIB // 2), 3 * MIB + MIB // 2)
    os.fsync(fd)
    return fd


def test_holes_of_a_file(tmp_path):
    fd = patchy(direct_folder(tmp_path) / "patchy")
    assert holes(fd, 4 * MIB).tolist() == [[0, MIB], [MIB + MIB // 2, 3 * MIB + MIB // 2]]
    assert len(unwritten(fd, 4 * MIB)) == 0
    os.close(fd)


@pytest.mark.parametrize("room", [1, 4096])
def test_extents_that_were_never_written(tmp_path, monkeypatch, room):
    """lseek takes them for data once they were read through the page cache; FIEMAP does not, however many it tells."""
    monkeypatch.setattr(extents, "_ROOM", room)
    path = direct_folder(tmp_path) / "allocated"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    allocate(fd, 4 * MIB)
    for at in (1, 3):
        os.pwrite(fd, b"x" * MIB, at * MIB)
    os.fsync(fd)
    expected = [[0, MIB], [2 * MIB, 3 * MIB]]
    assert holes(fd, 4 * MIB).tolist() == expected
    assert union(unwritten(fd, 4 * MIB)).tolist() == expected
    path.read_bytes()
    assert union(unwritten(fd, 4 * MIB)).tolist() == expected
    os.pwrite(fd, b"x" * MIB, 0)  # not on the drive yet
    assert union(unwritten(fd, 4 * MIB)).tolist() == expected[1:]
    os.close(fd)


def test_a_file_system_without_fiemap(tmp_path):
    with in_memory("tmpfs", tmp_path) as folder:
        fd = patchy(folder / "patchy")
        assert len(unwritten(fd, 4 * MIB)) == 0
        assert holes(fd, 4 * MIB)[0].tolist() == [0, MIB]
        os.close(fd)


def test_what_cannot_tell_of_holes_has_none():
    with open("/proc/self/stat", "rb") as file:
        assert len(holes(file.fileno(), 100)) == 0
