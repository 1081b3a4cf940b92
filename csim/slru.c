/* Segmented LRU. See flashsim/cache/slru.py.
 *
 * A segment is a ring of its pages in the order in which they joined it, a quarter of the slots each. A page that
 * moved leaves a stale entry behind: one is alive only while its page's record names its slot; when a ring is full of
 * them, it is compacted.
 *   page[x]             1 + x's slot, which says the segment too; 0 or FS_GONE = not cached
 *   slot[i]             pages, oldest first
 *   reg[4i + 4], [.. 5] of segment i: position of the oldest entry, and entries, stale ones included
 *   reg[4i + 6]         pages in segment i
 *   reg[1]              pages cached
 */
#define FS_SLOTS(capacity) (4 * ((capacity) - (capacity) / 4 * 3 + 1))
#include "policy.h"

enum { SEGMENTS = 4, OLDEST = 4, ENTRIES = 5, PAGES = 6 };

static inline int64_t size_of(const struct fs_policy *policy, uint64_t segment)
{
    const uint64_t quarter = policy->capacity / SEGMENTS;
    return (int64_t)(segment ? quarter : policy->capacity - (SEGMENTS - 1) * quarter);
}

static void compact(struct fs_policy *policy, uint64_t segment)
{
    int64_t *reg = policy->reg + SEGMENTS * segment;
    const uint64_t length = policy->slots / SEGMENTS, base = segment * length;
    uint64_t from = (uint64_t)reg[OLDEST], to = from;
    uint32_t *ring = policy->slot + base;
    for (int64_t i = 0; i < reg[ENTRIES]; i++) {
        const uint32_t page = fs_look(policy, ring, from, length);
        if (policy->page[page] == base + from + 1) {
            ring[to] = page;
            policy->page[page] = (uint32_t)(base + to + 1);
            to = fs_wrapped(to + 1, length);
        }
        from = fs_wrapped(from + 1, length);
    }
    reg[ENTRIES] = reg[PAGES];
}

static inline void push(struct fs_policy *policy, uint64_t segment, uint32_t page)
{
    int64_t *reg = policy->reg + SEGMENTS * segment;
    const uint64_t length = policy->slots / SEGMENTS;
    if ((uint64_t)reg[ENTRIES] == length)
        compact(policy, segment);
    const uint64_t slot = segment * length + fs_wrapped((uint64_t)(reg[OLDEST] + reg[ENTRIES]), length);
    policy->slot[slot] = page;
    policy->page[page] = (uint32_t)(slot + 1);
    reg[ENTRIES]++;
    reg[PAGES]++;
}

/* Takes the page out of `segment` that joined it first. */
static inline uint32_t pop(struct fs_policy *policy, uint64_t segment)
{
    int64_t *reg = policy->reg + SEGMENTS * segment;
    const uint64_t length = policy->slots / SEGMENTS, base = segment * length;
    uint32_t page;
    uint64_t at;
    do {
        at = (uint64_t)reg[OLDEST];
        page = fs_look(policy, policy->slot + base, at, length);
        reg[OLDEST] = (int64_t)fs_wrapped(at + 1, length);
        reg[ENTRIES]--;
    } while (policy->page[page] != base + at + 1);
    policy->page[page] = FS_GONE;
    reg[PAGES]--;
    return page;
}

static inline int slru(struct fs_policy *policy, uint32_t page)
{
    const uint64_t length = policy->slots / SEGMENTS, top = policy->capacity < SEGMENTS ? 0 : SEGMENTS - 1;
    const uint32_t record = policy->page[page];
    if (fs_queued(record)) {
        const uint64_t from = (uint64_t)(record > length) + (record > 2 * length) + (record > 3 * length);
        const uint64_t to = from < top ? from + 1 : top;
        policy->page[page] = FS_GONE;
        policy->reg[SEGMENTS * from + PAGES]--;
        if (policy->reg[SEGMENTS * to + PAGES] == size_of(policy, to))
            push(policy, from, pop(policy, to)); /* from != to, as `from` has just lost a page */
        push(policy, to, page);
        return 0;
    }
    uint64_t segment = 0;
    if ((uint64_t)policy->reg[1] == policy->capacity) /* every segment is full */
        pop(policy, 0);
    else
        policy->reg[1]++;
    while (policy->reg[SEGMENTS * segment + PAGES] == size_of(policy, segment))
        segment++;
    push(policy, segment, page);
    return 1;
}

FS_POLICY(slru, 1)
