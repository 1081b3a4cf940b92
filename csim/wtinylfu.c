/* W-TinyLFU. See flashsim/cache/wtinylfu.py.
 *
 *   log 0     the window
 *   log 1     the main part's probation
 *   log 2     the main part's protected pages
 *   reg[1]    pages of the window
 *   reg[2]    protected pages
 *   reg[3]    reads that the sketch counted, halved with it
 *   reg[4]    at which number it is halved
 *   reg[5]    where the sketch begins in slot
 *   reg[6]    its blocks - 1; their number is a power of two. A block is four rows of 32 counters of 4 bits
 */
#define FS_VALID(policy) wtinylfu_fits(policy)
#define FS_PREFETCH prefetch_block
#include "log.h"
#include "mix64.h"

enum { WINDOW, PROBATION, PROTECTED };
enum { ROWS = 4, ROW_WORDS = 4, MOST = 15 };

static inline int wtinylfu_fits(const struct fs_policy *policy)
{
    const int64_t *reg = policy->reg, blocks = reg[6] + 1;
    return reg[1] >= 1 && (uint64_t)reg[1] <= policy->capacity && reg[2] >= 0 && reg[4] >= 1 && reg[5] >= 0 &&
           blocks >= 1 && !(blocks & reg[6]) &&
           (uint64_t)(reg[5] + blocks * ROWS * ROW_WORDS) <= policy->slots &&
           fs_log_fits(policy, WINDOW, (uint64_t)reg[1] + 1) &&
           fs_log_fits(policy, PROBATION, policy->capacity - (uint64_t)reg[1] + 1) &&
           fs_log_fits(policy, PROTECTED, (uint64_t)reg[2] + 1);
}

/* A page has one counter in each row of one block. */
static inline uint32_t *block_of(const struct fs_policy *policy, uint64_t hash)
{
    return policy->slot + policy->reg[5] + (int64_t)(hash & (uint64_t)policy->reg[6]) * ROWS * ROW_WORDS;
}

static inline void prefetch_block(const struct fs_policy *policy, uint32_t page)
{
    __builtin_prefetch(block_of(policy, fs_mix13(page)), 1);
}

static inline uint32_t *word_of(uint32_t *block, uint64_t hash, int row)
{
    return block + row * ROW_WORDS + (hash >> (47 + 5 * row) & 3);
}

static inline int shift_of(uint64_t hash, int row)
{
    return (int)(hash >> (44 + 5 * row) & 7) * 4;
}

static inline uint32_t reads_of(uint32_t *block, uint64_t hash)
{
    uint32_t reads = MOST;
    for (int row = 0; row < ROWS; row++) {
        const uint32_t counter = *word_of(block, hash, row) >> shift_of(hash, row) & MOST;
        reads = counter < reads ? counter : reads;
    }
    return reads;
}

static inline uint32_t estimate(const struct fs_policy *policy, uint32_t page)
{
    const uint64_t hash = fs_mix13(page);
    return reads_of(block_of(policy, hash), hash);
}

static inline void count_read(const struct fs_policy *policy, uint32_t page)
{
    const uint64_t hash = fs_mix13(page);
    uint32_t *block = block_of(policy, hash);
    const uint32_t reads = reads_of(block, hash);
    for (int row = 0; row < ROWS && reads < MOST; row++) {
        uint32_t *word = word_of(block, hash, row);
        *word += (uint32_t)((*word >> shift_of(hash, row) & MOST) == reads) << shift_of(hash, row);
    }
    if (++policy->reg[3] >= policy->reg[4]) {
        const int64_t words = (policy->reg[6] + 1) * ROWS * ROW_WORDS;
        for (int64_t at = policy->reg[5]; at < policy->reg[5] + words; at++)
            policy->slot[at] = policy->slot[at] >> 1 & 0x77777777;
        policy->reg[3] /= 2;
    }
}

/* The oldest page of a log moves to probation. */
static inline void move_oldest(const struct fs_policy *policy, uint32_t log)
{
    const uint32_t page = fs_page(policy, log, fs_oldest(policy, log));
    fs_evict(policy, log);
    fs_enter(policy, PROBATION, page);
}

static inline int wtinylfu(struct fs_policy *policy, uint32_t page)
{
    const struct fs_place place = fs_find(policy, page);
    const int64_t *reg = policy->reg;
    const int64_t *probation = fs_log(policy, PROBATION), *protected = fs_log(policy, PROTECTED);
    count_read(policy, page);
    if (place.cached) {
        fs_leave(policy, place);
        fs_enter(policy, place.log == WINDOW ? WINDOW : PROTECTED, page);
        if (protected[FS_LOG_CACHED] > reg[2])
            move_oldest(policy, PROTECTED);
        return 0;
    }
    fs_enter(policy, WINDOW, page);
    if (fs_log(policy, WINDOW)[FS_LOG_CACHED] <= reg[1])
        return 1;
    const int64_t used = probation[FS_LOG_CACHED] + protected[FS_LOG_CACHED];
    if ((uint64_t)(reg[1] + used) < policy->capacity) {
        move_oldest(policy, WINDOW);
        return 1;
    }
    const uint32_t candidate = fs_page(policy, WINDOW, fs_oldest(policy, WINDOW));
    if (used) {
        const uint32_t log = probation[FS_LOG_CACHED] ? PROBATION : PROTECTED;
        if (estimate(policy, candidate) > estimate(policy, fs_page(policy, log, fs_oldest(policy, log)))) {
            fs_evict(policy, log);
            move_oldest(policy, WINDOW);
            return 1;
        }
    }
    fs_evict(policy, WINDOW);
    return 1;
}

FS_POLICY(wtinylfu, 2)
