/* The longest n-gram of a set that ends with each token. The trie is in csim.h.
 *
 * Each step down the trie waits for the one before, so what can be had early is the first: its slot is prefetched. */
#include "csim.h"
#include "mix64.h"

#include <errno.h>

#define AHEAD 16 /* tokens */
#define EMPTY UINT64_MAX
#define NO_ROW UINT32_MAX

/* The second word of `key`'s slot, or EMPTY. */
static uint64_t find(const uint64_t *slots, uint64_t mask, uint64_t key)
{
    for (uint64_t at = fs_mix13(key) & mask;; at = (at + 1) & mask) {
        if (slots[2 * at] == key)
            return slots[2 * at + 1];
        if (slots[2 * at] == EMPTY)
            return EMPTY;
    }
}

int64_t fs_match(const uint64_t *slots, uint64_t mask, uint32_t depth, const uint32_t *ids, int64_t ids_count,
                 int64_t first, const int64_t *starts, int64_t starts_count, uint32_t *out, int64_t out_capacity,
                 uint16_t *counts)
{
    if (first < 0 || first > ids_count || depth < 2 || (mask & (mask + 1)) || out_capacity < ids_count - first)
        return -EINVAL;
    uint32_t *const begin = out;
    int64_t document = 0, next = 0;
    for (int64_t at = first; at < ids_count; at++) {
        while (next < starts_count && starts[next] <= at)
            document = starts[next++];
        if (at + AHEAD < ids_count)
            __builtin_prefetch(&slots[2 * (fs_mix13((uint64_t)ids[at + AHEAD] << 32 | ids[at + AHEAD - 1]) & mask)]);
        const int64_t reach = at - document < (int64_t)depth - 1 ? at - document : (int64_t)depth - 1;
        uint64_t parent = ids[at];
        uint32_t row = NO_ROW;
        for (int64_t k = 1; k <= reach; k++) {
            const uint64_t found = find(slots, mask, parent << 32 | ids[at - k]);
            if (found == EMPTY)
                break;
            parent = UINT64_C(1) << 31 | (found & UINT32_MAX);
            row = found >> 32 != NO_ROW ? (uint32_t)(found >> 32) : row;
        }
        if (row != NO_ROW)
            *out++ = row;
        if (counts)
            counts[at - first] = row != NO_ROW;
    }
    return out - begin;
}
