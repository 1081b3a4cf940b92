"""The replay: which reads are sent when, what is counted, and what is done about reads that fail."""

import errno
import os
import signal
import threading

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from mounts import direct_folder

from flashsim.errors import DataError, UsageError
from flashsim.kernels import backend
from flashsim.kernels.c.binding import ffi
from flashsim.kernels.replay import BINS, MAX_READS, Replayer, bin_edges, engine_error, percentiles

READING = [name for name in ("threads", "io_uring", "test") if not engine_error(name)]
ENDED = 2**63
PAGES = 64
SEED = 5


def arrays(sizes, lookups=None):
    """ends and lookups of groups with so many reads each."""
    ends = np.cumsum(np.asarray(sizes, np.int64), dtype=np.int64)
    return ends, np.ones(len(ends), np.int64) if lookups is None else np.asarray(lookups, np.int64)


class Faults:
    """What the engine "test" does wrong, with a record of ``room`` events."""

    def __init__(self, room: int = 0, **fields) -> None:
        self._events = np.zeros(room, np.uint64)
        pointer = ffi.from_buffer("uint64_t[]", self._events)
        self._struct = ffi.new("struct fs_replay_faults *", {"events": pointer, "events_room": room} | fields)
        self._kept = pointer

    def replayer(self, pages, ends, lookups, fd=-1, **options) -> Replayer:
        return Replayer(fd, pages, ends, lookups, engine="test", faults=self._struct, **options)

    @property
    def events(self) -> list[int]:
        return self._events[: self._struct.events_count].tolist()


def replayer_of(engine, fd, pages, ends, lookups, *, page_bytes=4096, **options) -> Replayer:
    if engine == "test":
        return Faults().replayer(pages, ends, lookups, fd, page_bytes=page_bytes, **options)
    return Replayer(fd, pages, ends, lookups, page_bytes=page_bytes, engine=engine, **options)


def finished(replayer, limit):
    """The counters when ``limit`` lookups, counted from the first slice, are complete."""
    while (counters := replayer.slice(max_lookups=limit)).lookups < limit:
        assert counters.wall_ns < 60e9, "hangs"
    return counters


def stamps_of(pages) -> np.ndarray:
    """uint8, shape (pages, 4096): the first stamps of a target."""
    block = np.zeros(pages * 4096, np.uint8)
    backend("c").stamp_fill(block, 0, SEED)
    return block.reshape(pages, 4096)


@pytest.fixture(scope="module")
def stamped(tmp_path_factory):
    """A file of PAGES stamps, open."""
    path = tmp_path_factory.mktemp("stamped") / "target"
    path.write_bytes(stamps_of(PAGES).tobytes())
    with path.open("rb") as file:
        yield file.fileno()


def simulate(sizes, lookups, max_reads, max_groups, limit, seed):
    """Events (a read's index as it is sent, and 2^63 more as it completes), lookups and groups that complete, where
    the reads in flight complete one by one in an order drawn by SplitMix64."""
    ends = np.cumsum(sizes).tolist()
    events, flying, left, to_send, draws, turn, started, done = [], [], {}, [], 0, 0, 0, [0, 0]

    def complete(group):
        done[0] += lookups[group % len(sizes)]
        done[1] += 1

    while True:
        while len(flying) < max_reads:
            if not to_send:
                if len(left) == max_groups or started >= limit:
                    break
                size, end = sizes[turn % len(sizes)], ends[turn % len(sizes)]
                to_send = [(turn, read) for read in range(end - size, end)]
                started += lookups[turn % len(sizes)]
                if size:
                    left[turn] = size
                else:
                    complete(turn)
                turn += 1
            else:
                flying.append(to_send.pop(0))
                events.append(flying[-1][1])
        if not flying:
            return events, done[0], done[1]
        draws += 1
        group, read = flying.pop(reference.mix13((seed + draws * 0x9E3779B97F4A7C15) % 2**64) % len(flying))
        events.append(ENDED + read)
        left[group] -= 1
        if not left[group]:
            del left[group]
            complete(group)


