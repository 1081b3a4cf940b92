/* The floor of LRU kernels that know their trace: one prefetched read and write of last[page] a reference, and nothing
 * else. Compiled by the benchmark with gcc -O3. */
#include <stdint.h>

#define AHEAD 128 /* as far as csim/lru.c looks */

/* last: [pages], zeroed. Returns a sum that keeps the reads. */
uint64_t gather(const uint32_t *trace, int64_t count, uint32_t *last)
{
    uint64_t sum = 0;
    for (int64_t t = 0; t < count; t++) {
        __builtin_prefetch(&last[trace[t + AHEAD < count ? t + AHEAD : t]], 1, 2);
        sum += last[trace[t]];
        last[trace[t]] = (uint32_t)t + 1;
    }
    return sum;
}
