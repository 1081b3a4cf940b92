"""Stamps read back: every kind of wrong page is found and named."""

import os
import threading
import time

import numpy as np
import pytest
from mounts import direct_folder

from flashsim.device import verify as module
from flashsim.device.prepare import prepare
from flashsim.device.target import Target
from flashsim.device.verify import BLOCK_PAGES, WORKERS, in_order, sound_pages, verify

PAGES = 3 * BLOCK_PAGES + 17
SIZE = PAGES * 4096


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return prepare(direct_folder(tmp_path_factory.mktemp("whole")) / "target", SIZE, seed=5).path


@pytest.fixture
def target(whole, tmp_path):
    """A copy that may be damaged."""
    path = tmp_path / "target"
    path.write_bytes(whole.read_bytes())
    return path


def write(path, page: int, content: bytes, at: int = 0) -> None:
    with open(path, "r+b") as file:
        file.seek(page * 4096 + at)
        file.write(content)


def named(path, numbers=None, **options):
    """(bad, what is said of the first of them)."""
    with Target.open(path, **options) as target:
        result = verify(target, None if numbers is None else np.array(numbers))
        return result.bad, [str(page) for page in result.named]


@pytest.mark.parametrize("buffered", [False, True])
def test_all_are_right(whole, buffered):
    taken = []
    with Target.open(whole, buffered=buffered) as target:
        result = verify(target, progress=taken.append)
        assert (result.checked, result.bad, result.named) == (PAGES, 0, [])
        assert sum(taken) == PAGES and result.gb_per_s > 0
        some = verify(target, np.array([0, 7, PAGES - 1]))
        assert (some.checked, some.bad) == (3, 0)


@pytest.mark.parametrize("buffered", [False, True])
@pytest.mark.parametrize("page", [0, 1, BLOCK_PAGES - 1, BLOCK_PAGES, PAGES - 1])
def test_one_flipped_bit(whole, target, page, buffered):
    byte = whole.read_bytes()[page * 4096 + 1000]
    write(target, page, bytes([byte ^ 16]), 1000)
    said = f"page {page} (byte {page * 4096}) is damaged: it calls itself page {page}, but its checksum is wrong"
    bad, (first,) = named(target, buffered=buffered)
    assert bad == 1 and first.startswith(said)
    assert named(target, [page], buffered=buffered)[0] == 1
    assert named(target, [page - 1 if page else 1])[0] == 0


def test_swapped_pages(whole, target):
    content = whole.read_bytes()
    write(target, 3, content[9 * 4096 : 10 * 4096])
    write(target, 9, content[3 * 4096 : 4 * 4096])
    assert named(target) == (2, [
        "page 3 (byte 12288) holds page 9 instead", "page 9 (byte 36864) holds page 3 instead",
    ])  # fmt: skip


def test_what_else_a_page_may_hold(target, tmp_path):
    other = prepare(tmp_path / "other", 16 * 4096, seed=8).path.read_bytes()
    write(target, 2, bytes(4096))
    write(target, 3, b"\x01" * 4096)
    write(target, 4, other[4 * 4096 : 5 * 4096])
    assert named(target) == (3, [
        "page 2 (byte 8192) holds zeros: it was never written, or trimmed",
        "page 3 (byte 12288) holds no stamp: something else was written there",
        "page 4 (byte 16384) holds page 4 of a target with seed 8, not 5: it is stale",
    ])  # fmt: skip


def test_another_seed_is_asked_for(whole):
    with Target.open(whole) as target:
        result = verify(target, seed=6)
        assert result.bad == PAGES and len(result.named) == 16
        assert "of a target with seed 5, not 6" in str(result.named[0])


def test_a_file_that_was_cut_while_it_was_open(target):
    with Target.open(target) as opened:
        os.truncate(target, 5 * 4096 + 100)
        result = verify(opened)
        assert result.bad == PAGES - 5
        assert str(result.named[0]) == "page 5 (byte 20480) is not there: the file ends before it"


def test_a_page_that_cannot_be_read_is_named_alone(whole, monkeypatch):
    real = module.read_into

    def broken(fd, offset, buffer):
        if offset <= 2000 * 4096 < offset + len(buffer):
            raise OSError(5, "Input/output error")
        return real(fd, offset, buffer)

    monkeypatch.setattr(module, "read_into", broken)
    said = ["page 2000 (byte 8192000) cannot be read: Input/output error (errno 5)"]
    assert named(whole) == (1, said) and named(whole, [1999, 2000]) == (1, said)


@pytest.mark.parametrize("align", [512, 4096, 16384])
def test_reads_keep_to_the_alignment(whole, monkeypatch, align):
    """A drive with blocks of 16 KiB is read in those; a rest that fills none is left out."""
    seen = []
    real = module.read_into
    monkeypatch.setattr(module, "read_into", lambda fd, at, into: seen.append((at, len(into))) or real(fd, at, into))
    with Target.open(whole) as target:
        target = type(target)(**vars(target) | {"direct": target.direct._replace(offset_align=align)})
        assert verify(target).bad == 0
        assert verify(target, np.array([5, 6])).bad == 0
    assert all(at % align == 0 and size % align == 0 for at, size in seen)
    assert seen[-1] == ((4 * 4096, 4 * 4096) if align == 16384 else (6 * 4096, 4096))


@pytest.mark.parametrize("bad", [0, 1, BLOCK_PAGES, 2 * BLOCK_PAGES + 5, PAGES - 1, None])
def test_how_far_a_file_is_sound(target, bad):
    if bad is not None:
        write(target, bad, bytes(4096))
    taken = []
    with open(target, "rb") as file:
        assert sound_pages(file.fileno(), SIZE, 5, taken.append) == (PAGES if bad is None else bad)
        assert sum(taken) == (PAGES if bad is None else bad // BLOCK_PAGES * BLOCK_PAGES)
        assert sound_pages(file.fileno(), SIZE, 6, taken.append) == 0


def test_tasks_are_done_in_order_and_never_far_apart():
    done, apart, lock = [], [], threading.Lock()

    def work(task: int) -> int:
        with lock:
            apart.append(task - next(at for at in range(100) if at not in done))
        time.sleep(0.02 if task % 5 == 0 else 0.001)
        with lock:
            done.append(task)
        return task

    assert list(in_order(work, range(40))) == list(range(40))
    assert max(apart) == WORKERS - 1


def test_no_task_begins_after_one_has_failed():
    begun = []

    def work(task: int) -> None:
        begun.append(task)
        if task == 2:
            raise OSError("broken")
        time.sleep(0.02)

    with pytest.raises(OSError, match="broken"):
        list(in_order(work, range(100)))
    assert max(begun) < 3 + 2 * WORKERS
