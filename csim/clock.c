/* CLOCK with a counter of 1 and of 2 bits. See flashsim/cache/clock.py and clock2.py.
 *
 * The ring of cached pages, oldest first from the hand on. An evicted page's place is taken by the new page, and the
 * hand moves past it: that is the queue's young end.
 *   page[x]  1 + x's counter; 0 or FS_GONE = not cached
 *   slot[i]  page in position i of the ring
 *   reg[1]   position of the hand
 *   reg[2]   pages cached
 */
#define FS_SLOTS(capacity) (capacity)
#include "policy.h"

static inline int touch(struct fs_policy *policy, uint32_t page, uint32_t most)
{
    const uint32_t record = policy->page[page];
    if (fs_queued(record)) {
        policy->page[page] = record + (record <= most);
        return 0;
    }
    uint64_t at = (uint64_t)policy->reg[2];
    if (at < policy->capacity) {
        policy->reg[2]++;
    } else {
        uint64_t hand = (uint64_t)policy->reg[1];
        uint32_t oldest;
        do {
            at = hand;
            oldest = fs_look(policy, policy->slot, at, policy->capacity);
            hand = fs_wrapped(at + 1, policy->capacity);
        } while (--policy->page[oldest]);
        policy->page[oldest] = FS_GONE;
        policy->reg[1] = (int64_t)hand;
    }
    policy->slot[at] = page;
    policy->page[page] = 1;
    return 1;
}

static inline int clock(struct fs_policy *policy, uint32_t page)
{
    return touch(policy, page, 1);
}

static inline int clock2(struct fs_policy *policy, uint32_t page)
{
    return touch(policy, page, 3);
}

FS_POLICY(clock, 1)
FS_POLICY(clock2, 1)
