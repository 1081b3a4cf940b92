"""The replay: how it is opened, stopped, gone on with and closed, and what it refuses."""

import errno
import os
import signal
import threading

import numpy as np
import pytest

from flashsim.errors import UsageError
from flashsim.kernels.replay import MAX_READS, Replayer
from tests.kernels.replays import ENDED, PAGES, READING, Faults, arrays, finished, replayer_of


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS, errno.ENOMEM])
def test_an_engine_that_does_not_open_says_why(code):
    with pytest.raises(OSError, match=rf"test does not open: {errno.errorcode[code]} \(errno {code}\)") as raised:
        Faults(open_error=code).replayer(np.zeros(1, np.uint32), *arrays([1]), page_bytes=4096, max_reads=1)
    assert raised.value.errno == code


@pytest.mark.parametrize("engine", READING)
def test_ctrl_c_comes_through_between_slices(engine, stamped):
    pages, groups = np.arange(PAGES, dtype=np.uint32), arrays([4] * (PAGES // 4))
    with replayer_of(engine, stamped, pages, *groups, max_reads=16, rate=100.0) as replayer:
        threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            while replayer.slice().wall_ns < 60e9:
                pass
        assert 1 <= replayer.counters.lookups < 1000
        assert replayer.drain().reads % 4 == 0


@pytest.mark.parametrize("engine", READING)
def test_closing_waits_for_what_is_in_flight(engine, stamped):
    pages, groups = np.arange(PAGES, dtype=np.uint32), arrays([PAGES])
    for _ in range(20):
        with replayer_of(engine, stamped, pages, *groups, max_reads=32) as replayer:
            replayer.slice(50_000)
        replayer.close()
        with pytest.raises(ValueError, match="closed"):
            replayer.slice()


def test_a_drained_replay_goes_on_where_it_stopped(stamped):
    """A limit stops groups from starting, not the reads of those that have."""
    pages, groups = np.arange(9, dtype=np.uint32), arrays([3, 3, 3], [1, 5, 1])
    faults = Faults(100)
    with faults.replayer(pages, *groups, page_bytes=4096, max_reads=2) as replayer:
        assert finished(replayer, 2).lookups == 6  # the second group started at 1 and has 5
        assert replayer.drain().reads == 6
        assert finished(replayer, 7).reads == 9
    assert [event for event in faults.events if event < ENDED] == list(range(9))


def test_one_thread_drives_a_replay(stamped):
    with Replayer(
        stamped, np.zeros(1, np.uint32), *arrays([1]), page_bytes=512, max_reads=1, engine="null"
    ) as replayer:
        raised = []

        def other():
            try:
                replayer.slice()
            except ValueError as error:
                raised.append(str(error))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert raised and "thread" in raised[0]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_reads": 0}, "0 reads in flight: 1 to 4,096"),
        ({"max_reads": MAX_READS + 1}, "4,097 reads in flight: 1 to 4,096"),
        ({"max_groups": 0}, "0 lookups in flight"),
        ({"rate": float("nan")}, "--rate nan: 0.000001 to"),
        ({"rate": -1.0}, "--rate -1: "),
        ({"rate": 1e-7}, "--rate 1e-07: "),
        ({"page_bytes": 1000}, "1,000 B.*512"),
        ({"page_bytes": 2 << 20}, "2,097,152 B.*1,048,576"),
        ({"verify": 1, "page_bytes": 512, "engine": "threads"}, "4,096 B.*512 B"),
        ({"verify": 1, "base": 512, "engine": "threads"}, "4,096 B.* 512 cannot"),
        ({"verify": 1}, "null reads 0 bytes"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_number(options, text):
    options = {"page_bytes": 4096, "max_reads": 1, "engine": "null"} | options
    with pytest.raises(UsageError, match=text):
        Replayer(-1, np.zeros(1, np.uint32), *arrays([1]), **options)


@pytest.mark.parametrize(
    ("ends", "lookups", "options"),
    [
        ([], [], {}),
        ([2], [1], {}),  # there is one page
        ([1], [1, 1], {}),
        ([1, 0], [1, 1], {}),
        ([1], [-1], {}),
        ([0, 1], [0, 0], {}),  # no lookup would ever be complete
        ([1], [1], {"base": 2**63}),
    ],
)
def test_arrays_that_make_no_sense_are_refused(ends, lookups, options):
    options = {"page_bytes": 4096, "max_reads": 1, "engine": "null"} | options
    with pytest.raises(ValueError, match=r"1 pages|groups was refused"):
        Replayer(-1, np.zeros(1, np.uint32), np.array(ends, np.int64), np.array(lookups, np.int64), **options)


def test_more_reads_than_threads_are_said_so(stamped):
    pages, groups = np.zeros(1, np.uint32), arrays([1])
    for max_reads, notes in ((256, 0), (257, 1)):
        with replayer_of("threads", stamped, pages, *groups, max_reads=max_reads) as replayer:
            finished(replayer, 1000)
            assert len(replayer.notes) == notes
