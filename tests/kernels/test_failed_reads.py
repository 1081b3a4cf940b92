"""The replay: reads that fail, come short or bring the wrong page, and what is done about them."""

import errno
import os

import numpy as np
import pytest

from flashsim.errors import DataError
from tests.kernels.replays import PAGES, READING, SEED, Faults, arrays, finished, replayer_of, stamps_of


@pytest.mark.parametrize("engine", READING)
def test_every_nth_read_is_verified(engine, stamped):
    pages, groups = np.arange(PAGES, dtype=np.uint32), arrays([4] * (PAGES // 4))
    with replayer_of(engine, stamped, pages, *groups, max_reads=3, verify=3, seed=SEED) as replayer:
        done = finished(replayer, 25)
    assert (done.reads, done.checked) == (100, 33)


@pytest.mark.parametrize("engine", READING)
@pytest.mark.parametrize("page_bytes", [4096, 16384])
def test_a_wrong_page_is_named(engine, page_bytes, tmp_path):
    path, block = tmp_path / "target", stamps_of(PAGES)
    pages, groups = np.arange(PAGES * 4096 // page_bytes, dtype=np.uint32), arrays([1] * (PAGES * 4096 // page_bytes))
    zeros = np.zeros(4096, np.uint8)
    flipped = block[37].copy()
    flipped[4095] ^= 1
    for wrong, text in ((zeros, "zeros"), (flipped, "damaged"), (block[12], "holds page 12"), (block[37], None)):
        bad = block.copy()
        bad[37] = wrong
        path.write_bytes(bad.tobytes())
        with path.open("rb") as file:
            limits = {"page_bytes": page_bytes, "max_reads": 5, "verify": 1, "seed": SEED}
            with replayer_of(engine, file.fileno(), pages, *groups, **limits) as replayer:
                if text is None:
                    assert finished(replayer, len(pages)).bad == 0
                    continue
                with pytest.raises(DataError, match=rf"page 37 \(byte {37 * 4096}\) .*{text}.*: 1 of the "):
                    finished(replayer, len(pages))
                assert replayer.counters.bad == 1
    with (
        path.open("rb") as file,
        replayer_of(engine, file.fileno(), pages, *groups, max_reads=5, verify=1, seed=SEED + 1) as replayer,
        pytest.raises(DataError, match="another target"),
    ):
        finished(replayer, len(pages))


@pytest.mark.parametrize("engine", READING)
def test_a_read_past_the_end_is_an_error_that_names_the_place(engine, stamped):
    pages, groups = np.array([3, PAGES - 1, PAGES + 7, 2], np.uint32), arrays([4])
    with replayer_of(engine, stamped, pages, *groups, max_reads=2) as replayer:
        with pytest.raises(OSError, match=f"page {PAGES + 7}, .*{(PAGES + 7) * 4096:,}.* ends ") as raised:
            finished(replayer, 1)
        assert raised.value.errno == errno.ENODATA
        with pytest.raises(OSError, match="ends"):  # it stays ended
            replayer.slice()
        assert replayer.counters.lookups == 0


@pytest.mark.parametrize("engine", READING)
def test_a_page_that_is_cut_off_is_read_up_to_there(engine, tmp_path):
    path = tmp_path / "target"
    path.write_bytes(stamps_of(3).tobytes()[: 2 * 4096 + 700])
    pages, groups = np.arange(3, dtype=np.uint32), arrays([3])
    with path.open("rb") as file, replayer_of(engine, file.fileno(), pages, *groups, max_reads=1) as replayer:
        with pytest.raises(OSError, match="page 2, offset 8,892: the target ends here"):
            finished(replayer, 1)
        assert (replayer.counters.reads, replayer.counters.short_reads) == (2, 1)


@pytest.mark.parametrize("engine", READING)
def test_a_read_that_fails_is_an_error_that_names_errno_and_place(engine, tmp_path):
    pages, groups = np.arange(3, dtype=np.uint32), arrays([3])
    folder = os.open(tmp_path, os.O_RDONLY)  # a folder cannot be read
    with (
        replayer_of(engine, folder, pages, *groups, base=512, max_reads=1) as replayer,
        pytest.raises(OSError, match=r"page 0, offset 512 .*EISDIR \(errno 21\)"),
    ):
        finished(replayer, 1)
    os.close(folder)


def test_interrupted_reads_are_sent_again_and_counted():
    pages, groups = np.arange(10, dtype=np.uint32), arrays([10])
    for code in (errno.EINTR, errno.EAGAIN):
        with Faults(every=2, error=code).replayer(pages, *groups, page_bytes=4096, max_reads=1) as replayer:
            done = finished(replayer, 2)
        assert (done.reads, done.retries, done.short_reads, done.read.count) == (20, 19, 0, 20)


def test_a_read_that_is_interrupted_four_times_fails():
    pages, groups = np.arange(10, dtype=np.uint32), arrays([10])
    with Faults(every=1, error=errno.EAGAIN).replayer(pages, *groups, page_bytes=4096, max_reads=1) as replayer:
        with pytest.raises(OSError, match=r"page 0, offset 0 .*EAGAIN \(errno 11\)"):
            finished(replayer, 2)
        assert (replayer.counters.retries, replayer.counters.reads) == (3, 0)


def test_any_other_error_fails_at_once():
    pages, groups = np.arange(10, dtype=np.uint32) * 3, arrays([10])
    with Faults(every=5, error=errno.EIO).replayer(pages, *groups, page_bytes=4096, max_reads=1) as replayer:
        with pytest.raises(OSError, match=r"page 12, offset 49,152 .*EIO \(errno 5\)"):
            finished(replayer, 2)
        assert (replayer.counters.retries, replayer.counters.reads) == (0, 4)


def test_short_reads_are_read_on_where_they_ended(stamped):
    pages, groups = np.arange(PAGES, dtype=np.uint32), arrays([PAGES])
    limits = {"page_bytes": 4096, "max_reads": 4, "verify": 1, "seed": SEED}
    for every, least, most in ((1, 7 * PAGES, 7 * PAGES), (2, PAGES / 2, 2 * PAGES)):
        with Faults(every=every, short_bytes=512).replayer(pages, *groups, fd=stamped, **limits) as replayer:
            done = finished(replayer, 1)
        assert (done.reads, done.bytes, done.checked, done.bad) == (PAGES, PAGES * 4096, PAGES, 0)
        assert least <= done.short_reads <= most
