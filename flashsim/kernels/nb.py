"""The numba twins of the C kernels: same names, same signatures, same results. Written for clarity first; numpy arrays
go in, so there is nothing to check that numba does not."""

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from flashsim.kernels.plan import BUCKET, HEADS, WHOLE, MixPlan

# Typed constants: an int literal beside a uint64 would turn the arithmetic signed or into float64.
_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_LOW_52, _ONE = np.uint64(2**52 - 1), np.uint64(1)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@njit(inline="always")
def _mix13(z):
    z = (z ^ (z >> _S30)) * _MIX_A
    z = (z ^ (z >> _S27)) * _MIX_B
    return z ^ (z >> _S31)


@njit(inline="always")
def _emit(kind, index, state, modulus, base, scale, heads, multiplier, head_modulus, head_base, divide, out, at):
    lead = np.uint64(0)
    if kind != HEADS:
        lead = base[index] + (state & _LOW_52) % modulus[index]
    if kind == WHOLE:
        out[at] = (lead * divide[0] + divide[1]) >> divide[2]
        return at + 1
    if kind == BUCKET:
        lead *= scale
    for k in range(heads):
        u = state * multiplier[index, k]
        u ^= u >> _S32
        row = head_base[index, k] + (u & _LOW_52) % head_modulus[index, k]
        out[at + k] = lead + ((row * divide[0] + divide[1]) >> divide[2])
    return at + heads


@njit(cache=True, nogil=True, error_model="numpy")
def _mix_address(
    kind, orders, seeds, modulus, base, scale, heads, multiplier, head_modulus, head_base, divide, ids, first, starts,
    out, counts,
):  # fmt: skip
    document, next_start, at = 0, 0, 0
    for position in range(first, len(ids)):
        while next_start < len(starts) and starts[next_start] <= position:
            document = starts[next_start]
            next_start += 1
        state = np.uint64(ids[position])
        index = 0
        if orders[0] == 1:
            at = _emit(
                kind, 0, _mix13(state ^ seeds[1]), modulus, base, scale, heads, multiplier, head_modulus, head_base,
                divide, out, at,
            )  # fmt: skip
            index = 1
        order = 2
        while index < len(orders) and order <= position - document + 1:
            state = _mix13(state ^ (np.uint64(ids[position + 1 - order]) << _S32) ^ seeds[order])
            if orders[index] == order:
                at = _emit(
                    kind, index, state, modulus, base, scale, heads, multiplier, head_modulus, head_base, divide, out,
                    at,
                )  # fmt: skip
                index += 1
            order += 1
        if len(counts):
            counts[position - first] = index
    return at


def mix_address(
    plan: MixPlan,
    ids: np.ndarray,
    first: int,
    starts: np.ndarray,
    out: np.ndarray,
    counts: np.ndarray | None = None,
) -> int:
    """See :func:`flashsim.kernels.c.mix_address`."""
    if len(out) < (len(ids) - first) * plan.ids_per_token:
        raise ValueError(f"out has room for {len(out)} ids, {(len(ids) - first) * plan.ids_per_token} may come")
    divide = np.array([plan.divide.multiplier, plan.divide.addend, plan.divide.shift], np.uint64)
    return _mix_address(
        plan.kind, plan.orders, plan.seeds, plan.modulus, plan.base, np.uint64(plan.scale), plan.heads,
        plan.head_multiplier, plan.head_modulus, plan.head_base, divide, ids, first, starts, out,
        np.empty(0, np.uint8) if counts is None else counts,
    )  # fmt: skip


@intrinsic
def _trailing_zeros(_, word):
    """Count of trailing zero bits of a uint64 that is not zero."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], cgutils.true_bit)

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True)
def _lru_run(capacities, tau, misses, last, live, counters, trace, classes):
    """``counters`` is [next slot, distinct pages]. Stops at the first id that is out of range, or when the slots are
    used up; returns how many references were taken."""
    lanes, slots = len(capacities), len(live) * 64
    now, distinct = counters[0], counters[1]
    taken = len(trace)
    for t in range(len(trace)):
        page = trace[t]
        if now == slots or page >= len(last):
            taken = t
            break
        touched = np.int64(last[page])
        if touched:
            live[(touched - 1) >> 6] &= ~(_ONE << np.uint64((touched - 1) & 63))
        else:
            distinct += 1
        live[now >> 6] |= _ONE << np.uint64(now & 63)
        last[page] = now + 1
        now += 1
        missed = 0
        while missed < lanes and touched <= tau[missed]:
            misses[missed] += 1
            if misses[missed] > capacities[missed]:  # full before this miss: its oldest page goes
                at = tau[missed] >> 6
                word = live[at] >> np.uint64(tau[missed] & 63) << np.uint64(tau[missed] & 63)
                while word == 0:
                    at += 1
                    word = live[at]
                tau[missed] = at * 64 + np.int64(_trailing_zeros(word)) + 1
            missed += 1
        if len(classes):
            classes[t] = missed
    counters[0], counters[1] = now, distinct
    return taken


@njit(cache=True, nogil=True)
def _lru_renumber(tau, last, live, counters):
    """The newest accesses, in order, become slots 0 .. distinct - 1."""
    ranks = np.zeros(len(live) * 64 + 1, np.uint32)
    for slot in range(len(live) * 64):
        ranks[slot + 1] = ranks[slot] + np.uint32((live[slot >> 6] >> np.uint64(slot & 63)) & _ONE)
    for page in range(len(last)):
        last[page] = ranks[last[page]]
    for k in range(len(tau)):
        tau[k] = ranks[tau[k]]
    live[:] = 0
    for slot in range(counters[1]):
        live[slot >> 6] |= _ONE << np.uint64(slot & 63)
    counters[0] = counters[1]


class Lru:
    """See :class:`flashsim.kernels.c.Lru`."""

    def __init__(self, capacities: np.ndarray, pages: int) -> None:
        words = min(max(8 * pages, 1 << 22) + 256, 2**31 - 1) // 64
        self._capacities = np.asarray(capacities, np.int64)
        self._tau = np.zeros(len(capacities), np.int64)
        self.misses = np.zeros(len(capacities), np.int64)
        self._last, self._live = np.zeros(pages, np.uint32), np.zeros(words, np.uint64)
        self._counters = np.zeros(2, np.int64)

    def run(self, trace: np.ndarray, classes: np.ndarray | None = None) -> None:
        """See :meth:`flashsim.kernels.c.Lru.run`."""
        classes = np.empty(0, np.uint8) if classes is None else classes
        while len(trace):
            taken = _lru_run(
                self._capacities, self._tau, self.misses, self._last, self._live, self._counters, trace, classes
            )
            trace, classes = trace[taken:], classes[taken:]
            if len(trace) and trace[0] >= len(self._last):
                raise ValueError(f"page id {trace[0]}: ids must be below {len(self._last)}")
            if len(trace):
                _lru_renumber(self._tau, self._last, self._live, self._counters)

    @property
    def distinct(self) -> int:
        """Pages touched so far."""
        return int(self._counters[1])
