/* Engine `null`: a read completes as it is sent, and reads nothing. What remains is the cost of the loop. */
#include "io.h"

enum { BATCH = 64 };

static int available(void)
{
    return 0;
}

static int open_null(struct fs_replay *replay)
{
    return replay->plan.verify ? -EINVAL : 0;
}

static int run(struct fs_replay *replay, uint64_t until_ns)
{
    uint32_t batch[BATCH];
    for (uint64_t now = fs_now(); now < until_ns && !fs_over(replay); now = fs_now()) {
        int64_t slot;
        int count = 0;
        while (count < BATCH && (slot = fs_take(replay, now)) >= 0)
            batch[count++] = (uint32_t)slot;
        if (!count)
            fs_doze(fs_patience(replay, now, until_ns));
        const uint64_t done = count ? fs_now() : now;
        for (int k = 0; k < count; k++)
            fs_finish(replay, batch[k], replay->plan.page_bytes, done);
    }
    return 0;
}

static void close_null(struct fs_replay *replay)
{
    (void)replay;
}

const struct fs_engine fs_io_null = {"null", available, open_null, run, close_null};
