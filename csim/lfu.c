/* LFU. See flashsim/cache/lfu.py.
 *
 * One ring of nodes, a node a cached page, in the order in which they would be evicted: by reads, then by the last one.
 * Those with equally many reads form a bucket; node 0 and bucket 0 (no reads) stand at the start.
 *   page[x]       x's node; 0 or FS_GONE = not cached
 *   slot[n]       node n of 0 .. capacity: page, previous node, next node, bucket
 *   slot[C1 + b]  bucket b of 0 .. capacity, C1 = capacity + 1: its last node, the next bucket up or 0, reads (64 bits, low
 *                 half first)
 *   reg[1]        nodes in use: cached pages
 *   reg[2]        first free bucket that was used before, linked by "up"; 0 = none
 *   reg[3]        buckets that were ever used
 */
#define FS_VALID(policy) lfu_fits(policy)
#include "policy.h"

enum { PAGE, PREVIOUS, NEXT, BUCKET };
enum { LAST, UP, READS };

static inline uint32_t *node_at(const struct fs_policy *policy, uint32_t node)
{
    return policy->slot + 4 * (uint64_t)node;
}

static inline uint32_t *bucket_at(const struct fs_policy *policy, uint32_t bucket)
{
    return policy->slot + 4 * (policy->capacity + 1 + bucket);
}

static inline uint64_t reads_of(const uint32_t *bucket)
{
    return bucket[READS] | (uint64_t)bucket[READS + 1] << 32;
}

static inline void set_reads(uint32_t *bucket, uint64_t reads)
{
    bucket[READS] = (uint32_t)reads, bucket[READS + 1] = (uint32_t)(reads >> 32);
}

static inline void unlink_node(const struct fs_policy *policy, const uint32_t *at)
{
    node_at(policy, at[PREVIOUS])[NEXT] = at[NEXT];
    node_at(policy, at[NEXT])[PREVIOUS] = at[PREVIOUS];
}

static inline void link_after(const struct fs_policy *policy, uint32_t node, uint32_t previous)
{
    uint32_t *at = node_at(policy, node), *before = node_at(policy, previous);
    at[PREVIOUS] = previous, at[NEXT] = before[NEXT];
    node_at(policy, before[NEXT])[PREVIOUS] = node;
    before[NEXT] = node;
}

/* Take `bucket`, empty now, from above `below`. */
static inline void release(const struct fs_policy *policy, uint32_t below, uint32_t bucket)
{
    uint32_t *at = bucket_at(policy, bucket);
    bucket_at(policy, below)[UP] = at[UP];
    at[UP] = (uint32_t)policy->reg[2];
    policy->reg[2] = bucket;
}

/* A bucket of one more read than `below`, right above it: there, or new. */
static inline uint32_t bucket_above(const struct fs_policy *policy, uint32_t below)
{
    uint32_t *at = bucket_at(policy, below), bucket = at[UP];
    const uint64_t reads = reads_of(at) + 1;
    if (bucket && reads_of(bucket_at(policy, bucket)) == reads)
        return bucket;
    bucket = (uint32_t)policy->reg[2];
    if (bucket)
        policy->reg[2] = bucket_at(policy, bucket)[UP];
    else
        bucket = (uint32_t)++policy->reg[3];
    uint32_t *made = bucket_at(policy, bucket);
    made[LAST] = at[LAST], made[UP] = at[UP];
    set_reads(made, reads);
    at[UP] = bucket;
    return bucket;
}

static inline int lfu(struct fs_policy *policy, uint32_t page)
{
    uint32_t node = policy->page[page];
    if (fs_queued(node)) {
        uint32_t *at = node_at(policy, node), *from = bucket_at(policy, at[BUCKET]);
        const uint32_t below = node_at(policy, at[PREVIOUS])[BUCKET];
        if (from[LAST] == node && below != at[BUCKET]) { /* alone */
            const uint64_t reads = reads_of(from) + 1;
            if (!from[UP] || reads_of(bucket_at(policy, from[UP])) != reads) {
                set_reads(from, reads);
                return 0;
            }
            const uint32_t to = from[UP];
            release(policy, below, at[BUCKET]);
            at[BUCKET] = to;
        } else {
            const uint32_t to = bucket_above(policy, at[BUCKET]);
            if (from[LAST] == node)
                from[LAST] = at[PREVIOUS];
            at[BUCKET] = to;
        }
        uint32_t *to = bucket_at(policy, at[BUCKET]);
        if (to[LAST] != node) {
            unlink_node(policy, at);
            link_after(policy, node, to[LAST]);
            to[LAST] = node;
        }
        return 0;
    }
    if ((uint64_t)policy->reg[1] < policy->capacity) {
        node = (uint32_t)++policy->reg[1];
    } else {
        node = node_at(policy, 0)[NEXT];
        const uint32_t *at = node_at(policy, node);
        policy->page[at[PAGE]] = FS_GONE;
        unlink_node(policy, at);
        if (bucket_at(policy, at[BUCKET])[LAST] == node)
            release(policy, 0, at[BUCKET]);
    }
    const uint32_t bucket = bucket_above(policy, 0);
    link_after(policy, node, bucket_at(policy, bucket)[LAST]);
    bucket_at(policy, bucket)[LAST] = node;
    node_at(policy, node)[PAGE] = page, node_at(policy, node)[BUCKET] = bucket;
    policy->page[page] = node;
    return 1;
}

static inline int lfu_fits(const struct fs_policy *policy)
{
    return policy->slots >= 2 * (policy->capacity + 1);
}

FS_POLICY(lfu, 1)