@st.composite
def plans(draw):
    groups = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), min_size=1, max_size=12))
    sizes, lookups = zip(*groups, strict=True)
    max_groups = draw(st.none() | st.integers(1, 5))
    return (
        sizes,
        lookups,
        draw(st.integers(1, 9)),
        max_groups,
        draw(st.integers(0, 150)),
        draw(st.integers(0, 2**64 - 1)),
    )


@given(plans(), st.integers(20_000, 200_000))
def test_reads_are_sent_as_a_plain_simulation_sends_them(plan, slice_ns):
    sizes, lookups, max_reads, max_groups, limit, seed = plan
    expected, done, groups = simulate(sizes, lookups, max_reads, max_groups, limit, seed)
    pages = np.arange(sum(sizes), dtype=np.uint32)
    faults = Faults(len(expected) + 10, seed=seed)
    limits = {"page_bytes": 4096, "max_reads": max_reads, "max_groups": max_groups}
    with faults.replayer(pages, *arrays(sizes, lookups), **limits) as replayer:
        while (counters := replayer.slice(slice_ns, limit)).lookups < done:
            pass
    events = faults.events
    assert events == expected
    assert (counters.lookups, counters.groups, counters.reads) == (done, groups, len(expected) // 2)
    assert counters.lookup.count == counters.lookup.bins.sum() == done
    assert counters.read.count == counters.read.bins.sum() == counters.reads
    assert counters.bytes == 4096 * counters.reads
    in_flight = np.cumsum([1 if event < ENDED else -1 for event in events])
    assert max(in_flight, default=0) <= max_reads and counters.mean_in_flight <= max_reads


@given(st.lists(st.integers(0, 2**36), max_size=50), st.lists(st.floats(0, 100), max_size=5))
def test_percentiles_are_those_of_the_values_within_a_bin(values, qs):
    bins = np.searchsorted(bin_edges()[:-1], values, side="right") - 1
    found = percentiles(np.bincount(bins, minlength=BINS).astype(np.uint64), qs)
    if not values:
        assert np.isnan(found).all()
        return
    exact = np.minimum(np.percentile(values, qs, method="inverted_cdf"), bin_edges()[-1] - 1)
    assert (np.abs(found - exact) <= exact / 64).all()


def test_bins_of_the_loop_are_those_of_python():
    """A read that takes t ns must fall in the bin of t: with the sum exact, few reads pin their bins down."""
    pages, one = np.zeros(1, np.uint32), arrays([1])
    for delay in (1, 1000, 77_777, 1_000_000):
        with Faults(delay_ns=delay).replayer(pages, *one, page_bytes=512, max_reads=1) as replayer:
            latency = finished(replayer, 1).read
        assert latency.count == 1 and latency.sum_ns == latency.max_ns >= delay
        assert np.flatnonzero(latency.bins) == np.searchsorted(bin_edges(), latency.sum_ns, side="right") - 1


def test_a_read_is_counted_from_sent_to_complete():
    """Little's law: reads in flight on average = reads a second x their latency."""
    pages, groups = np.arange(8, dtype=np.uint32), arrays([4, 0, 3, 1])
    with Faults(delay_ns=200_000).replayer(pages, *groups, page_bytes=4096, max_reads=6) as replayer:
        last = 0
        while (done := replayer.slice(500_000, 400)).lookups < 400:
            assert last <= done.in_flight_ns <= 6 * done.wall_ns
            assert done.read.sum_ns <= done.in_flight_ns < done.read.sum_ns + 6 * done.wall_ns
            last = done.in_flight_ns
    assert done.mean_in_flight == pytest.approx(done.reads_per_s * done.read.mean_ns / 1e9, rel=1e-9)
    assert done.read.percentiles_ns([0])[0] > 190_000
    assert 0 < done.mean_in_flight <= 6
    assert done.lookup.sum_ns >= 300 * 200_000  # the empty groups take no time
    assert done.lookup.percentiles_ns([25])[0] < 190_000 < done.lookup.percentiles_ns([26])[0]


def test_differences_are_what_came_in_between():
    pages, groups = np.arange(6, dtype=np.uint32), arrays([3, 2, 1])
    with Faults(delay_ns=20_000).replayer(pages, *groups, page_bytes=4096, max_reads=4) as replayer:
        first = finished(replayer, 30)
        second = finished(replayer, 90)
    between = second - first
    assert (between.lookups, between.groups, between.reads) == (60, 60, 120)
    assert between.read.count == between.read.bins.sum() == 120
    assert between.read.sum_ns == second.read.sum_ns - first.read.sum_ns
    assert between.read.sum_ns / 120 <= between.read.max_ns <= second.read.max_ns
    assert between.wall_ns == second.wall_ns - first.wall_ns > 0
    assert (second - second).read.max_ns == 0


def test_lookups_of_an_open_loop_are_counted_from_when_they_were_due():
    """Reads of 2 ms, one at a time, due every 0.5 ms: the last of n is done 2 n ms after the start at the soonest."""
    pages, groups, count = np.arange(5, dtype=np.uint32), arrays([1] * 5), 20
    with Faults(delay_ns=2_000_000).replayer(pages, *groups, page_bytes=4096, max_reads=1, rate=2000) as replayer:
        done = finished(replayer, count)
    late = [2_000_000 * n - 500_000 * (n - 1) for n in range(1, count + 1)]
    assert done.lookup.sum_ns >= sum(late) and done.lookup.max_ns >= late[-1]
    assert done.read.sum_ns < done.lookup.sum_ns


@pytest.mark.parametrize("engine", ["null", *READING])
def test_no_lookup_of_an_open_loop_is_sent_before_it_is_due(engine, stamped):
    """The last of n lookups is due n - 1 times 0.25 ms after the start; waits, and slices, are longer and shorter."""
    pages, groups, count = np.arange(4, dtype=np.uint32), arrays([2, 0, 1, 1]), 60
    with replayer_of(engine, stamped, pages, *groups, max_reads=4, rate=4000.0) as replayer:
        while (done := replayer.slice(700_000, count)).lookups < count:
            pass
    assert done.wall_ns >= (count - 1) * 250_000
    assert (done.lookups, done.groups, done.reads) == (60, 60, 60)


@pytest.mark.parametrize("engine", READING)
@pytest.mark.parametrize("page_bytes", [4096, 8192])
@pytest.mark.parametrize(("max_reads", "max_groups"), [(1, None), (7, None), (64, 1), (64, 3)])
def test_every_engine_reads_the_pages_that_were_asked_for(engine, page_bytes, max_reads, max_groups, stamped):
    rng = np.random.default_rng(max_reads)
    groups = arrays(rng.integers(0, 20, 50), rng.integers(1, 4, 50))
    pages = rng.integers(0, 2**32, groups[0][-1], dtype=np.uint32)
    limits = {"page_bytes": page_bytes, "max_reads": max_reads, "max_groups": max_groups}
    where = {"base": 4096 * 3, "fold": (PAGES - 3) * 4096 // page_bytes}
    turn = int(groups[1].sum())
    with replayer_of(engine, stamped, pages, *groups, **limits, **where, verify=1, seed=SEED) as replayer:
        done = finished(replayer, 3 * turn)
    assert (done.lookups, done.groups, done.reads) == (3 * turn, 150, 3 * len(pages))
    assert (done.checked, done.bad, done.short_reads, done.retries) == (done.reads, 0, 0, 0)
    assert done.enters > 0 or engine == "test"
    assert done.cpu_ns > 0 and done.gap_ns < done.wall_ns


@pytest.mark.parametrize("engine", [name for name in READING if name != "test"])
def test_the_drive_has_the_reads_in_flight_that_were_asked_for(engine, tmp_path):
    path = direct_folder(tmp_path) / "target"
    path.write_bytes(stamps_of(PAGES).tobytes())
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    os.fsync(fd)
    pages, groups = np.arange(PAGES, dtype=np.uint32), arrays([1] * PAGES)
    with replayer_of(engine, fd, pages, *groups, max_reads=8) as replayer:
        assert 4 < finished(replayer, 4000).mean_in_flight <= 8
    groups = arrays([16] * (PAGES // 16))
    with replayer_of(engine, fd, pages, *groups, max_reads=8, max_groups=1) as replayer:
        assert 3 < finished(replayer, 300).mean_in_flight <= 8
    os.close(fd)


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
