/* Logs: queues of pages, oldest first, from whose middle a page can be taken, and nothing is linked.
 *
 * A log is a ring of page ids. Every page that enters gets the next number, from 1; number n lies at n modulo the size
 * of the ring, and its live bit is set until the page is taken. The ring is at least twice as large as what lives in
 * it; when it runs full, what lives is moved together at the new end. Numbers only grow, so a page's record need not be
 * touched when the page falls off the old end: its number is below `first` from then on.
 *
 * The pages of a log from `middle` on are cached, those before it are ghosts: remembered, but not in the cache.
 *
 *   page[x]        64 bits, low half first: 4 * number + log; 0 = in none yet
 *   reg[8 k + 8..] of log k = 0, 1, 2, in the order below
 *   slot[base..]   a log's ring, then its live bits, 32 a word
 */
#ifndef FS_LOG_H
#define FS_LOG_H
#include "policy.h"

enum {
    FS_LOG_FIRST,  /* no live number is below this */
    FS_LOG_MIDDLE, /* the first number that is cached, if live */
    FS_LOG_NEXT,   /* the number of the page that enters next */
    FS_LOG_GHOSTS, /* live numbers below middle */
    FS_LOG_CACHED, /* and from there on */
    FS_LOG_BASE,   /* of the ring in slot */
    FS_LOG_MASK    /* its size - 1; the size is a power of two, at least 128 */
};

struct fs_place {
    uint64_t number;
    uint32_t log;
    int cached, ghost;
};

static inline int64_t *fs_log(const struct fs_policy *policy, uint32_t log)
{
    return policy->reg + 8 * log + 8;
}

/* Whether log k has room for `most` pages within slot. */
static inline int fs_log_fits(const struct fs_policy *policy, uint32_t k, uint64_t most)
{
    const int64_t *log = fs_log(policy, k), size = log[FS_LOG_MASK] + 1;
    return size >= 128 && !(size & log[FS_LOG_MASK]) && (uint64_t)size >= 2 * most && log[FS_LOG_BASE] >= 0 &&
           (uint64_t)(log[FS_LOG_BASE] + size + size / 32) <= policy->slots && log[FS_LOG_FIRST] >= 1 &&
           log[FS_LOG_FIRST] <= log[FS_LOG_MIDDLE] && log[FS_LOG_MIDDLE] <= log[FS_LOG_NEXT] && log[FS_LOG_NEXT] - log[FS_LOG_FIRST] <= size;
}

static inline uint32_t *fs_live(const struct fs_policy *policy, const int64_t *log)
{
    return policy->slot + log[FS_LOG_BASE] + log[FS_LOG_MASK] + 1;
}

static inline uint32_t fs_page(const struct fs_policy *policy, uint32_t k, int64_t number)
{
    const int64_t *log = fs_log(policy, k);
    return policy->slot[log[FS_LOG_BASE] + (number & log[FS_LOG_MASK])];
}

static inline struct fs_place fs_find(const struct fs_policy *policy, uint32_t page)
{
    const uint32_t *half = policy->page + 2 * (uint64_t)page;
    const uint64_t record = half[0] | (uint64_t)half[1] << 32;
    const int64_t *log = fs_log(policy, record & 3), number = (int64_t)(record >> 2);
    return (struct fs_place){(uint64_t)number, record & 3, number >= log[FS_LOG_MIDDLE],
                             number >= log[FS_LOG_FIRST] && number < log[FS_LOG_MIDDLE]};
}

static inline void fs_put(const struct fs_policy *policy, uint32_t k, int64_t number, uint32_t page)
{
    const int64_t *log = fs_log(policy, k), at = number & log[FS_LOG_MASK];
    const uint64_t record = (uint64_t)number << 2 | k;
    policy->slot[log[FS_LOG_BASE] + at] = page;
    fs_live(policy, log)[at / 32] |= UINT32_C(1) << at % 32;
    policy->page[2 * (uint64_t)page] = (uint32_t)record;
    policy->page[2 * (uint64_t)page + 1] = (uint32_t)(record >> 32);
}

