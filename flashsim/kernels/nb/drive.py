"""Twin of ``csim/drive.c``, which says how it works."""

from dataclasses import astuple, fields
from typing import NamedTuple

import numpy as np
from numba import njit

from flashsim.kernels.drive import BINS, TIME_MAX, DriveRun, Stations
from flashsim.kernels.nb.address import mix13
from flashsim.kernels.nb.bits import leading_zeros

_DIE, _CHANNEL, _LINK = 0, 1, 2
_SLOT_BITS, _TIME_AT = 12, 14
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@njit(inline="always")
def _part(z, below):
    return np.int64(((z >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32))


@njit(inline="always")
def _bin(ns):
    shift = 0 if ns < 128 else 57 - np.int64(leading_zeros(np.uint64(ns)))
    return min(64 * shift + (ns >> shift), BINS - 1)


@njit(inline="always")
def _least_of(heap, child, size):
    if child + 4 <= size:
        a = child + (heap[child + 1] < heap[child])
        b = child + 2 + (heap[child + 3] < heap[child + 2])
        return b if heap[b] < heap[a] else a
    least = child
    for other in range(child + 1, size):
        if heap[other] < heap[least]:
            least = other
    return least


@njit(inline="always")
def _sift_down(heap, size, key):
    at, child = 0, 1
    while child < size:
        least = _least_of(heap, child, size)
        if heap[least] > key:
            break
        heap[at] = heap[least]
        at = least
        child = 4 * at + 1
    heap[at] = key


@njit(inline="always")
def _push(work, state, time, step, slot):
    key = np.uint64(time << _TIME_AT | step << _SLOT_BITS | slot)
    heap, at = work.heap, state.in_flight - 1
    if state.hole:
        state.hole = 0
        _sift_down(heap, state.in_flight, key)
        return
    while at and heap[(at - 1) // 4] > key:
        heap[at] = heap[(at - 1) // 4]
        at = (at - 1) // 4
    heap[at] = key


@njit(inline="always")
def _fill_hole(heap, state):
    if state.hole and state.in_flight:
        _sift_down(heap, state.in_flight, heap[state.in_flight])
    state.hole = 0


@njit(inline="always")
def _cpu(stations, state, max_reads):
    if not state.burst:
        ready = min(state.end - state.next_read, max_reads - state.in_flight)
        state.burst = min(ready, max(max_reads // 8, 3))
        state.cpu_free = max(state.now, state.cpu_free) + state.burst * stations.cpu
    state.burst -= 1
    return state.cpu_free


@njit(inline="always")
def _host(stations, state, then, cost):
    if then >= state.gate:
        state.gate = max(then, state.host_free) + stations.wake
        state.host_free = state.gate
    state.host_free += cost
    return state.host_free


@njit(inline="always")
def _send(work, stations, state, max_reads, first):
    sent = _cpu(stations, state, max_reads)
    slot = work.free_reads[state.in_flight]
    state.in_flight += 1
    page, number = np.uint64(work.pages[state.next_read]), np.uint64(state.sent)
    state.next_read += 1
    state.sent += 1
    die = _part(mix13(stations.seed ^ page), stations.dies)
    read = work.reads[slot]
    read.sent, read.group, read.channel = state.now, state.sending, die % stations.channels
    time = _host(stations, state, sent, stations.read + (stations.group if first else 0)) + stations.delay
    if stations.sense:
        time = max(time, work.die_free[die]) + stations.sense
        if stations.jitter:
            time += _part(mix13(stations.seed + number * _GOLDEN), 2 * stations.jitter + 1) - stations.jitter
        work.die_free[die] = time
    _push(work, state, time, _DIE if stations.bus else _CHANNEL if stations.link else _LINK, slot)


@njit(inline="always")
def _complete_group(work, state, began, lookups):
    ns = state.now - began
    work.lookup_bins[_bin(ns)] += np.uint64(lookups)
    state.lookup_sum += ns * lookups
    if lookups:
        state.lookup_max = max(state.lookup_max, ns)
    state.lookups += lookups
    state.groups += 1


@njit(inline="always")
def _complete(work, state, slot):
    read = work.reads[slot]
    group = work.begun[read.group]
    ns = state.now - read.sent
    work.read_bins[_bin(ns)] += np.uint64(1)
    state.read_sum += ns
    state.read_max = max(state.read_max, ns)
    state.reads += 1
    state.in_flight -= 1
    work.free_reads[state.in_flight] = slot
    group.left -= 1
    if group.left == 0:
        _complete_group(work, state, group.began, group.lookups)
        state.groups_in_flight -= 1
        work.free_groups[state.groups_in_flight] = read.group


@njit(inline="always")
def _start_group(work, state, max_groups, rate, until):
    """(a group with reads is being sent, when the next one is due)."""
    while state.next_read == state.end:
        if state.lookups >= until or state.groups_in_flight == max_groups:
            return False, TIME_MAX
        began = state.now
        if rate > 0:
            ns = state.started / rate * 1e9
            began = np.int64(ns) if ns < TIME_MAX else TIME_MAX
            if began > state.now:
                return False, began
        at = state.next_group
        lookups = work.lookups[at]
        state.next_read = work.ends[at - 1] if at else 0
        state.end = work.ends[at]
        state.next_group = at + 1 if at + 1 < len(work.ends) else 0
        state.started += lookups
        if state.next_read == state.end:
            _complete_group(work, state, began, lookups)
        else:
            state.sending = work.free_groups[state.groups_in_flight]
            state.groups_in_flight += 1
            group = work.begun[state.sending]
            group.began, group.lookups, group.left = began, lookups, state.end - state.next_read
    return True, TIME_MAX


@njit(inline="always")
def _pass(state, time):
    state.in_flight_ns += state.in_flight * (time - state.now)
    state.now = time


@njit(inline="always")
def _happen(work, stations, state):
    key = work.heap[0]
    slot = np.int64(key & np.uint64((1 << _SLOT_BITS) - 1))
    step = np.int64(key >> np.uint64(_SLOT_BITS)) & 3
    state.hole = 1
    _pass(state, np.int64(key >> np.uint64(_TIME_AT)))
    if step == _LINK:
        _complete(work, state, slot)
    elif step == _CHANNEL:
        state.link_free = max(state.now, state.link_free) + stations.link
        _push(work, state, state.link_free, _LINK, slot)
    else:
        at = work.reads[slot].channel
        work.channel_free[at] = max(state.now, work.channel_free[at]) + stations.bus
        _push(work, state, work.channel_free[at], _CHANNEL if stations.link else _LINK, slot)


@njit(inline="always")
def _send_ready(work, stations, state, max_reads, max_groups, rate, until):
    due = TIME_MAX
    while state.in_flight < max_reads:
        first = state.next_read == state.end
        if first:
            ready, due = _start_group(work, state, max_groups, rate, until)
            if not ready:
                break
        _send(work, stations, state, max_reads, first)
    _fill_hole(work.heap, state)
    return due


@njit(nogil=True, _nrt=False)
def _run(work, stations, states, max_reads, max_groups, rate, lookups, until):
    state = states[0]
    while state.lookups < lookups and state.now < until:
        next = _send_ready(work, stations[0], state, max_reads, max_groups, rate, lookups)
        if state.lookups >= lookups:
            break
        read = state.in_flight and np.int64(work.heap[0] >> np.uint64(_TIME_AT)) <= next
        if read:
            next = np.int64(work.heap[0] >> np.uint64(_TIME_AT))
        if next > until:
            _pass(state, until)
        elif read:
            _happen(work, stations[0], state)
        else:
            _pass(state, next)
    return state.lookups >= lookups or state.now < TIME_MAX


class _Work(NamedTuple):
    """The arrays of a :class:`DriveRun`."""

    pages: np.ndarray
    ends: np.ndarray
    lookups: np.ndarray
    die_free: np.ndarray
    channel_free: np.ndarray
    heap: np.ndarray
    reads: np.ndarray
    begun: np.ndarray
    free_reads: np.ndarray
    free_groups: np.ndarray
    read_bins: np.ndarray
    lookup_bins: np.ndarray


_STATIONS = np.dtype([(each.name, np.uint64 if each.name == "seed" else np.int64) for each in fields(Stations)])


def drive_run(run: DriveRun, lookups: int, until_ns: int = TIME_MAX) -> None:
    """See :func:`flashsim.kernels.c.drive_run`."""
    run.require_valid()
    work = _Work(*(getattr(run, name) for name in _Work._fields))
    stations = np.array([astuple(run.stations)], _STATIONS)
    limits = run.max_reads, run.max_groups, float(run.rate)
    if not _run(work, stations, run.state, *limits, lookups, min(until_ns, TIME_MAX)):
        raise ValueError(f"drive_run: 2^46 ns of simulated time passed after {run.state['lookups'][0]:,} lookups")
