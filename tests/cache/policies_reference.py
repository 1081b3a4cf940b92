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


REFERENCES = {"fifo": fifo}
