/* Exact LRU at many capacities in one pass over a trace. The method is in csim.h.
 *
 * What makes it fast: one random access a reference (last[page], prefetched, since the trace is known), no list, and
 * taus that are settled only every BATCH accesses. In between, tau_k is known to lie in [tau, bound]: an access whose
 * page was last touched inside that gap (a fraction of a percent) settles first; every other one is decided by the
 * stale tau. The caches that miss are always the smallest ones, so a batch is fully told by how many accesses missed in
 * exactly c caches. */
#include "csim.h"
#include "isa.h"
#include "slots.h"

#include <errno.h>

#define BATCH 128     /* accesses between two settlings */
#define AHEAD 96      /* how far ahead last[page] is prefetched: the latency of memory over the time of an access */
#define AHEAD_LIVE 24 /* and the live word that last[page] names */
#define UNBOUNDED INT32_MAX

static inline void clear_slot(struct fs_lru *lru, uint32_t slot)
{
    lru->live[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
}

/* Position of the n-th set bit of word, n from 0; word has more than n. */
static inline uint32_t select_bit(uint64_t word, uint64_t n)
{
    while (n--)
        word &= word - 1;
    return (uint32_t)__builtin_ctzll(word);
}

/* The smallest t such that `count` live slots lie in [from, t). They exist. */
static int32_t after_live(const struct fs_lru *lru, int32_t from, uint64_t count)
{
    if (!count)
        return from;
    uint32_t at = (uint32_t)from / 64;
    uint64_t word = lru->live[at] & (UINT64_MAX << (from % 64)), seen;
    while ((seen = (uint64_t)__builtin_popcountll(word)) < count) {
        count -= seen;
        word = lru->live[++at];
    }
    return (int32_t)(at * 64 + select_bit(word, count - 1) + 1);
}

/* Let [tau, scanned * 64) hold at least BATCH live slots, if there are that many in full words. Both ends only move
 * forward, so a pass scans the bitmap once for each capacity. */
static void scan_ahead(struct fs_lru *lru, uint32_t k)
{
    const uint32_t first = (uint32_t)lru->tau[k] / 64, full = lru->now / 64;
    if (lru->scanned[k] < first)
        lru->scanned[k] = first, lru->room[k] = 0;
    for (; lru->room[k] < BATCH && lru->scanned[k] < full; lru->scanned[k]++) {
        uint64_t word = lru->live[lru->scanned[k]];
        if (lru->scanned[k] == first)
            word &= UINT64_MAX << (lru->tau[k] % 64);
        lru->room[k] += __builtin_popcountll(word);
    }
}

/* Bring every tau up to date and set the bounds. Until the next settling, at most BATCH accesses away, each access moves
 * tau past at most one slot that is live now, and none in (tau, bound] is cleared, because that access would settle
 * first: so with BATCH live slots below it, the bound holds. */
static void settle(struct fs_lru *lru)
{
    uint64_t missed = 0; /* accesses that missed in capacity k: those that missed in more than k caches */
    for (uint32_t k = lru->lanes; k-- > 0;) {
        missed += lru->classes[k + 1];
        lru->misses[k] += missed;
        const uint64_t capacity = lru->capacity[k];
        const uint64_t evicted = lru->misses[k] - (lru->distinct < capacity ? lru->distinct : capacity);
        const uint64_t passed = evicted - lru->evicted[k];
        lru->tau[k] = after_live(lru, lru->tau[k], passed);
        lru->evicted[k] = evicted;
        lru->room[k] -= (int32_t)passed;
        if (lru->distinct + BATCH <= capacity) {
            lru->bound[k] = 0; /* cannot fill up before the next settling, so evicts nothing */
        } else {
            scan_ahead(lru, k);
            lru->bound[k] = lru->room[k] < BATCH ? UNBOUNDED : (int32_t)(lru->scanned[k] * 64);
        }
    }
    memset(lru->classes, 0, sizeof lru->classes);
}

/* The access that made a settling necessary clears its page's old slot. */
static void leave_room(struct fs_lru *lru, int32_t touched)
{
    for (uint32_t k = 0; k < lru->lanes; k++)
        if (touched > lru->tau[k] && (uint32_t)touched <= lru->scanned[k] * 64)
            lru->room[k]--;
}

/* Settled before and after. */
static void renumber(struct fs_lru *lru)
{
    const uint32_t touched = fs_renumber_slots(lru->last, lru->pages, lru->live, lru->ranks, lru->slots / 64);
    for (uint32_t k = 0; k < lru->lanes; k++) { /* tau may stand at the very end, where there is no word */
        const uint32_t tau = (uint32_t)lru->tau[k];
        lru->tau[k] = (int32_t)(tau < lru->slots ? fs_rank(lru->live, lru->ranks, tau) : touched);
        lru->scanned[k] = 0, lru->room[k] = 0;
    }
    fs_fill_slots(lru->live, lru->slots / 64, touched);
    lru->now = touched;
    settle(lru);
}

/* The 16 lanes: which tau (or bound) is at or after `last`, as a bit mask. */
#if defined(__x86_64__)
#include <immintrin.h>

#define FS_NAME(x) x##_avx512
#define FS_TARGET __attribute__((target("avx512f,bmi2,lzcnt,popcnt")))
#define FS_VECTOR __m512i
#define FS_LOAD(p) _mm512_loadu_si512(p)
#define FS_NOT_BEFORE(v, last) _mm512_cmpge_epi32_mask(v, _mm512_set1_epi32(last))
#include "lru_lanes.h"

struct two {
    __m256i low, high;
};

#define FS_NAME(x) x##_avx2
#define FS_TARGET __attribute__((target("avx2,bmi2,lzcnt,popcnt")))
#define FS_VECTOR struct two
#define FS_LOAD(p) (struct two){_mm256_loadu_si256((const __m256i *)(p)), _mm256_loadu_si256((const __m256i *)(p) + 1)}
#define FS_NOT_BEFORE(v, last) (~after_avx2(v, last) & 0xFFFFu)
__attribute__((target("avx2"))) static inline uint32_t after_avx2(struct two v, int32_t last)
{
    __m256i l = _mm256_set1_epi32(last);
    __m256i words = _mm256_packs_epi32(_mm256_cmpgt_epi32(l, v.low), _mm256_cmpgt_epi32(l, v.high));
    /* packs works within 128-bit halves: put the lanes back in order before they become bits */
    words = _mm256_permute4x64_epi64(words, 0xD8);
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}
#include "lru_lanes.h"
#endif

#define FS_NAME(x) x##_plain
#define FS_TARGET
typedef const int32_t *lanes_plain;
#define FS_VECTOR lanes_plain
#define FS_LOAD(p) (p)
#define FS_NOT_BEFORE(v, last) not_before_plain(v, last)
static inline uint32_t not_before_plain(lanes_plain v, int32_t last)
{
    uint32_t mask = 0;
    for (int k = 0; k < FS_LRU_LANES; k++)
        mask |= (uint32_t)(v[k] >= last) << k;
    return mask;
}
#include "lru_lanes.h"

int fs_lru_run(struct fs_lru *lru, const uint32_t *trace, int64_t count, uint8_t *classes)
{
    if (count < 0 || lru->slots % 64 || lru->slots < lru->pages + 2 * BATCH || lru->slots > INT32_MAX ||
        lru->lanes < 1 || lru->lanes > FS_LRU_LANES || lru->capacity[0] < 1)
        return -EINVAL;
    for (uint32_t k = 1; k < lru->lanes; k++)
        if (lru->capacity[k] < lru->capacity[k - 1])
            return -EINVAL;
    for (uint32_t k = lru->lanes; k < FS_LRU_LANES; k++)
        lru->tau[k] = lru->bound[k] = -1; /* before every access: never a miss */
    int (*pass)(struct fs_lru *, const uint32_t *, int64_t, uint8_t *) = pass_plain;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (FS_ISA_LIMIT >= 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("bmi2"))
        pass = pass_avx512;
    else if (FS_ISA_LIMIT >= 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        pass = pass_avx2;
#endif
    int status = 0;
    settle(lru);
    while (count > 0 && !status) {
        if (lru->now == lru->slots)
            renumber(lru);
        int64_t taken = (int64_t)(lru->slots - lru->now);
        taken = taken < count ? taken : count;
        status = pass(lru, trace, taken, classes);
        settle(lru);
        trace += taken, count -= taken, classes += classes ? taken : 0;
    }
    return status;
}
