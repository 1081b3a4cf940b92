/* FIFO. See flashsim/cache/fifo.py.
 *
 * No queue: the cache holds the pages of the last `capacity` insertions, so a page is cached if and only if fewer than
 * `capacity` insertions came after its own.
 *   page[x][0]  number of x's newest insertion, from 1; 0 = none, or long evicted
 *   reg[1]      number of the newest insertion; renumbered before it passes 32 bits
 */
#include "policy.h"

static void renumber(struct fs_policy *policy)
{
    const uint64_t newest = (uint64_t)policy->reg[1], kept = newest < policy->capacity ? newest : policy->capacity;
    for (uint64_t x = 0; x < policy->pages; x++)
        policy->page[x] = policy->page[x] > newest - kept ? (uint32_t)(policy->page[x] - (newest - kept)) : 0;
    policy->reg[1] = (int64_t)kept;
}

static inline int fifo(struct fs_policy *policy, uint32_t page)
{
    const uint64_t inserted = policy->page[page], newest = (uint64_t)policy->reg[1];
    if (inserted && newest - inserted < policy->capacity)
        return 0;
    if (newest == UINT32_MAX)
        renumber(policy);
    policy->page[page] = (uint32_t)++policy->reg[1];
    return 1;
}

FS_POLICY(fifo, 1)
