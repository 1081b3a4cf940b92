/* Histogram of times in ns, 64 bins an octave: bin widths are at most 1/64 of what they hold, as fio's.
 *
 *   bin of t < 128:  t
 *   otherwise:       64 * shift + (t >> shift), where shift brings t into [64, 128)
 *
 * Times from 2^34 ns (17 s) on count in the last bin. flashsim/kernels/replay.py has the inverse. */
#ifndef FS_HISTOGRAM_H
#define FS_HISTOGRAM_H
#include "csim.h"

static inline uint32_t fs_histogram_bin(uint64_t ns)
{
    const uint32_t shift = ns < 128 ? 0 : 57 - (uint32_t)__builtin_clzll(ns);
    const uint64_t bin = 64 * shift + (ns >> shift);
    return bin < FS_HISTOGRAM_BINS ? (uint32_t)bin : FS_HISTOGRAM_BINS - 1;
}

static inline void fs_histogram_add(struct fs_histogram *histogram, uint64_t ns, uint64_t times)
{
    histogram->bins[fs_histogram_bin(ns)] += times;
    histogram->count += times;
    histogram->sum += ns * times;
    if (times && ns > histogram->max)
        histogram->max = ns;
}

#endif
