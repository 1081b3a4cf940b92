"""Plain-Python references of the cache policies, from their papers: readable first, lists and dictionaries only.

REFERENCES maps a policy's name to a function (trace, capacity) -> for each reference, whether it missed.
"""

from collections import deque

from reference import mix13


def fifo(trace, capacity: int) -> list[bool]:
    queue, missed = deque(), []
    for page in trace:
        missed.append(page not in queue)
        if missed[-1]:
            queue.append(page)
            if len(queue) > capacity:
                queue.popleft()
    return missed


def clock(trace, capacity: int, most: int = 1) -> list[bool]:
    """Second chance: the oldest page goes, unless it was read since it was last looked at; then it joins again."""
    queue, counter, missed = deque(), {}, []
    for page in trace:
        missed.append(page not in counter)
        if not missed[-1]:
            counter[page] = min(counter[page] + 1, most)
            continue
        if len(queue) == capacity:
            while counter[queue[0]]:
                counter[queue[0]] -= 1
                queue.rotate(-1)
            del counter[queue.popleft()]
        queue.append(page)
        counter[page] = 0
    return missed


def clock2(trace, capacity: int) -> list[bool]:
    return clock(trace, capacity, 3)


def sieve(trace, capacity: int) -> list[bool]:
    """Algorithm 1 of the paper, on a list: index 0 is the head; the hand is the index of a page, None = at the tail."""
    queue, visited, hand, missed = [], set(), None, []
    for page in trace:
        missed.append(page not in queue)
        if not missed[-1]:
            visited.add(page)
            continue
        if len(queue) == capacity:
            hand = len(queue) - 1 if hand is None else hand
            while queue[hand] in visited:
                visited.remove(queue[hand])
                hand = hand - 1 if hand else len(queue) - 1
            del queue[hand]
            hand = hand - 1 if hand else None
        queue.insert(0, page)
        hand = None if hand is None else hand + 1
    return missed


