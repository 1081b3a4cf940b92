"""Replays of small targets full of stamps, by any engine."""

import numpy as np

from flashsim.kernels import backend
from flashsim.kernels.c.binding import ffi
from flashsim.kernels.replay import Replayer, engine_error

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
