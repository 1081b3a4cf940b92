/* Page ids are checked a batch at a time, ahead of the loop that uses them. */
#ifndef FS_IDS_H
#define FS_IDS_H
#include <stdint.h>

/* How many of `count` ids come before the first that is not below `pages`. Inlined, so that it is compiled for the
 * instruction set of its caller. */
static inline __attribute__((always_inline)) int64_t fs_in_range(const uint32_t *ids, int64_t count, uint64_t pages)
{
    uint32_t largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = ids[i] > largest ? ids[i] : largest;
    if (largest < pages)
        return count;
    int64_t good = 0;
    while (good < count && ids[good] < pages)
        good++;
    return good;
}

/* Of a trace of `count` ids, those whose memory is to be loaded while the `taken` from `at` on are worked on: the next
 * ones, or the last. */
static inline const uint32_t *fs_soon(const uint32_t *trace, int64_t at, int64_t taken, int64_t count)
{
    return trace + (count - at < 2 * taken ? count - taken : at + taken);
}

#endif
