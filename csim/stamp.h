/* Stamped pages: what `flashsim replay prepare` fills a target with, so that a read can prove what it brought.
 *
 * A stamp is 4,096 bytes, little-endian, at byte offset number * 4096 of its target:
 *     0   magic
 *     8   number of the stamp in the target, whatever the page size of a trace is
 *     16  seed of the target
 *     24  checksum: XXH64 of the 4,064 bytes that follow, seeded with the key
 *     32  word i = mix13(key + (i + 1) * golden), the SplitMix64 sequence that starts at the key
 * where key = mix13(mix13(seed) + number): number and seed are under the checksum too. No two pages are alike, and
 * nothing compresses. XXH64: Y. Collet, xxHash specification 0.1.1 (2018).
 */
#ifndef FS_STAMP_H
#define FS_STAMP_H
#include "csim.h"
#include "mix64.h"

#define FS_STAMP_MAGIC 0x31656761506D6973u /* "simPage1" */
#define FS_STAMP_GOLDEN 0x9E3779B97F4A7C15u

enum { FS_STAMP_HEADER = 4, FS_STAMP_WORDS = FS_STAMP_BYTES / 8 };

static inline uint64_t fs_stamp_word(const void *page, int word)
{
    uint64_t read;
    memcpy(&read, (const char *)page + 8 * word, 8);
    return read;
}

/* The number that a page says it has; worth something only where its state is FS_STAMP_OTHER_PAGE or _SEED. */
static inline uint64_t fs_stamp_number(const void *page)
{
    return fs_stamp_word(page, 1);
}

static inline uint64_t fs_stamp_key(uint64_t number, uint64_t seed)
{
    return fs_mix13(fs_mix13(seed) + number);
}

#define FS_XXH_1 0x9E3779B185EBCA87u
#define FS_XXH_2 0xC2B2AE3D27D4EB4Fu
#define FS_XXH_3 0x165667B19E3779F9u
#define FS_XXH_4 0x85EBCA77C2B2AE63u

static inline uint64_t fs_xxh_rotated(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline uint64_t fs_xxh_round(uint64_t lane, uint64_t word)
{
    return fs_xxh_rotated(lane + word * FS_XXH_2, 31) * FS_XXH_1;
}

/* XXH64 of the words behind the header: 127 stripes of 4, so that there is no tail. */
static inline uint64_t fs_stamp_checksum(const void *page, uint64_t key)
{
    uint64_t lane[4] = {key + FS_XXH_1 + FS_XXH_2, key + FS_XXH_2, key, key - FS_XXH_1};
    for (int word = FS_STAMP_HEADER; word < FS_STAMP_WORDS; word += 4)
        for (int k = 0; k < 4; k++)
            lane[k] = fs_xxh_round(lane[k], fs_stamp_word(page, word + k));
    uint64_t h = fs_xxh_rotated(lane[0], 1) + fs_xxh_rotated(lane[1], 7) + fs_xxh_rotated(lane[2], 12) +
                 fs_xxh_rotated(lane[3], 18);
    for (int k = 0; k < 4; k++)
        h = (h ^ fs_xxh_round(0, lane[k])) * FS_XXH_1 + FS_XXH_4;
    h += (FS_STAMP_WORDS - FS_STAMP_HEADER) * 8;
    h = (h ^ h >> 33) * FS_XXH_2;
    h = (h ^ h >> 29) * FS_XXH_3;
    return h ^ h >> 32;
}

/* What the FS_STAMP_BYTES at `page` are, where the stamp `number` of a target with this seed is expected. */
static inline int fs_stamp_check(const void *page, uint64_t number, uint64_t seed)
{
    const uint64_t held = fs_stamp_number(page), held_seed = fs_stamp_word(page, 2);
    if (fs_stamp_word(page, 0) != FS_STAMP_MAGIC) {
        for (int word = 0; word < FS_STAMP_WORDS; word++)
            if (fs_stamp_word(page, word))
                return FS_STAMP_FOREIGN;
        return FS_STAMP_ZERO;
    }
    if (fs_stamp_checksum(page, fs_stamp_key(held, held_seed)) != fs_stamp_word(page, 3))
        return FS_STAMP_DAMAGED;
    return held_seed != seed ? FS_STAMP_OTHER_SEED : held != number ? FS_STAMP_OTHER_PAGE : FS_STAMP_GOOD;
}

#endif
