"""Plain-Python references that the kernels have to agree with, written from the formulas and from nothing else."""

from collections import OrderedDict
from itertools import pairwise

from flashsim.kernels.plan import RESERVED, XOR

MASK = 2**64 - 1


def mix13(z: int) -> int:
    """Stafford's Mix13 (the finaliser of SplitMix64)."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def states(plan, ngram):
    """Hash state h_n of an n-gram given newest token first, as csim.h defines it."""
    seeds = [int(seed) for seed in plan.seeds]
    if len(ngram) == 1:
        return mix13(ngram[0] ^ seeds[1])
    state = ngram[0]
    for order in range(2, len(ngram) + 1):
        state = mix13(state ^ (ngram[order - 1] << 32) ^ seeds[order])
    return state


def remainder(state: int, modulus: int) -> int:
    return (state % 2**52) % modulus


def head_state(plan, index: int, head: int, state: int) -> int:
    u = (state * int(plan.head_multiplier[index, head])) & MASK
    return u ^ (u >> 32)


def documents(ids, starts):
    """The documents of a token list, in order."""
    edges = sorted({0, *(s for s in starts if 0 < s < len(ids)), len(ids)})
    return [ids[a:b] for a, b in pairwise(edges)]


def ngrams(ids, starts, orders):
    """For each token, the n-grams (newest token first) of every order that stays inside its document."""
    for document in documents(ids, starts):
        for position in range(len(document)):
            yield [tuple(document[position::-1][:n]) for n in orders if n <= position + 1]


def rows_of(layout, ids, starts):
    """Row ids of each token, from the formulas of the layouts: a list of lists."""
    plan, slots, heads = layout.plan("row"), layout.slots, layout.heads
    for grams in ngrams(ids, starts, layout.orders):
        rows = []
        for index, gram in enumerate(grams):
            state = states(plan, gram)
            if slots is not None:
                bucket = sum(layout.sizes[:index]) + remainder(state, layout.sizes[index])
                for k in range(heads):
                    slot = remainder(head_state(plan, index, k, state), slots)
                    rows.append((bucket * heads + k) * slots + slot)
            elif layout.spec.rows.addressing == "whole":
                rows.append(sum(layout.sizes[:index]) + remainder(state, layout.sizes[index]))
            else:
                for k in range(heads):
                    table = index * heads + k
                    rows.append(
                        sum(layout.sizes[:table]) + remainder(head_state(plan, index, k, state), layout.sizes[table])
                    )
        yield rows


def pages_of(layout, ids, starts):
    """Page ids of each token: where each row of :func:`rows_of` lies, each page of a bucket once an n-gram."""
    slots, heads = layout.slots, layout.heads
    for rows in rows_of(layout, ids, starts):
        if slots is None:
            yield [row // layout.rows_per_page for row in rows]
            continue
        pages = []
        for at in range(0, len(rows), heads):
            for row in rows[at : at + heads]:
                bucket, inside = divmod(row, heads * slots)
                head, slot = divmod(inside, slots)
                bucket_bytes = heads * slots * layout.row_bytes
                if bucket_bytes <= layout.page_bytes:
                    page = bucket // (layout.page_bytes // bucket_bytes)
                elif slots <= layout.rows_per_page:
                    heads_per_page = layout.page_bytes // (slots * layout.row_bytes)
                    page = bucket * -(-heads // heads_per_page) + head // heads_per_page
                else:
                    pages_per_head = -(-slots // layout.rows_per_page)
                    page = (bucket * heads + head) * pages_per_head + slot // layout.rows_per_page
                if slots > layout.rows_per_page or not pages or pages[-1] != page:
                    pages.append(page)
        if slots <= layout.rows_per_page and layout.buckets_per_page:
            # one page an order, although two orders may share it
            orders = len(rows) // heads
            pages = [_page_of_bucket(layout, rows[at * heads]) for at in range(orders)]
        yield pages


def _page_of_bucket(layout, row):
    return row // (layout.heads * layout.slots) // layout.buckets_per_page


def lru(trace, capacity: int) -> list[bool]:
    """Whether each reference misses in an LRU cache of ``capacity`` pages, empty at first."""
    cache, missed = OrderedDict(), []
    for page in trace:
        missed.append(page not in cache)
        cache[page] = None
        cache.move_to_end(page)
        if len(cache) > capacity:
            cache.popitem(last=False)
    return missed


def published_rows(spec, sizes, ids, starts, multipliers):
    """Row ids of each token of a published table, from its published rule: a list of lists. multipliers: by layer, or
    by order where the orders have their own; of the family xor-multiply."""
    firsts = [sum(sizes[:table]) for table in range(len(sizes))]
    begins = [0] if spec.ngrams.boundary == "sequence" else sorted({0, *starts})
    for position in range(len(ids)):
        begin = max(start for start in begins if start <= position)
        rows = []
        for layer in range(max(1, len(spec.hash.layers))):
            for index, order in enumerate(spec.ngrams.orders):
                gram = []
                for back in range(order):
                    there = position - back >= begin
                    gram.append(ids[position - back] if there else spec.ngrams.filler)
                missing = position - order + 1 < begin
                if position - order + 1 == begin and order in spec.ngrams.first_as:
                    gram[-1] = spec.ngrams.first_as[order]
                for _ in range(spec.rows.heads):
                    table = len(rows)
                    reserved = spec.ngrams.missing == "reserved"
                    modulus = sizes[table] - reserved
                    if reserved and missing:
                        row = modulus
                    elif spec.hash.family == "polynomial":
                        row = sum(token * spec.hash.radix**back for back, token in enumerate(gram)) % modulus
                    elif spec.hash.family == "identity":
                        row = gram[0] % modulus
                    else:
                        by_order = len(multipliers) == len(spec.ngrams.orders) and not spec.hash.layers
                        factors, mix = multipliers[index if by_order else layer], 0
                        for token, factor in zip(gram, factors, strict=False):
                            mix ^= signed(token * factor, spec.hash.word)
                        row = mix % modulus
                    rows.append(firsts[table] + row)
        yield rows


def signed(number: int, bits: int) -> int:
    """``number`` wrapped to a two's-complement integer of ``bits`` bits."""
    number &= (1 << bits) - 1
    return number - (1 << bits) if number >> (bits - 1) else number


