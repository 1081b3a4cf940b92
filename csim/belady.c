/* Belady's MIN, and the next uses it needs. See flashsim/cache/belady.py.
 *
 * Next uses are distinct, so the cache is a set of times: mark t is set while a cached page is next used at t, an access
 * at t hits if mark t is set, and the page to evict is that of the highest mark.
 *   slot      64-bit words, two of its fields each: a mark for each time, then, level by level up to a single word, a bit
 *             for each word of the level below that is not zero
 *   reg[1]    cached pages that are never used again
 *   reg[2]    cached pages
 *   reg[3]    time: references so far
 *   reg[4]    references in all, for which there are marks
 */
#include "policy.h"

#define NEVER UINT32_MAX
#define AHEAD_LINK 24 /* references, FS_AHEAD being for the page that leads to the link */

int fs_next_use(const uint32_t *trace, int64_t count, uint64_t pages, uint32_t *last, uint32_t *uses, int64_t first)
{
    if (count < 0 || first < 0 || first + count > NEVER - 1 || pages > UINT32_MAX)
        return -EINVAL;
    for (int64_t t = 0; t < count; t++) {
        const uint64_t far = trace[t + FS_AHEAD < count ? t + FS_AHEAD : t];
        const uint64_t near = trace[t + AHEAD_LINK < count ? t + AHEAD_LINK : t];
        if (trace[t] >= pages)
            return -ERANGE;
        __builtin_prefetch(&last[far], 1);
        if (near < pages && last[near])
            __builtin_prefetch(&uses[last[near] - 1], 1);
        const uint32_t now = (uint32_t)(first + t), before = last[trace[t]];
        if (before)
            uses[before - 1] = now;
        last[trace[t]] = now + 1;
        uses[now] = NEVER;
    }
    return 0;
}

enum { LEVELS = 6 }; /* 64^6 > 2^32 */

struct marks {
    uint64_t *level[LEVELS];
    int top;
};

static inline void set(const struct marks *marks, uint64_t time)
{
    for (int level = 0; level <= marks->top; level++, time /= 64) {
        const uint64_t word = marks->level[level][time / 64];
        marks->level[level][time / 64] = word | UINT64_C(1) << time % 64;
        if (word)
            return;
    }
}

static inline void clear(const struct marks *marks, uint64_t time)
{
    for (int level = 0; level <= marks->top; level++, time /= 64)
        if (marks->level[level][time / 64] &= ~(UINT64_C(1) << time % 64))
            return;
}

static inline uint64_t highest(const struct marks *marks)
{
    uint64_t at = 0;
    for (int level = marks->top; level >= 0; level--)
        at = at * 64 + 63 - (uint64_t)__builtin_clzll(marks->level[level][at]);
    return at;
}

int fs_min_run(struct fs_policy *policy, const uint32_t *uses, int64_t count, uint8_t *missed)
{
    const int64_t begin = policy->reg[3], references = policy->reg[4];
    if (count < 0 || policy->capacity < 1 || begin < 0 || references < begin || references > NEVER - 1)
        return -EINVAL;
    struct marks marks = {.top = -1};
    uint64_t words = (uint64_t)references, used = 0;
    do {
        words = (words + 63) / 64;
        marks.level[++marks.top] = (uint64_t *)(void *)policy->slot + used;
        used += words;
    } while (words > 1);
    if (used > policy->slots)
        return -EINVAL;
    int64_t misses = 0, never = policy->reg[1], cached = policy->reg[2], t = 0;
    for (; t < count; t++) {
        const int64_t now = begin + t, use = uses[t], ahead = uses[t + FS_AHEAD < count ? t + FS_AHEAD : t];
        if (now >= references || use <= now || (use >= references && use != NEVER))
            break;
        __builtin_prefetch(&marks.level[0][(ahead < references ? ahead : 0) / 64], 1);
        const int miss = !(marks.level[0][now / 64] >> now % 64 & 1);
        if (!miss)
            clear(&marks, (uint64_t)now);
        else if ((uint64_t)cached < policy->capacity)
            cached++;
        else if (never)
            never--;
        else
            clear(&marks, highest(&marks));
        if (use == NEVER)
            never++;
        else
            set(&marks, (uint64_t)use);
        misses += miss;
        if (missed)
            missed[t] = (uint8_t)miss;
    }
    policy->reg[0] += misses, policy->reg[1] = never, policy->reg[2] = cached, policy->reg[3] = begin + t;
    return t < count ? -ERANGE : 0;
}
