/* Time in slots, for the LRU kernels: which slots are live, and renumbering them when they run out. */
#ifndef FS_SLOTS_H
#define FS_SLOTS_H
#include <stdint.h>
#include <string.h>

/* Live slots before `slot`, by the ranks of the words. */
static inline uint32_t fs_rank(const uint64_t *live, const uint32_t *ranks, uint32_t slot)
{
    const uint64_t below = (UINT64_C(1) << (slot % 64)) - 1;
    return ranks[slot / 64] + (uint32_t)__builtin_popcountll(live[slot / 64] & below);
}

/* Let the newest accesses, in order, be slots 0 .. n - 1, and return n, the number of pages touched. `live` is made
 * anew from `last`; until fs_fill_slots overwrites it, fs_rank tells where an old slot went. */
static inline uint32_t fs_renumber_slots(uint32_t *last, uint64_t pages, uint64_t *live, uint32_t *ranks, uint64_t words)
{
    memset(live, 0, words * sizeof *live);
    for (uint64_t page = 0; page < pages; page++)
        if (last[page])
            live[(last[page] - 1) / 64] |= UINT64_C(1) << ((last[page] - 1) % 64);
    uint32_t rank = 0;
    for (uint64_t at = 0; at < words; at++) {
        ranks[at] = rank;
        rank += (uint32_t)__builtin_popcountll(live[at]);
    }
    for (uint64_t page = 0; page < pages; page++)
        if (last[page])
            last[page] = fs_rank(live, ranks, last[page] - 1) + 1;
    return rank;
}

/* Make slots 0 .. n - 1 live and no other. */
static inline void fs_fill_slots(uint64_t *live, uint64_t words, uint32_t n)
{
    memset(live, 0, words * sizeof *live);
    memset(live, 0xFF, n / 64 * sizeof *live);
    if (n % 64)
        live[n / 64] = (UINT64_C(1) << (n % 64)) - 1;
}

#endif
