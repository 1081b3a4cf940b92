/* Stamped pages: a filled block is good, and whatever is done to a page of it is told. And what is asked of files. */
#define _POSIX_C_SOURCE 200809L /* fileno */
#include "check.h"
#include "stamp.h"

#include <errno.h>
#include <stdio.h>

int check_target(void)
{
    const int64_t pages = (int64_t)draw(5);
    const uint64_t first = draw(2) ? draw(1000) : UINT64_MAX - draw(3), seed = draw(2) ? draw(3) : draw(UINT64_MAX);
    uint8_t *block = malloc((size_t)pages * FS_STAMP_BYTES + 1), *states = malloc((size_t)pages + 1);
    if (!block || !states)
        abort();
    int good = fs_stamp_fill(block + 1, first, pages, seed) == 0; /* no alignment is asked for */
    good = good && fs_stamp_check_pages(block + 1, first, pages, seed, states) == 0;
    good = good && fs_stamp_check_pages(block + 1, first + 1, pages, seed, states) == pages;
    good = good && (!pages || states[pages - 1] == FS_STAMP_OTHER_PAGE);
    good = good && fs_stamp_check_pages(block + 1, first, pages, seed ^ 1, states) == pages;
    good = good && (!pages || states[0] == FS_STAMP_OTHER_SEED);
    if (pages && good) {
        const uint64_t bad = draw((uint64_t)pages), at = draw(FS_STAMP_BYTES);
        uint8_t *page = block + 1 + bad * FS_STAMP_BYTES;
        page[at] ^= (uint8_t)(1 + draw(255));
        good = fs_stamp_check_pages(block + 1, first, pages, seed, states) == 1 &&
               states[bad] == (at < 8 ? FS_STAMP_FOREIGN : FS_STAMP_DAMAGED);
        memset(page, 0, FS_STAMP_BYTES);
        good = good && fs_stamp_check(page, first + bad, seed) == FS_STAMP_ZERO;
    }
    good = good && fs_stamp_fill(block, 0, -1, 0) == -EINVAL && fs_stamp_check_pages(block, 0, -1, 0, states) == -EINVAL;
    free(block), free(states);

    FILE *file = tmpfile();
    uint32_t memory = 0, offset = 0;
    good = good && fs_dio_align(-1, &memory, &offset) < 0 && fs_cached_pages(-1) < 0 && fs_allocate(-1, 1) < 0;
    if (file) {
        good = good && fs_dio_align(fileno(file), &memory, &offset) <= 1 && fs_cached_pages(fileno(file)) <= 0;
        good = good && fs_allocate(fileno(file), 0) == -EINVAL && fs_allocate(fileno(file), 4096) <= 0;
        fclose(file);
    }
    return good;
}
