"""The C kernels. The only module that imports the compiled part; it checks every dtype, shape and limit first,
because a buffer crosses into C as a bare pointer."""

from dataclasses import asdict

import numpy as np

from flashsim.kernels import _csim
from flashsim.kernels.drive import GROUP, READ, STATE, DriveRun
from flashsim.kernels.plan import MixPlan
from flashsim.kernels.stamps import words_of
from flashsim.kernels.state import PolicyState, lru_slots

_ffi, _lib = _csim.ffi, _csim.lib


def _trace(array: np.ndarray):
    if array.ndim != 1:
        raise TypeError(f"a trace is 1-D, got {array.ndim}-D of shape {array.shape}")
    return _pointer("uint32_t[]", array, np.uint32)


def _pointer(kind: str, array: np.ndarray | None, dtype: type, writable: bool = False):
    if array is None:
        return _ffi.NULL
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise TypeError(f"expected a contiguous {np.dtype(dtype)} array, got {array.dtype}, strides {array.strides}")
    return _ffi.from_buffer(kind, array, require_writable=writable)


def mix_address(
    plan: MixPlan,
    ids: np.ndarray,
    first: int,
    starts: np.ndarray,
    out: np.ndarray,
    counts: np.ndarray | None = None,
) -> int:
    """Write the row or page ids of tokens ids[first:] to ``out``; return how many.

    ids: uint32 token ids; those before ``first`` are context. starts: int64, increasing positions in ids at which a
    document starts; position 0 counts as one. out: uint32, room for plan.ids_per_token a token. counts: uint8, one a
    token, or None: receives the number of orders that each token had in reach (an order whose n-gram would cross its
    document's start emits nothing; each other one emits plan.ids_per_order ids).
    """
    if counts is not None and len(counts) < len(ids) - first:
        raise ValueError(f"counts has room for {len(counts)} of {len(ids) - first} tokens")
    uint64s = {
        name: _pointer("uint64_t[]", getattr(plan, name), np.uint64)
        for name in ("seeds", "modulus", "base", "head_multiplier", "head_modulus", "head_base")
    }
    orders = _pointer("uint32_t[]", plan.orders, np.uint32)
    c_plan = _ffi.new(
        "struct fs_mix_plan *",
        uint64s
        | {
            "kind": plan.kind,
            "orders_count": len(plan.orders),
            "orders": orders,
            "scale": plan.scale,
            "heads": plan.heads,
            "stride": plan.head_modulus.shape[1],
            "divide_multiplier": plan.divide.multiplier,
            "divide_addend": plan.divide.addend,
            "divide_shift": plan.divide.shift,
        },
    )
    written = _lib.fs_mix_address(
        c_plan,
        _pointer("uint32_t[]", ids, np.uint32),
        len(ids),
        first,
        _pointer("int64_t[]", starts, np.int64),
        len(starts),
        _pointer("uint32_t[]", out, np.uint32, writable=True),
        len(out),
        _pointer("uint8_t[]", counts, np.uint8, writable=True),
    )
    if written < 0:
        raise ValueError(f"fs_mix_address refused its arguments (errno {-written}): {plan}")
    return written


