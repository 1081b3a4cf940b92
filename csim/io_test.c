/* Engine `test`: `null`, but in another order, late, or wrong, as struct fs_replay_faults asks. For tests. */
#include "io.h"
#include "mix64.h"

#include <stdlib.h>
#include <unistd.h>

struct test {
    uint64_t completions, draws;
    uint32_t held; /* reads sent, oldest first */
    uint32_t slots[FS_REPLAY_READS];
};

static int available(void)
{
    return 0;
}

static int open_test(struct fs_replay *replay)
{
    if (!replay->faults)
        return -EINVAL;
    if (replay->faults->open_error)
        return -replay->faults->open_error;
    replay->own = calloc(1, sizeof(struct test));
    return replay->own ? 0 : -ENOMEM;
}

static void note(struct fs_replay_faults *faults, uint64_t event)
{
    if (faults->events_count < faults->events_room)
        faults->events[faults->events_count++] = event;
}

/* What the read of a slot gives: its bytes, or a fault. */
static int64_t read_slot(struct fs_replay *replay, uint32_t number)
{
    const struct fs_replay_faults *faults = replay->faults;
    struct test *test = replay->own;
    const struct fs_slot *slot = &replay->slots[number];
    int64_t bytes = replay->plan.page_bytes - slot->filled;
    if (faults->every && ++test->completions % faults->every == 0) {
        if (faults->error)
            return -faults->error;
        bytes = faults->short_bytes < bytes ? faults->short_bytes : bytes;
    }
    if (replay->fd < 0)
        return bytes;
    const int64_t got = pread(replay->fd, fs_buffer(replay, number) + slot->filled, (size_t)bytes,
                              (off_t)(slot->offset + slot->filled));
    return got < 0 ? -errno : got;
}

static int run(struct fs_replay *replay, uint64_t until_ns)
{
    struct fs_replay_faults *faults = replay->faults;
    struct test *test = replay->own;
    for (uint64_t now = fs_now(); now < until_ns && !fs_over(replay); now = fs_now()) {
        for (int64_t slot; (slot = fs_take(replay, now)) >= 0;) {
            note(faults, (uint64_t)replay->slots[slot].index);
            test->slots[test->held++] = (uint32_t)slot;
        }
        if (!test->held) {
            fs_doze(fs_patience(replay, now, until_ns));
            continue;
        }
        uint32_t at = 0;
        if (!faults->delay_ns)
            at = (uint32_t)(fs_mix13(faults->seed + ++test->draws * 0x9E3779B97F4A7C15u) % test->held);
        else if (now - replay->slots[test->slots[0]].sent_ns < faults->delay_ns)
            continue;
        const uint32_t slot = test->slots[at];
        const uint64_t index = (uint64_t)replay->slots[slot].index;
        const int64_t result = read_slot(replay, slot);
        fs_verify(replay, slot, result);
        if (fs_finish(replay, slot, result, now))
            continue;
        note(faults, index | (uint64_t)1 << 63);
        test->held--;
        for (uint32_t k = at; k < test->held; k++)
            test->slots[k] = test->slots[k + 1];
    }
    return 0;
}

static void close_test(struct fs_replay *replay)
{
    free(replay->own);
}

const struct fs_engine fs_io_test = {"test", available, open_test, run, close_test};