def s3fifo(trace, capacity: int) -> list[bool]:
    small_size, ghost_size = max(1, capacity // 10), capacity * 9 // 10
    small, large, ghost, hits, evicted, missed = deque(), deque(), [], {}, False, []

    def evict_small() -> None:
        while small:
            page = small.popleft()
            if hits[page] >= 2:
                large.append(page)
                hits[page] = 0
                continue
            del hits[page]
            ghost.append(page)
            del ghost[: max(0, len(ghost) - ghost_size)]
            return

    def evict_large() -> None:
        while True:
            page = large.popleft()
            if hits[page] == 0:
                del hits[page]
                return
            hits[page] -= 1
            large.append(page)

    for page in trace:
        missed.append(page not in hits)
        if not missed[-1]:
            hits[page] = min(hits[page] + 1, 3)
            continue
        known = page in ghost
        if known:
            ghost.remove(page)
        while len(small) + len(large) == capacity:
            evicted = True
            if len(large) > capacity - small_size or not small:
                evict_large()
            else:
                evict_small()
        warming = not evicted and len(small) == small_size
        (large if known or warming else small).append(page)
        hits[page] = 0
    return missed


def slru(trace, capacity: int) -> list[bool]:
    sizes = [capacity - 3 * (capacity // 4)] + [capacity // 4] * 3
    segments, missed = [[], [], [], []], []  # of pages, newest first

    def join(segment: int, page: int) -> None:
        segments[segment].insert(0, page)
        if len(segments[segment]) > sizes[segment]:
            join(segment - 1, segments[segment].pop())

    for page in trace:
        found = [segment for segment in range(4) if page in segments[segment]]
        missed.append(not found)
        if found:
            segments[found[0]].remove(page)
            join(min(found[0] + 1, 3), page)
            continue
        if sum(map(len, segments)) == capacity:
            segments[0].pop()
        join(next(segment for segment in range(4) if len(segments[segment]) < sizes[segment]), page)
    return missed


def random(trace, capacity: int, seed: int = 0) -> list[bool]:
    slots, draws, missed = [], 0, []
    for page in trace:
        missed.append(page not in slots)
        if not missed[-1]:
            continue
        if len(slots) < capacity:
            slots.append(page)
            continue
        draws += 1
        z = (seed + draws * 0x9E3779B97F4A7C15) % 2**64  # SplitMix64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        slots[capacity * (z ^ (z >> 31)) // 2**64] = page
    return missed


def belady(trace, capacity: int) -> list[bool]:
    cached, missed = set(), []
    for now, page in enumerate(trace):
        missed.append(page not in cached)
        if missed[-1] and len(cached) == capacity:
            future = list(trace[now:])
            cached.remove(max(cached, key=lambda other: future.index(other) if other in future else len(future)))
        cached.add(page)
    return missed


def twoq(trace, capacity: int) -> list[bool]:
    a1in, a1out, am, missed = [], [], [], []  # oldest first
    for page in trace:
        missed.append(page not in a1in and page not in am)
        if page in am:
            am.remove(page)
            am.append(page)
        if not missed[-1]:
            continue
        known = page in a1out
        if known:
            a1out.remove(page)
        if len(a1in) + len(am) == capacity:
            if len(a1in) > capacity // 4 or not am:
                a1out.append(a1in.pop(0))
                if len(a1out) > capacity // 2:
                    a1out.pop(0)
            else:
                am.pop(0)
        (am if known else a1in).append(page)
    return missed


def arc(trace, capacity: int) -> list[bool]:
    t1, b1, t2, b2, missed = [], [], [], [], []  # LRU first
    p = 0.0

    def replace(in_b2: bool) -> None:
        if t1 and (len(t1) > p or (in_b2 and len(t1) == p)):
            b1.append(t1.pop(0))
        else:
            b2.append(t2.pop(0))

    for x in trace:
        missed.append(x not in t1 and x not in t2)
        if not missed[-1]:
            (t1 if x in t1 else t2).remove(x)
            t2.append(x)
        elif x in b1:
            p = min(capacity, p + max(len(b2) / len(b1), 1))
            replace(False)
            b1.remove(x)
            t2.append(x)
        elif x in b2:
            p = max(0, p - max(len(b1) / len(b2), 1))
            replace(True)
            b2.remove(x)
            t2.append(x)
        else:
            if len(t1) + len(b1) == capacity:
                if len(t1) < capacity:
                    b1.pop(0)
                    replace(False)
                else:
                    t1.pop(0)
            elif len(t1) + len(t2) + len(b1) + len(b2) >= capacity:
                if len(t1) + len(t2) + len(b1) + len(b2) == 2 * capacity:
                    b2.pop(0)
                replace(False)
            t1.append(x)
    return missed


def lfu(trace, capacity: int) -> list[bool]:
    reads, last, missed = {}, {}, []
    for now, page in enumerate(trace):
        missed.append(page not in reads)
        if missed[-1] and len(reads) == capacity:
            del reads[min(reads, key=lambda other: (reads[other], last[other]))]
        reads[page] = reads.get(page, 0) + 1
        last[page] = now
    return missed


def wtinylfu(trace, capacity: int) -> list[bool]:
    window_most = max(capacity // 100, 1)
    main_most = capacity - window_most
    protected_most = main_most * 4 // 5
    blocks = 1
    while blocks * 128 < capacity * 16:
        blocks *= 2
    window, probation, protected, missed = [], [], [], []  # LRU first
    counters, sample = {}, 0

    def keys(page: int) -> list[tuple[int, int, int]]:
        hashed = mix13(page)
        return [(hashed % blocks, row, hashed >> (44 + 5 * row) & 31) for row in range(4)]

    def estimate(page: int) -> int:
        return min(counters.get(key, 0) for key in keys(page))

    for page in trace:
        lowest = estimate(page)
        for key in keys(page):
            if counters.get(key, 0) == lowest < 15:
                counters[key] = lowest + 1
        sample += 1
        if sample == 10 * capacity:
            counters = {key: count // 2 for key, count in counters.items()}
            sample //= 2
        missed.append(not any(page in queue for queue in (window, probation, protected)))
        if page in window:
            window.remove(page)
            window.append(page)
        elif not missed[-1]:
            (probation if page in probation else protected).remove(page)
            protected.append(page)
            if len(protected) > protected_most:
                probation.append(protected.pop(0))
        else:
            window.append(page)
            if len(window) <= window_most:
                continue
            candidate = window.pop(0)
            if len(probation) + len(protected) < main_most:
                probation.append(candidate)
            elif main_most:
                rest = probation or protected
                if estimate(candidate) > estimate(rest[0]):
                    rest.pop(0)
                    probation.append(candidate)
    return missed


REFERENCES = {
    "fifo": fifo,
    "clock": clock,
    "clock2": clock2,
    "sieve": sieve,
    "s3fifo": s3fifo,
    "slru": slru,
    "random": random,
    "min": belady,
    "2q": twoq,
    "arc": arc,
    "lfu": lfu,
    "wtinylfu": wtinylfu,
}
