/* Stamped pages in blocks. What a stamp holds is said in stamp.h. */
#include "stamp.h"

#include <errno.h>

int fs_stamp_fill(uint8_t *block, uint64_t first, int64_t pages, uint64_t seed)
{
    if (pages < 0)
        return -EINVAL;
    for (int64_t at = 0; at < pages; at++) {
        uint8_t *page = block + at * FS_STAMP_BYTES;
        const uint64_t number = first + (uint64_t)at, key = fs_stamp_key(number, seed);
        uint64_t state = key;
        for (int word = FS_STAMP_HEADER; word < FS_STAMP_WORDS; word++) {
            const uint64_t drawn = fs_mix13(state += FS_STAMP_GOLDEN);
            memcpy(page + 8 * word, &drawn, 8);
        }
        const uint64_t header[FS_STAMP_HEADER] = {FS_STAMP_MAGIC, number, seed, fs_stamp_checksum(page, key)};
        memcpy(page, header, sizeof header);
    }
    return 0;
}

int64_t fs_stamp_check_pages(const uint8_t *block, uint64_t first, int64_t pages, uint64_t seed, uint8_t *states)
{
    if (pages < 0)
        return -EINVAL;
    int64_t bad = 0;
    for (int64_t at = 0; at < pages; at++) {
        states[at] = (uint8_t)fs_stamp_check(block + at * FS_STAMP_BYTES, first + (uint64_t)at, seed);
        bad += states[at] != FS_STAMP_GOOD;
    }
    return bad;
}
