/* Exact LRU at many capacities in one pass over a trace. The method is in csim.h.
 *
 * What makes it fast: references are taken BATCH at a time. last[page] of each is read and overwritten, the one random
 * access of a reference, prefetched a batch ahead, since the trace is known. Then all of them are compared with each
 * tau at once, so that no branch hangs on a hit or a miss, and the slots of those that hit are cleared. Taus are
 * settled between batches. Within one, tau_k lies in [tau, bound]: a reference whose page was last touched inside that
 * gap (a fraction of a percent) is in doubt, and only those are decided one by one. */
#include "csim.h"
#include "ids.h"
#include "isa.h"
#include "slots.h"

#include <errno.h>

#define BATCH 128 /* references between two settlings, a multiple of 64; the latency of memory over the time of one */
#define WORDS (BATCH / 64)
#define UNBOUNDED (INT32_MAX - 1) /* after every slot */

/* Masks have one bit a reference. */
struct batch {
    int32_t touched[BATCH] __attribute__((aligned(64))); /* last[page] before it; INT32_MAX where there is no reference */
    uint64_t cold[WORDS];
    uint64_t missed[FS_LRU_LANES][WORDS]; /* those in doubt: only once they are decided */
};

static inline void clear_slot(struct fs_lru *lru, int32_t touched)
{
    const uint32_t slot = (uint32_t)touched - 1;
    lru->live[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
}

/* FS_AT_MOST: which of 64 `touched` are at most `limit`, as a mask. In a form that compilers turn into vectors. */
static inline __attribute__((always_inline)) uint64_t at_most(const int32_t *touched, int32_t limit)
{
    static const uint32_t bit[32] = {
        1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,  1u << 8,  1u << 9,  1u << 10,
        1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21,
        1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
    };
    uint32_t low = 0, high = 0;
    for (int i = 0; i < 32; i++) {
        low |= touched[i] <= limit ? bit[i] : 0;
        high |= touched[32 + i] <= limit ? bit[i] : 0;
    }
    return (uint64_t)high << 32 | low;
}

/* FS_SELECT: position of the n-th set bit of word, n from 0; word has more than n. */
static inline uint32_t select_bit(uint64_t word, uint64_t n)
{
    while (n--)
        word &= word - 1;
    return (uint32_t)__builtin_ctzll(word);
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("bmi,bmi2"))) static inline uint32_t select_bmi2(uint64_t word, uint64_t n)
{
    return (uint32_t)_tzcnt_u64(_pdep_u64(UINT64_C(1) << n, word));
}

__attribute__((target("avx512f"))) static inline uint64_t at_most_avx512(const int32_t *touched, int32_t limit)
{
    uint64_t mask = 0;
    for (int i = 0; i < 64; i += 16)
        mask |= (uint64_t)_mm512_cmple_epi32_mask(_mm512_load_si512(touched + i), _mm512_set1_epi32(limit)) << i;
    return mask;
}

#define FS_NAME(x) x##_avx512
#define FS_TARGET __attribute__((target("avx512f,bmi,bmi2,lzcnt,popcnt")))
#define FS_AT_MOST at_most_avx512
#define FS_SELECT select_bmi2
#include "lru_lanes.h"

#define FS_NAME(x) x##_avx2
#define FS_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define FS_AT_MOST at_most
#define FS_SELECT select_bmi2
#include "lru_lanes.h"
#endif

#define FS_NAME(x) x##_plain
#define FS_TARGET
#define FS_AT_MOST at_most
#define FS_SELECT select_bit
#include "lru_lanes.h"

int fs_lru_run(struct fs_lru *lru, const uint32_t *trace, int64_t count, uint8_t *classes)
{
    if (count < 0 || lru->slots % BATCH || lru->slots < lru->pages + 2 * BATCH || lru->slots > INT32_MAX ||
        lru->lanes < 1 || lru->lanes > FS_LRU_LANES || lru->capacity[0] < 1)
        return -EINVAL;
    for (uint32_t k = 1; k < lru->lanes; k++)
        if (lru->capacity[k] < lru->capacity[k - 1])
            return -EINVAL;
    int (*pass)(struct fs_lru *, const uint32_t *, int64_t, uint8_t *) = pass_plain;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (FS_ISA_LIMIT >= 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("bmi2"))
        pass = pass_avx512;
    else if (FS_ISA_LIMIT >= 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        pass = pass_avx2;
#endif
    return pass(lru, trace, count, classes);
}
