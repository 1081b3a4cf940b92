/* The replay's state, what decides which read is sent next, and the table of engines. See csim.h for what it means.
 *
 * An engine takes reads with fs_take, has them read into fs_buffer, and gives each back with fs_verify and fs_finish. The
 * state is not shared, but for the engine `threads`, which holds `lock` around fs_take and fs_finish. */
#ifndef FS_IO_H
#define FS_IO_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clocks, pread: include this before any other header */
#endif
#include "histogram.h"
#include "stamp.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define FS_NEVER UINT64_MAX
#define FS_LATE 60000u /* ns that a timer may come late: the kernel's default slack and a wake-up */
#define FS_TRIES 3    /* a read is sent again after EINTR or EAGAIN */
#define FS_EMPTY 1024 /* groups without reads, after which the engine looks at the clock */

struct fs_slot {        /* a read in flight */
    uint64_t sent_ns;
    uint64_t offset;    /* in the target */
    int64_t index;      /* in plan.pages */
    uint32_t group;     /* in groups */
    uint32_t filled;    /* bytes that have come */
    uint16_t tries;
    uint8_t check;      /* its stamp is wanted */
    uint8_t bad_state;
    uint64_t bad_number, bad_held;
};

struct fs_group {      /* a group in flight */
    uint64_t began_ns;
    int64_t lookups;
    int64_t left;      /* reads not complete */
};

struct fs_replay {
    struct fs_replay_plan plan;
    const struct fs_engine *engine;
    void *own;                 /* the engine's */
    struct fs_replay_faults *faults;
    int fd;
    pthread_mutex_t lock;

    char *arena;               /* [max_reads][page_bytes], 4 KiB aligned */
    uint64_t arena_bytes;
    struct fs_slot *slots;     /* [max_reads], with the free ones' numbers */
    uint32_t *free_slots;
    struct fs_group *groups;   /* [max_reads], likewise: as one starts, every other has a read in flight */
    uint32_t *free_groups;
    uint32_t in_flight, groups_in_flight, most_groups;

    int64_t group, read, end;  /* next group to start; next read to send, and where the group it belongs to ends */
    uint32_t sending;          /* that group's place in groups */
    int64_t started, limit;    /* lookups */
    uint64_t wake_ns;          /* when fs_take may give more though no read completes: 0 = now, or FS_NEVER */
    uint32_t until_check;      /* reads before the next whose stamp is wanted */

    uint64_t start_ns, end_ns; /* of the first slice, of the last */
    uint64_t sent_sum;         /* of sent_ns of the reads in flight; wraps */
    int failed;                /* 0, or the -errno that ended the replay */
    struct fs_replay_result total;
};

struct fs_engine {
    const char *name;
    int (*available)(void);
    int (*open)(struct fs_replay *replay);
    int (*run)(struct fs_replay *replay, uint64_t until_ns); /* until then, or fs_over; 0 or -errno */
    void (*close)(struct fs_replay *replay);                 /* after the reads in flight */
};

extern const struct fs_engine fs_io_null, fs_io_threads, fs_io_uring, fs_io_test;

static inline uint64_t fs_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline char *fs_buffer(const struct fs_replay *replay, uint32_t slot)
{
    return replay->arena + (uint64_t)slot * replay->plan.page_bytes;
}

/* Nothing is in flight and nothing may start before the limit is raised. */
static inline int fs_over(const struct fs_replay *replay)
{
    return replay->failed || (!replay->in_flight && replay->read == replay->end && replay->started >= replay->limit);
}

/* The number of a read to send, or -1: none now, see wake_ns. */
int64_t fs_take(struct fs_replay *replay, uint64_t now);
/* Checks the stamps of a read that `result` more bytes complete, if that is wanted. Needs no lock. */
void fs_verify(struct fs_replay *replay, uint32_t slot, int64_t result);
/* result: bytes read or -errno. Returns whether the rest of the read, from `filled` on, is to be sent again. */
int fs_finish(struct fs_replay *replay, uint32_t slot, int64_t result, uint64_t now);
/* How long (ns) to wait for a completion after fs_take: until wake_ns or until_ns, less what a timer may come late. */
uint64_t fs_patience(const struct fs_replay *replay, uint64_t now, uint64_t until_ns);
void fs_doze(uint64_t ns);

#endif
