/* The stamp of a target's page. */
#ifndef FS_STAMP_H
#define FS_STAMP_H
#include <stdint.h>

static inline int fs_stamp_check(const void *page, uint64_t number, uint64_t seed)
{
    (void)page, (void)number, (void)seed;
    return 0;
}

#endif
