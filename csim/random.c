/* Random replacement. See flashsim/cache/random.py.
 *
 *   page[x]  1 + x's slot; 0 or FS_GONE = not cached
 *   slot[i]  the cached pages
 *   reg[1]   pages cached
 *   reg[2]   draws so far
 *   reg[3]   the generator's seed
 */
#define FS_SLOTS(capacity) (capacity)
#include "mix64.h"
#include "policy.h"

/* The slot of a draw: capacity * z / 2^64, z the draw-th value of SplitMix64. */
static inline uint64_t drawn(const struct fs_policy *policy, uint64_t draw)
{
    const uint64_t z = fs_mix13((uint64_t)policy->reg[3] + draw * 0x9E3779B97F4A7C15u);
    return ((z >> 32) * policy->capacity + ((z & UINT32_MAX) * policy->capacity >> 32)) >> 32;
}

static inline int random(struct fs_policy *policy, uint32_t page)
{
    if (fs_queued(policy->page[page]))
        return 0;
    uint64_t slot = (uint64_t)policy->reg[1];
    if (slot == policy->capacity) {
        const uint64_t draw = (uint64_t)++policy->reg[2];
        slot = drawn(policy, draw);
        policy->page[policy->slot[slot]] = FS_GONE;
    } else {
        policy->reg[1]++;
    }
    policy->slot[slot] = page;
    policy->page[page] = (uint32_t)slot + 1;
    return 1;
}

FS_POLICY(random, 1)
