"""Plain-Python references of the cache policies, from their papers: readable first, lists and dictionaries only.

REFERENCES maps a policy's name to a function (trace, capacity) -> for each reference, whether it missed.
"""

from collections import deque


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


REFERENCES = {
    "fifo": fifo, "clock": clock, "clock2": clock2, "sieve": sieve, "s3fifo": s3fifo, "slru": slru, "random": random,
}  # fmt: skip