/* Move what lives together at the new end. A word is emptied before anything moves into it. */
static void fs_log_pack(const struct fs_policy *policy, uint32_t k)
{
    int64_t *log = fs_log(policy, k), to = log[FS_LOG_NEXT];
    const int64_t first = log[FS_LOG_FIRST] & ~INT64_C(31);
    for (int64_t begin = (log[FS_LOG_NEXT] - 1) & ~INT64_C(31); begin >= first; begin -= 32) {
        uint32_t *word = &fs_live(policy, log)[(begin & log[FS_LOG_MASK]) / 32], bits = *word;
        if (begin == first)
            bits &= UINT32_MAX << (log[FS_LOG_FIRST] & 31);
        *word = 0;
        while (bits) {
            const int high = 31 - __builtin_clz(bits);
            bits ^= UINT32_C(1) << high;
            fs_put(policy, k, --to, fs_page(policy, k, begin + high));
        }
    }
    log[FS_LOG_FIRST] = to;
    log[FS_LOG_MIDDLE] = to + log[FS_LOG_GHOSTS];
}

/* page, which is in no log, enters log k as its newest. */
static inline void fs_enter(const struct fs_policy *policy, uint32_t k, uint32_t page)
{
    int64_t *log = fs_log(policy, k);
    if (log[FS_LOG_NEXT] - log[FS_LOG_FIRST] >= log[FS_LOG_MASK] - 31) /* the oldest and the newest never share a word */
        fs_log_pack(policy, k);
    const int64_t at = log[FS_LOG_NEXT] & log[FS_LOG_MASK];
    if (at % 32 == 0)
        fs_live(policy, log)[at / 32] = 0; /* left by numbers that fell off */
    fs_put(policy, k, log[FS_LOG_NEXT]++, page);
    log[FS_LOG_CACHED]++;
}

/* The page at this place leaves its log. */
static inline void fs_leave(const struct fs_policy *policy, struct fs_place place)
{
    int64_t *log = fs_log(policy, place.log), at = (int64_t)place.number & log[FS_LOG_MASK];
    fs_live(policy, log)[at / 32] &= ~(UINT32_C(1) << at % 32);
    log[place.cached ? FS_LOG_CACHED : FS_LOG_GHOSTS]--;
}

/* The first live number from `from` on; there is one. */
static inline int64_t fs_live_from(const struct fs_policy *policy, const int64_t *log, int64_t from)
{
    const uint32_t *live = fs_live(policy, log);
    int64_t begin = from & ~INT64_C(31);
    uint32_t bits = live[(begin & log[FS_LOG_MASK]) / 32] & UINT32_MAX << (from & 31);
    while (!bits)
        begin += 32, bits = live[(begin & log[FS_LOG_MASK]) / 32];
    return begin + __builtin_ctz(bits);
}

/* The oldest cached page of log k becomes its newest ghost. */
static inline void fs_demote(const struct fs_policy *policy, uint32_t k)
{
    int64_t *log = fs_log(policy, k);
    log[FS_LOG_MIDDLE] = fs_live_from(policy, log, log[FS_LOG_MIDDLE]) + 1;
    log[FS_LOG_CACHED]--, log[FS_LOG_GHOSTS]++;
}

/* The oldest ghost of log k is forgotten. */
static inline void fs_forget(const struct fs_policy *policy, uint32_t k)
{
    int64_t *log = fs_log(policy, k);
    log[FS_LOG_FIRST] = fs_live_from(policy, log, log[FS_LOG_FIRST]) + 1;
    log[FS_LOG_GHOSTS]--;
}

/* The number of the oldest page of log k, which has no ghosts. */
static inline int64_t fs_oldest(const struct fs_policy *policy, uint32_t k)
{
    int64_t *log = fs_log(policy, k);
    return log[FS_LOG_FIRST] = log[FS_LOG_MIDDLE] = fs_live_from(policy, log, log[FS_LOG_FIRST]);
}

/* The oldest page of log k, which has no ghosts, is forgotten. */
static inline void fs_evict(const struct fs_policy *policy, uint32_t k)
{
    const int64_t after = fs_oldest(policy, k) + 1;
    int64_t *log = fs_log(policy, k);
    log[FS_LOG_FIRST] = log[FS_LOG_MIDDLE] = after;
    log[FS_LOG_CACHED]--;
}

#endif
