/* What the kernel says of a file that is to be read past the page cache. By raw system calls: the C library's headers
 * may be older than the kernel. */
#define _GNU_SOURCE
#include "csim.h"

#include <errno.h>

#ifdef __linux__
#include <sys/syscall.h>
#if !defined(SYS_statx) && defined(__x86_64__)
#define SYS_statx 332
#elif !defined(SYS_statx) && defined(__aarch64__)
#define SYS_statx 291
#endif
#endif

#ifdef SYS_statx
#include <fcntl.h>
#include <unistd.h>

/* Of the kernel's include/uapi/linux/stat.h (6.1) and mman.h (6.5). */
enum { STATX_DIOALIGN_BIT = 0x2000, DIO_MEM_ALIGN = 0x98, DIO_OFFSET_ALIGN = 0x9c };
enum { CACHESTAT_CALL = 451 }; /* on every architecture but Alpha */

int fs_dio_align(int fd, uint32_t *memory, uint32_t *offset)
{
    uint32_t statx[64] = {0};
    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_DIOALIGN_BIT, statx) < 0)
        return -errno;
    *memory = statx[DIO_MEM_ALIGN / 4];
    *offset = statx[DIO_OFFSET_ALIGN / 4];
    return (statx[0] & STATX_DIOALIGN_BIT) != 0;
}

int64_t fs_cached_pages(int fd)
{
    const uint64_t whole[2] = {0, 0};
    uint64_t pages[5]; /* cached, dirty, written back, evicted, recently evicted */
    if (syscall(CACHESTAT_CALL, fd, whole, pages, 0) < 0)
        return -errno;
    return (int64_t)pages[0];
}

int fs_allocate(int fd, int64_t bytes)
{
    return fallocate(fd, 0, 0, bytes) ? -errno : 0;
}
#else
int fs_dio_align(int fd, uint32_t *memory, uint32_t *offset)
{
    return (void)fd, (void)memory, (void)offset, -ENOSYS;
}

int64_t fs_cached_pages(int fd)
{
    return (void)fd, -ENOSYS;
}

int fs_allocate(int fd, int64_t bytes)
{
    return (void)fd, (void)bytes, -ENOSYS;
}
#endif
