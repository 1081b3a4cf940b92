/* S3-FIFO. See flashsim/cache/s3fifo.py.
 *
 * Three rings. Small and main hold what is cached. The ghost's ring may hold stale entries (its page came back, or came
 * back and left again): one is alive only while its page's record names its position; when the ring is full of them, it
 * is compacted.
 *   page[x]       SMALL + hits, MAIN + hits (hits up to 3), GHOST + position in the ghost's ring; 0 or FS_GONE = unknown
 *   slot          the rings of small [capacity / 10, at least 1], main [capacity], ghost [2 * (capacity * 9 / 10)]
 *   reg[1], [2]   position of small's oldest page, pages in small
 *   reg[3], [4]   the same of main
 *   reg[5], [6]   the same of the ghost, stale entries included
 *   reg[7]        pages in the ghost
 *   reg[8]        1 = a page has been evicted
 */
#include "csim.h"

enum { MOST = 3, TO_MAIN = 2, SMALL = 4, MAIN = 8, GHOST = 12 };

static inline uint64_t small_size(uint64_t capacity)
{
    return capacity < 10 ? 1 : capacity / 10;
}

static inline uint64_t ghost_size(uint64_t capacity)
{
    return capacity * 9 / 10;
}

#define FS_SLOTS(capacity) (small_size(capacity) + (capacity) + 2 * ghost_size(capacity))
#include "policy.h"

static inline uint32_t pop(struct fs_policy *policy, const uint32_t *ring, int64_t *oldest, uint64_t length)
{
    const uint32_t page = fs_look(policy, ring, (uint64_t)oldest[0], length);
    oldest[0] = (int64_t)fs_wrapped((uint64_t)oldest[0] + 1, length);
    oldest[1]--;
    return page;
}

/* Returns the position that the page got. */
static inline uint64_t push(uint32_t *ring, int64_t *oldest, uint64_t length, uint32_t page)
{
    const uint64_t at = fs_wrapped((uint64_t)(oldest[0] + oldest[1]), length);
    ring[at] = page;
    oldest[1]++;
    return at;
}

static void compact(struct fs_policy *policy, uint32_t *ring, uint64_t length)
{
    int64_t kept[2] = {policy->reg[5], 0}, all[2] = {policy->reg[5], policy->reg[6]};
    while (all[1]) {
        const uint64_t at = (uint64_t)all[0];
        const uint32_t page = pop(policy, ring, all, length);
        if (policy->page[page] == GHOST + at)
            policy->page[page] = (uint32_t)(GHOST + push(ring, kept, length, page));
    }
    policy->reg[6] = kept[1];
}

static inline void remember(struct fs_policy *policy, uint32_t page)
{
    int64_t *reg = policy->reg;
    const uint64_t size = ghost_size(policy->capacity), length = 2 * size;
    uint32_t *ring = policy->slot + small_size(policy->capacity) + policy->capacity;
    policy->page[page] = FS_GONE;
    if (size == 0)
        return;
    while ((uint64_t)reg[7] == size) {
        const uint64_t at = (uint64_t)reg[5];
        const uint32_t oldest = pop(policy, ring, reg + 5, length);
        if (policy->page[oldest] == GHOST + at) {
            policy->page[oldest] = FS_GONE;
            reg[7]--;
        }
    }
    if ((uint64_t)reg[6] == length)
        compact(policy, ring, length);
    policy->page[page] = (uint32_t)(GHOST + push(ring, reg + 5, length, page));
    reg[7]++;
}

/* Evicts at most one page: none where all of small moves to main. */
static inline void evict(struct fs_policy *policy)
{
    int64_t *reg = policy->reg;
    const uint64_t size = small_size(policy->capacity);
    uint32_t *small = policy->slot, *large = policy->slot + size;
    if (reg[2] && (uint64_t)reg[4] <= policy->capacity - size) {
        while (reg[2]) {
            const uint32_t oldest = pop(policy, small, reg + 1, size);
            if (policy->page[oldest] < SMALL + TO_MAIN) {
                remember(policy, oldest);
                return;
            }
            policy->page[oldest] = MAIN;
            push(large, reg + 3, policy->capacity, oldest);
        }
    } else {
        for (;;) {
            const uint32_t oldest = pop(policy, large, reg + 3, policy->capacity);
            if (policy->page[oldest] == MAIN) {
                policy->page[oldest] = FS_GONE;
                return;
            }
            policy->page[oldest]--;
            push(large, reg + 3, policy->capacity, oldest);
        }
    }
}

static inline int s3fifo(struct fs_policy *policy, uint32_t page)
{
    const uint32_t record = policy->page[page];
    if (record - SMALL < GHOST - SMALL) {
        policy->page[page] = record + (record % 4 < MOST);
        return 0;
    }
    int64_t *reg = policy->reg;
    const uint64_t size = small_size(policy->capacity);
    const int ghost = fs_queued(record);
    if (ghost) { /* no more */
        policy->page[page] = FS_GONE;
        reg[7]--;
    }
    while ((uint64_t)(reg[2] + reg[4]) == policy->capacity) {
        evict(policy);
        reg[8] = 1;
    }
    const int large = ghost || (!reg[8] && (uint64_t)reg[2] == size);
    policy->page[page] = large ? MAIN : SMALL;
    if (large)
        push(policy->slot + size, reg + 3, policy->capacity, page);
    else
        push(policy->slot, reg + 1, size, page);
    return 1;
}

FS_POLICY(s3fifo, 1)
