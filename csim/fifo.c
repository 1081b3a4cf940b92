/* FIFO. See flashsim/cache/fifo.py.
 *
 * No queue: the cache holds the pages of the last `capacity` insertions, so a page is cached if and only if fewer than
 * `capacity` insertions came after its own. Insertions are numbered from capacity + 1, so that 0 is long evicted.
 *   page[x]  number of x's newest insertion, 0 = none; FS_GONE = was lost in a renumbering, being long evicted
 *   reg[1]   number of the newest insertion, capacity = none yet; renumbered before it gets to FS_GONE
 */
#define FS_VALID(policy) ((policy)->reg[1] >= (int64_t)(policy)->capacity && (policy)->reg[1] < FS_GONE)
#include "policy.h"

static void renumber(struct fs_policy *policy)
{
    const uint32_t gone = (uint32_t)((uint64_t)policy->reg[1] - policy->capacity);
    for (uint64_t x = 0; x < policy->pages; x++)
        if (policy->page[x])
            policy->page[x] = policy->page[x] > gone && fs_queued(policy->page[x]) ? policy->page[x] - gone : FS_GONE;
    policy->reg[1] -= gone;
}

/* No branch hangs on a hit or a miss. */
static inline int fifo(struct fs_policy *policy, uint32_t page)
{
    if (policy->reg[1] == FS_GONE - 1)
        renumber(policy);
    const uint32_t inserted = policy->page[page], newest = (uint32_t)policy->reg[1];
    const int miss = newest - inserted >= policy->capacity; /* in 32 bits FS_GONE is old too */
    policy->page[page] = miss ? newest + 1 : inserted;
    policy->reg[1] += miss;
    return miss;
}

FS_POLICY(fifo, 1)
