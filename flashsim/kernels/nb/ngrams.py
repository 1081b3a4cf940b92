"""Distinct n-grams by sorting, for :mod:`flashsim.tokens.ngrams`."""

import numpy as np
from numba import njit

_DIGIT_BITS = 8
_DIGITS = 1 << _DIGIT_BITS


@njit(cache=True, nogil=True)
def sort_pairs(keys, values, bits):
    """(keys, values), both sorted by key, stable: a radix sort. keys: uint32 or uint64, below 2^``bits``."""
    keys, values = keys.copy(), values.copy()
    other_keys, other_values = np.empty_like(keys), np.empty_like(values)
    for shift in range(0, bits, _DIGIT_BITS):
        begins = np.zeros(_DIGITS + 1, np.int64)
        for key in keys:
            begins[((np.uint64(key) >> np.uint64(shift)) & np.uint64(_DIGITS - 1)) + np.uint64(1)] += 1
        begins = np.cumsum(begins)
        for i in range(len(keys)):
            digit = (np.uint64(keys[i]) >> np.uint64(shift)) & np.uint64(_DIGITS - 1)
            to = begins[digit]
            begins[digit] += 1
            other_keys[to], other_values[to] = keys[i], values[i]
        keys, other_keys = other_keys, keys
        values, other_values = other_values, values
    return keys, values


@njit(cache=True, nogil=True)
def ngram_keys(ids, prefixes, reach, order, id_bits):
    """(keys: uint64, ends: uint32) of the n-grams of ``order``: the number of the first n - 1 tokens over the last.

    ids: uint32, shape (tokens,). prefixes: uint32, the number of the n-gram of order n - 1 that ends at each. reach:
    uint8, orders that each token's document has room for.
    """
    keys, ends, at = np.empty(len(ids), np.uint64), np.empty(len(ids), np.uint32), 0
    for position in range(len(ids)):
        if reach[position] >= order:
            prefix = np.uint64(prefixes[position - 1]) if order > 1 else np.uint64(0)
            keys[at], ends[at] = prefix << np.uint64(id_bits) | np.uint64(ids[position]), position
            at += 1
    return keys[:at], ends[:at]


@njit(cache=True, nogil=True)
def number_ngrams(keys, ends, context, numbers, counts):
    """Number the n-grams in the order of their sorted ``keys``, each end in ``numbers``; how many there are.

    counts: uint32, zeros, shape (tokens,): gets how often each n-gram ends at ``context`` or later, at its first end.
    """
    number, first = -1, -1
    for i in range(len(keys)):
        if i == 0 or keys[i] != keys[i - 1]:
            number, first = number + 1, -1
        end = np.int64(ends[i])
        numbers[end] = number
        if end >= context:
            first = end if first < 0 else first
            counts[first] += np.uint32(1)
    return number + 1
