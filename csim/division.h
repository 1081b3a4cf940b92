/* Divisions by a number that is known beforehand, without dividing. See division in flashsim/kernels/plan.py. */
#ifndef FS_DIVISION_H
#define FS_DIVISION_H
#include <stdint.h>

/* x / divisor = (x * multiplier + addend) >> shift, for x below 2^32 */
struct division {
    uint64_t multiplier, addend;
    uint32_t shift;
};

/* divisor >= 1. */
static inline struct division fs_division(uint32_t divisor)
{
    const uint32_t log = 31 - (uint32_t)__builtin_clz(divisor), shift = 32 + log;
    const uint64_t down = (UINT64_C(1) << shift) / divisor, rest = (UINT64_C(1) << shift) % divisor;
    if (!(divisor & (divisor - 1)))
        return (struct division){1, 0, log};
    if (divisor - rest <= UINT64_C(1) << log)
        return (struct division){down + 1, 0, shift};
    return (struct division){down, down, shift};
}

#endif