def pages_of_bytes(start: int, size: int, page: int) -> list[int]:
    """The pages that hold bytes [start, start + size)."""
    return sorted({byte // page for byte in range(start, start + size)})


def table_rows(plan, ids, first, starts):
    """Row ids of tokens ids[first:], one list a token, from the rule of published tables in csim.h."""
    for position in range(first, len(ids)):
        document = max(start for start in (0, *starts) if start <= position)
        slots = [ids[position - k] if position - k >= document else None for k in range(len(plan.coefficients))]
        rows = []
        for table in range(plan.tables):
            order = int(plan.order[table])
            if plan.missing == RESERVED and None in slots[:order]:
                rows.append(int(plan.reserved[table]))
                continue
            mix = 0
            for k in range(order):
                term = int(plan.coefficients[k, table]) * (plan.filler if slots[k] is None else slots[k]) & MASK
                mix = mix ^ term if plan.op == XOR else mix + term & MASK
            word = mix % 2**plan.word
            signed = word - 2**plan.word if word >= 2 ** (plan.word - 1) else word
            rows.append(int(plan.base[table]) + signed % int(plan.modulus[table]))
        yield rows


def pages_of_rows(plan, tokens):
    """Page ids of each token, given its rows: where the bytes of the rows lie."""
    for rows in tokens:
        pages = []
        for column, row in enumerate(rows):
            for region in range(plan.regions):
                start, size = int(plan.base[region, column]), int(plan.bytes[region])
                if plan.rows_per_page:
                    first = start // plan.page_bytes + row // plan.rows_per_page * plan.row_pages
                    pages += range(first, first + plan.row_pages)
                    continue
                start += row * int(plan.stride[region])
                if plan.shard_rows:
                    start += row // plan.shard_rows * plan.shard_gap
                touched = (*range(start, start + size, 512), start + size - 1)  # no page is shorter
                pages += sorted({byte // plan.page_bytes for byte in touched})
        yield pages


def xxh64(data: bytes, seed: int) -> int:
    """XXH64 of whole stripes of 32 bytes, from the xxHash specification 0.1.1."""
    p1, p2, p3, p4 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63

    def rotated(x, by):
        return (x << by | x >> (64 - by)) & MASK

    def round_of(lane, word):
        return rotated((lane + word * p2) & MASK, 31) * p1 & MASK

    lanes = [(seed + start) & MASK for start in (p1 + p2, p2, 0, -p1)]
    for at in range(0, len(data), 32):
        words = [int.from_bytes(data[at + 8 * k : at + 8 * k + 8], "little") for k in range(4)]
        lanes = [round_of(lane, word) for lane, word in zip(lanes, words, strict=True)]
    h = sum(rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & MASK
    for lane in lanes:
        h = ((h ^ round_of(0, lane)) * p1 + p4) & MASK
    h = (h + len(data)) & MASK
    h = (h ^ (h >> 33)) * p2 & MASK
    h = (h ^ (h >> 29)) * p3 & MASK
    return h ^ (h >> 32)


def stamp(number: int, seed: int) -> bytes:
    """The stamp ``number`` of a target, as csim/stamp.h describes it."""
    key = mix13((mix13(seed) + number) & MASK)
    words = (mix13((key + (i + 1) * 0x9E3779B97F4A7C15) & MASK) for i in range(508))
    rest = b"".join(word.to_bytes(8, "little") for word in words)
    header = (int.from_bytes(b"simPage1", "little"), number, seed, xxh64(rest, key))
    return b"".join(word.to_bytes(8, "little") for word in header) + rest


def weave(ids_of, order, step_ends, share=True):
    """(ids handed out, how many of them each token brought): each id once a step, where it first comes up."""
    out, counts, first = [], [], 0
    for end in step_ends:
        seen = set()
        for token in order[first:end]:
            brought = [one for at, one in enumerate(ids_of[token]) if one not in seen and one not in ids_of[token][:at]]
            brought = brought if share else list(ids_of[token])
            seen.update(brought)
            out += brought
            counts.append(len(brought))
        first = end
    return out, counts


def decoded(documents, streams, prompt_share=0.0, chunk=0):
    """The steps of ``streams`` that decode ``documents`` (lists of anything, none empty) side by side: lists of
    tokens."""
    waiting, slots = list(documents), [[] for _ in range(streams)]
    left = [0] * streams  # of each slot's prompt
    while True:
        for slot in range(streams):
            if not slots[slot] and waiting:
                slots[slot] = list(waiting.pop(0))
                left[slot] = int(prompt_share * len(slots[slot]))
        prompts = [slot for slot in range(streams) if slots[slot] and left[slot]]
        if prompts:
            taken = min(chunk, left[prompts[0]])
            yield slots[prompts[0]][:taken]
            left[prompts[0]] -= taken
            del slots[prompts[0]][:taken]
        elif any(slots):
            yield [slot.pop(0) for slot in slots if slot]
        else:
            return
