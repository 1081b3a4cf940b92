/* SIEVE. See flashsim/cache/sieve.py.
 *
 * No list: the hand splits the queue in two. The pages it has not yet passed are a ring: the hand takes from its old
 * end, new pages join its young end. Those it has passed and kept are an array, in order. When none is left ahead of
 * the hand, it is back at the old end of the queue: the array becomes the ring.
 *   page[x]  1 = cached, 2 = cached and visited; 0 or FS_GONE = not cached
 *   slot     [2][capacity] the ring and the array
 *   reg[1]   position in the ring of the page at the hand
 *   reg[2]   pages ahead of the hand, in the ring
 *   reg[3]   pages behind the hand, in the array
 *   reg[4]   which of the two the ring is
 */
#define FS_SLOTS(capacity) (2 * (capacity))
#include "policy.h"

static inline void turn(int64_t *reg)
{
    if (reg[2] == 0) {
        reg[1] = 0;
        reg[2] = reg[3];
        reg[3] = 0;
        reg[4] ^= 1;
    }
}

static inline void evict(struct fs_policy *policy)
{
    int64_t *reg = policy->reg;
    for (;;) {
        uint32_t *ring = policy->slot + (uint64_t)reg[4] * policy->capacity;
        uint32_t *kept = policy->slot + (uint64_t)(reg[4] ^ 1) * policy->capacity;
        const uint32_t oldest = fs_look(policy, ring, (uint64_t)reg[1], policy->capacity);
        reg[1] = (int64_t)fs_wrapped((uint64_t)reg[1] + 1, policy->capacity);
        reg[2]--;
        const int visited = policy->page[oldest] == 2;
        policy->page[oldest] = visited ? 1 : FS_GONE;
        if (visited)
            kept[reg[3]++] = oldest;
        turn(reg);
        if (!visited)
            return;
    }
}

static inline int sieve(struct fs_policy *policy, uint32_t page)
{
    if (fs_queued(policy->page[page])) {
        policy->page[page] = 2;
        return 0;
    }
    int64_t *reg = policy->reg;
    if ((uint64_t)(reg[2] + reg[3]) == policy->capacity)
        evict(policy);
    const uint64_t young = fs_wrapped((uint64_t)(reg[1] + reg[2]), policy->capacity);
    policy->slot[(uint64_t)reg[4] * policy->capacity + young] = page;
    reg[2]++;
    policy->page[page] = 1;
    return 1;
}

FS_POLICY(sieve, 1)
