/* Time in slots, for the LRU kernels: renumbering them when they run out. */
#ifndef FS_SLOTS_H
#define FS_SLOTS_H
#include <stdint.h>
#include <string.h>

/* Let the newest accesses, in order, be slots 0 .. n - 1, make these live and no other, and return n, the number of pages
 * touched. Inlined, so that it is compiled for the instruction set of its caller. */
static inline __attribute__((always_inline)) uint32_t fs_renumber_slots(uint32_t *last, uint64_t pages, uint64_t *live,
                                                                        uint32_t *ranks, uint64_t words)
{
    memset(live, 0, words * sizeof *live);
    for (uint64_t page = 0; page < pages; page++) {
        const uint32_t touched = last[page] != 0, slot = last[page] - touched;
        live[slot / 64] |= (uint64_t)touched << (slot % 64);
    }
    uint32_t rank = 0;
    for (uint64_t at = 0; at < words; at++) {
        ranks[at] = rank;
        rank += (uint32_t)__builtin_popcountll(live[at]);
    }
    for (uint64_t page = 0; page < pages; page++) {
        const uint32_t touched = last[page] != 0, slot = last[page] - touched;
        const uint64_t below = live[slot / 64] & ((UINT64_C(1) << (slot % 64)) - 1);
        last[page] = ranks[slot / 64] + (uint32_t)__builtin_popcountll(below) + touched; /* never touched: still 0 */
    }
    memset(live, 0, words * sizeof *live);
    memset(live, 0xFF, rank / 64 * sizeof *live);
    if (rank % 64)
        live[rank / 64] = (UINT64_C(1) << (rank % 64)) - 1;
    return rank;
}

#endif
