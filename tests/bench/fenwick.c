/* The textbook way to stack distances, as the peer of csim/stack.c: a Fenwick tree over time with a 1 at the newest
 * access of each page; the distance is a prefix sum. Compiled by the benchmark with gcc -O3. */
#include <stdint.h>
#include <string.h>

/* tree: [count + 1], last: [pages], counts: [pages + 1], all zeroed. Returns the first touches. */
int64_t fenwick_distances(const uint32_t *trace, int64_t count, uint32_t *tree, uint32_t *last, uint64_t *counts)
{
    int64_t distinct = 0;
    for (int64_t t = 1; t <= count; t++) {
        const uint32_t page = trace[t - 1], before = last[page];
        if (before) {
            uint32_t older = 0;
            for (uint32_t at = before; at; at &= at - 1)
                older += tree[at];
            counts[distinct - older + 1]++;
            for (int64_t at = before; at <= count; at += at & -at)
                tree[at]--;
        } else {
            distinct++;
        }
        for (int64_t at = t; at <= count; at += at & -at)
            tree[at]++;
        last[page] = (uint32_t)t;
    }
    return distinct;
}