class Lru:
    """Exact LRU at many capacities in one pass over a trace that comes in pieces.

    capacities: pages each, increasing, at least 1. pages: every id is below this (at most 2^31 - 384).
    Memory: 4 B a page and 3/16 B a time slot (8 slots a page, at least 4 Mi), for every 16 capacities.
    """

    def __init__(self, capacities: np.ndarray, pages: int) -> None:
        self._groups, self._last = [], np.zeros(0, np.uint32)
        slots = lru_slots(pages)
        for at in range(0, len(capacities), _lib.FS_LRU_LANES):
            group = [int(capacity) for capacity in capacities[at : at + _lib.FS_LRU_LANES]]
            self._last = last = np.zeros(pages, np.uint32)  # every group comes to the same
            live = np.zeros(slots // 64, np.uint64)
            ranks = np.zeros(slots // 64, np.uint32)
            sizes = {"lanes": len(group), "capacity": group, "pages": pages, "slots": slots}
            state = _ffi.new("struct fs_lru *", sizes)
            state.last = last_pointer = _pointer("uint32_t[]", last, np.uint32, writable=True)
            state.live = live_pointer = _pointer("uint64_t[]", live, np.uint64, writable=True)
            state.ranks = ranks_pointer = _pointer("uint32_t[]", ranks, np.uint32, writable=True)
            self._groups.append((state, last_pointer, live_pointer, ranks_pointer))

    def run(self, trace: np.ndarray, classes: np.ndarray | None = None) -> None:
        """Go on with ``trace`` (uint32 page ids). classes: uint8, same length, or None: receives for each reference
        the number of capacities that missed. Raises ValueError on an id that is not below ``pages``."""
        if classes is not None and len(classes) != len(trace):
            raise ValueError(f"classes has room for {len(classes)} of {len(trace)} references")
        piece = classes
        for at, (state, *_) in enumerate(self._groups):
            if classes is not None and at:
                piece = np.empty_like(classes)
            code = _lib.fs_lru_run(
                state,
                _trace(trace),
                len(trace),
                _pointer("uint8_t[]", piece, np.uint8, writable=True),
            )
            if code:
                raise ValueError(
                    f"fs_lru_run: errno {-code}; ids below {state.pages} expected, the largest is {trace.max()}"
                )
            if classes is not None and at:
                classes += piece

    @property
    def misses(self) -> np.ndarray:
        """int64, shape (capacities,): misses so far, cold ones included."""
        return np.array([state.misses[k] for state, *_ in self._groups for k in range(state.lanes)], np.int64)

    @property
    def distinct(self) -> int:
        """Pages touched so far: the cold misses at every capacity."""
        return self._groups[0][0].distinct if self._groups else 0

    @property
    def recency(self) -> np.ndarray:
        """uint32, shape (distinct,): the pages touched so far, in the order of their last accesses, oldest first."""
        touched = np.flatnonzero(self._last).astype(np.uint32)
        return touched[np.argsort(self._last[touched])]


class StackDistances:
    """LRU at every capacity: how many references lie at each stack distance, over a trace that comes in pieces.

    pages: every id is below this (at most 2^31 - 2^16). Memory: 16 B a page and 0.13 B a time slot (4 slots a page, at
    least 4 Mi).
    """

    def __init__(self, pages: int) -> None:
        unit = _lib.FS_STACK_SUPER
        slots = -(-max(4 * pages, 1 << 22) // unit) * unit if pages < 1 << 28 else -(-(pages + 256) // unit) * unit
        self._counts, self._histogram, self._unread = np.zeros(pages + 1, np.uint32), np.zeros(pages + 1, np.int64), 0
        buffers = {
            "last": ("uint32_t[]", np.zeros(pages, np.uint32)),
            "counts": ("uint32_t[]", self._counts),
            "live": ("uint64_t[]", np.zeros(slots // 64, np.uint64)),
            "blocks": ("uint16_t[]", np.zeros(slots // _lib.FS_STACK_BLOCK, np.uint16)),
            "supers": ("uint32_t[]", np.zeros(slots // unit, np.uint32)),
            "removed": ("uint32_t[]", np.zeros(slots // unit, np.uint32)),
            "ranks": ("uint32_t[]", np.zeros(slots // 64, np.uint32)),
        }
        self._pointers = {
            name: _pointer(kind, array, array.dtype.type, True) for name, (kind, array) in buffers.items()
        }
        self._state = _ffi.new("struct fs_stack *", {"pages": pages, "slots": slots} | self._pointers)

    def run(self, trace: np.ndarray, distances: np.ndarray | None = None) -> None:
        """Go on with ``trace`` (uint32 page ids). distances: uint32, same length, or None: receives the distance of
        each reference, 0 for a first touch. Raises ValueError on an id that is not below ``pages``."""
        if distances is not None and len(distances) != len(trace):
            raise ValueError(f"distances has room for {len(distances)} of {len(trace)} references")
        if self._unread + len(trace) > 2**32 - 1:
            self._read()
        self._unread += len(trace)
        code = _lib.fs_stack_run(
            self._state,
            _trace(trace),
            len(trace),
            _pointer("uint32_t[]", distances, np.uint32, writable=True),
        )
        if code:
            raise ValueError(f"fs_stack_run: errno {-code}; ids below {self._state.pages} expected, got {trace.max()}")

    def _read(self) -> None:
        self._histogram += self._counts
        self._counts[:], self._unread = 0, 0

    @property
    def histogram(self) -> np.ndarray:
        """int64, shape (pages + 1,): references at each distance; [0] is unused, first touches are ``distinct``."""
        self._read()
        return self._histogram

    @property
    def distinct(self) -> int:
        """Pages touched so far."""
        return self._state.distinct


def _policy(name: str):
    """The ``NAME_run(state, trace, missed=None)`` of the policy ``name``."""
    function = getattr(_lib, f"fs_{name}_run")

    def run(state: PolicyState, trace: np.ndarray, missed: np.ndarray | None = None) -> None:
        """Go on with ``trace`` (uint32 page ids) over ``state``. missed: uint8, same length, or None: receives 1 for
        each miss. Raises ValueError on an id that is outside ``state.page``."""
        if missed is not None and len(missed) != len(trace):
            raise ValueError(f"missed has room for {len(missed)} of {len(trace)} references")
        policy = {
            "capacity": state.capacity,
            "pages": len(state.page),
            "slots": len(state.slot),
            "page": _pointer("uint32_t[]", state.page, np.uint32, writable=True),
            "slot": _pointer("uint32_t[]", state.slot, np.uint32, writable=True),
            "reg": _pointer("int64_t[]", state.reg, np.int64, writable=True),
        }
        code = function(
            _ffi.new("struct fs_policy *", policy),
            _trace(trace),
            len(trace),
            _pointer("uint8_t[]", missed, np.uint8, writable=True),
        )
        if code:
            raise ValueError(f"{name}: errno {-code}; ids below {len(state.page)} expected, capacity {state.capacity}")

    return run


def next_use(trace: np.ndarray, last: np.ndarray, uses: np.ndarray, first: int) -> None:
    """Write the next uses of the references ``trace`` (uint32 page ids), numbered from ``first``, to ``uses``.

    uses: uint32, room for all references so far (2^32 - 2 at most); uses[t] becomes the number of the next reference to
    the page of t, 2^32 - 1 = none so far. last: uint32, one a page, 1 + the page's last reference; zeros at first.
    Raises ValueError on an id that is outside ``last``, or where the room is too small.
    """
    if first < 0 or first + len(trace) > min(len(uses), 2**32 - 2):
        raise ValueError(f"room for {min(len(uses), 2**32 - 2)} of {first + len(trace)} references")
    code = _lib.fs_next_use(
        _trace(trace),
        len(trace),
        len(last),
        _pointer("uint32_t[]", last, np.uint32, writable=True),
        _pointer("uint32_t[]", uses, np.uint32, writable=True),
        first,
    )
    if code:
        raise ValueError(f"next_use: errno {-code}; ids below {len(last)} expected, the largest is {trace.max()}")


def stamp_fill(block: np.ndarray, first: int, seed: int) -> None:
    """Fill ``block`` (uint8, contiguous, whole stamps of 4,096 bytes) with the stamps of ``seed`` from number ``first``
    on. The form of a stamp is in csim/stamp.h. Raises ValueError."""
    words = words_of(block)
    _lib.fs_stamp_fill(_pointer("uint8_t[]", words.view(np.uint8), np.uint8, True), first, len(words), seed)


def stamp_check(block: np.ndarray, first: int, seed: int) -> np.ndarray:
    """What each stamp in ``block`` is, where those of ``seed`` from ``first`` on are expected: uint8, shape (stamps,),
    of the states in flashsim/kernels/stamps.py. ``block`` as for :func:`stamp_fill`. Raises ValueError."""
    words = words_of(block)
    states = np.empty(len(words), np.uint8)
    block, room = _pointer("uint8_t[]", words.view(np.uint8), np.uint8), _pointer("uint8_t[]", states, np.uint8, True)
    _lib.fs_stamp_check_pages(block, first, len(words), seed, room)
    return states


fifo_run = _policy("fifo")
clock_run = _policy("clock")
clock2_run = _policy("clock2")
sieve_run = _policy("sieve")
s3fifo_run = _policy("s3fifo")
slru_run = _policy("slru")
random_run = _policy("random")
min_run = _policy("min")
twoq_run = _policy("twoq")
arc_run = _policy("arc")
lfu_run = _policy("lfu")
wtinylfu_run = _policy("wtinylfu")


def drive_run(run: DriveRun, lookups: int) -> None:
    """Go on with ``run`` until ``lookups`` lookups are complete since its beginning. Raises ValueError where 2^46 ns
    (19 hours) of simulated time pass before, or what :class:`DriveRun` raises for numbers out of range."""
    run.require_valid()
    buffers = {
        "pages": _pointer("uint32_t[]", run.pages, np.uint32),
        "ends": _pointer("int64_t[]", run.ends, np.int64),
        "lookups": _pointer("int64_t[]", run.lookups, np.int64),
        "reads": _pointer("struct fs_drive_read[]", run.reads, READ, writable=True),
        "begun": _pointer("struct fs_drive_group[]", run.begun, GROUP, writable=True),
    }
    for name in ("die_free", "channel_free", "free_reads", "free_groups"):
        buffers[name] = _pointer("int64_t[]", getattr(run, name), np.int64, writable=True)
    for name in ("heap", "read_bins", "lookup_bins"):
        buffers[name] = _pointer("uint64_t[]", getattr(run, name), np.uint64, writable=True)
    numbers = asdict(run.stations) | {"groups": len(run.ends), "max_reads": run.max_reads, "max_groups": run.max_groups}
    drive = _ffi.new("struct fs_drive *", buffers | numbers | {"rate": run.rate})
    code = _lib.fs_drive_run(drive, _pointer("struct fs_drive_state[]", run.state, STATE, writable=True), lookups)
    if code:
        passed = run.state["lookups"][0]
        raise ValueError(f"drive_run: errno {-code}, or 2^46 ns of simulated time, after {passed:,} lookups: {numbers}")
