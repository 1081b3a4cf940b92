/* The ids of tokens in the order in which a workload asks for them, each once a step.
 *
 * A step's ids are looked up in a small open-addressing table of its own. Nothing clears it: a slot that an earlier step
 * wrote holds another stamp, and so is free. */
#include "csim.h"

#include <errno.h>
#include <stddef.h>

#define GOLDEN UINT64_C(0x9E3779B97F4A7C15)
#define IN_CACHE (UINT64_C(1) << 16) /* slots that an L2 holds: beyond, they are fetched before they are used */
#define AHEAD 32 /* ids; of a step that takes tokens as they come, the very next ones */

static uint64_t slot_of(uint32_t id, uint64_t mask) { return (id * GOLDEN >> 32) & mask; }

int64_t fs_weave(const uint32_t *ids, int64_t ids_count, const int64_t *ends, int64_t tokens, const int32_t *order,
                 int64_t emitted, const int64_t *step_ends, int64_t steps, uint64_t *restrict seen, uint64_t mask,
                 uint32_t stamp, uint32_t *restrict out, int64_t out_capacity, uint16_t *restrict counts)
{
    if ((mask & (mask + 1)) || (steps ? step_ends[steps - 1] : 0) != emitted || (!order && emitted != tokens) ||
        (int64_t)stamp + steps > UINT32_MAX)
        return -EINVAL;
    int64_t written = 0, at = 0;
    for (int64_t step = 0; step < steps; step++) {
        const uint64_t key = (uint64_t)(stamp + (uint32_t)step) << 32;
        uint64_t different = 0;
        for (; at < step_ends[step]; at++) {
            const int64_t token = order ? order[at] : at;
            if (token < 0 || token >= tokens)
                return -EINVAL;
            const int64_t begin = token ? ends[token - 1] : 0, end = ends[token], before = written;
            if (begin > end || end > ids_count || end - begin > out_capacity - written || end - begin > UINT16_MAX)
                return -EINVAL;
            if (!seen) {
                for (int64_t i = begin; i < end; i++)
                    out[written++] = ids[i];
            } else {
                for (int64_t i = begin; i < end; i++) {
                    if (mask >= IN_CACHE && i + AHEAD < ids_count)
                        __builtin_prefetch(&seen[slot_of(ids[i + AHEAD], mask)], 1);
                    const uint32_t id = ids[i];
                    const uint64_t wanted = key | id;
                    uint64_t slot = slot_of(id, mask), apart = seen[slot] ^ wanted;
                    while (apart - 1 < UINT32_MAX) { /* another id of this step */
                        slot = (slot + 1) & mask;
                        apart = seen[slot] ^ wanted;
                    }
                    /* no branch: whether an id is new cannot be predicted */
                    seen[slot] = wanted;
                    out[written] = id;
                    written += apart != 0;
                    different += apart != 0;
                    if (different > mask)
                        return -EINVAL; /* one slot stays free, or a search would not end */
                }
            }
            counts[at] = (uint16_t)(written - before);
        }
    }
    return at == emitted ? written : -EINVAL;
}
