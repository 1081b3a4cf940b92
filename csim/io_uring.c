/* Engine `io_uring`: one ring, driven by the thread that opened it. Built where liburing is. */
#include "io.h"

#ifdef FS_HAVE_LIBURING
#include <liburing.h>
#include <stdlib.h>

struct uring {
    struct io_uring ring;
    int fixed, file; /* registered */
    uint32_t burst;  /* reads sent by one system call; grows while all of them complete in that call (page cache) */
};

static int init(struct io_uring *ring, uint32_t reads, uint32_t *notes)
{
    const unsigned wished[] = {IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
                               IORING_SETUP_COOP_TASKRUN, 0};
    int code = io_uring_queue_init(reads, ring, wished[0]);
    for (int k = 1; k < 3 && code == -EINVAL; k++) {
        code = io_uring_queue_init(reads, ring, wished[k]);
        *notes |= FS_NOTE_FLAGS;
    }
    if (!code && !(ring->features & IORING_FEAT_EXT_ARG)) { /* Linux 5.11: a wait that ends in time */
        io_uring_queue_exit(ring);
        return -ENOSYS;
    }
    return code;
}

static int available(void)
{
    struct io_uring ring;
    uint32_t notes = 0;
    const int code = init(&ring, 1, &notes);
    if (!code)
        io_uring_queue_exit(&ring);
    return code;
}

/* Reads that one system call sends to a drive. Were it all that there is room for, reads would come and go in step and
 * the drive wait in between; one by one costs the most CPU. Measured on virtio-blk: see tests/bench/replay.py. */
static uint32_t least_burst(const struct fs_replay *replay)
{
    const uint32_t share = replay->plan.max_reads / 8;
    return share > 3 ? share : 3;
}

static int open_uring(struct fs_replay *replay)
{
    struct uring *own = calloc(1, sizeof *own);
    if (!own)
        return -ENOMEM;
    const int code = init(&own->ring, replay->plan.max_reads, &replay->total.notes);
    if (code) {
        free(own);
        return code;
    }
    const struct iovec arena = {replay->arena, replay->arena_bytes};
    own->fixed = !io_uring_register_buffers(&own->ring, &arena, 1);
    own->file = !io_uring_register_files(&own->ring, &replay->fd, 1);
    replay->total.notes |= (own->fixed ? 0 : FS_NOTE_BUFFERS) | (own->file ? 0 : FS_NOTE_FILE);
    own->burst = least_burst(replay);
    replay->own = own;
    return 0;
}

static void queue(struct fs_replay *replay, uint32_t number)
{
    struct uring *own = replay->own;
    const struct fs_slot *slot = &replay->slots[number];
    struct io_uring_sqe *sqe = io_uring_get_sqe(&own->ring); /* never NULL: as many entries as reads */
    char *to = fs_buffer(replay, number) + slot->filled;
    const uint32_t bytes = replay->plan.page_bytes - slot->filled;
    const uint64_t offset = slot->offset + slot->filled;
    const int fd = own->file ? 0 : replay->fd;
    if (own->fixed)
        io_uring_prep_read_fixed(sqe, fd, to, bytes, offset, 0);
    else
        io_uring_prep_read(sqe, fd, to, bytes, offset);
    if (own->file)
        sqe->flags |= IOSQE_FIXED_FILE;
    sqe->user_data = number;
}

/* Sends what is queued. wait_ns: how long to wait for a completion, 0 = look only. */
static int enter(struct fs_replay *replay, uint64_t wait_ns)
{
    struct uring *own = replay->own;
    struct io_uring_cqe *cqe;
    struct __kernel_timespec wait = {(int64_t)(wait_ns / 1000000000u), (long long)(wait_ns % 1000000000u)};
    replay->total.enters++;
    const int code = wait_ns ? io_uring_submit_and_wait_timeout(&own->ring, &cqe, 1, &wait, NULL)
                             : io_uring_submit_and_get_events(&own->ring);
    return code >= 0 || code == -ETIME || code == -EINTR || code == -EAGAIN || code == -EBUSY ? 0 : code;
}

static void reap(struct fs_replay *replay)
{
    struct uring *own = replay->own;
    struct io_uring_cqe *cqe;
    unsigned head, count = 0;
    const uint64_t now = fs_now();
    io_uring_for_each_cqe(&own->ring, head, cqe)
    {
        const uint32_t number = (uint32_t)cqe->user_data;
        fs_verify(replay, number, cqe->res);
        if (fs_finish(replay, number, cqe->res, now))
            queue(replay, number);
        count++;
    }
    io_uring_cq_advance(&own->ring, count);
}

static int run_uring(struct fs_replay *replay, uint64_t until_ns)
{
    struct uring *own = replay->own;
    for (uint64_t now = fs_now(); now < until_ns && !fs_over(replay); now = fs_now()) {
        int64_t slot;
        for (uint32_t queued = 0; queued < own->burst && (slot = fs_take(replay, now)) >= 0; queued++)
            queue(replay, (uint32_t)slot);
        const uint64_t patience = fs_patience(replay, now, until_ns);
        if (!replay->in_flight) {
            fs_doze(patience);
            continue;
        }
        const int code = enter(replay, patience);
        if (code)
            return code;
        reap(replay);
        if (replay->in_flight)
            own->burst = least_burst(replay);
        else if (!patience && own->burst < replay->plan.max_reads)
            own->burst *= 2;
    }
    return 0;
}

static void close_uring(struct fs_replay *replay)
{
    struct uring *own = replay->own;
    while (replay->in_flight && !enter(replay, FS_REPLAY_SLICE))
        reap(replay);
    io_uring_queue_exit(&own->ring);
    free(own);
}

const struct fs_engine fs_io_uring = {"io_uring", available, open_uring, run_uring, close_uring};

#else

static int not_built(void)
{
    return -EOPNOTSUPP;
}

const struct fs_engine fs_io_uring = {"io_uring", not_built, NULL, NULL, NULL};

#endif
