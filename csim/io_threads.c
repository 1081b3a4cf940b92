/* Engine `threads`: as many workers as reads in flight, each in pread. A worker that has finished a read takes the next one
 * itself, so that no read is handed from thread to thread while there is a next one. `lock` guards the replay. */
#include "io.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_WORKERS = 256, STACK_BYTES = 256 << 10, MOST_WOKEN = 4 };

struct threads {
    pthread_cond_t work, news; /* for idle workers; for the thread that runs the slice */
    int running, closing, spinning;
    uint32_t idle, count;
    pthread_t workers[MOST_WORKERS];
};

static int available(void)
{
    return 0;
}

/* Reads a slot until it is complete or has failed. */
static void read_slot(struct fs_replay *replay, uint32_t number)
{
    const struct fs_slot *slot = &replay->slots[number];
    int again;
    do {
        const int64_t got = pread(replay->fd, fs_buffer(replay, number) + slot->filled,
                                  replay->plan.page_bytes - slot->filled, (off_t)(slot->offset + slot->filled));
        const int64_t result = got < 0 ? -errno : got;
        const uint64_t now = fs_now();
        fs_verify(replay, number, result);
        pthread_mutex_lock(&replay->lock);
        replay->total.enters++;
        again = fs_finish(replay, number, result, now);
        if (again)
            pthread_mutex_unlock(&replay->lock);
    } while (again);
}

/* Waits, having found nothing to take. One worker spins where a group is due soon. */
static void idle(struct fs_replay *replay, uint64_t now)
{
    struct threads *own = replay->own;
    if (own->running && !own->spinning) {
        if (replay->wake_ns <= now + FS_LATE) {
            own->spinning = 1;
            pthread_mutex_unlock(&replay->lock);
            sched_yield();
            pthread_mutex_lock(&replay->lock);
            own->spinning = 0;
            return;
        }
        if (replay->wake_ns != FS_NEVER || fs_over(replay))
            pthread_cond_signal(&own->news);
    }
    own->idle++;
    pthread_cond_wait(&own->work, &replay->lock);
    own->idle--;
}

/* How many idle workers to wake for what is left to be taken; those wake others in their turn. */
static uint32_t helpers(const struct fs_replay *replay)
{
    const struct threads *own = replay->own;
    const int64_t left = replay->end - replay->read;
    const uint32_t most = left > MOST_WOKEN ? MOST_WOKEN : left ? (uint32_t)left : 1;
    return replay->wake_ns ? 0 : own->idle < most ? own->idle : most;
}

static void *work(void *argument)
{
    struct fs_replay *replay = argument;
    struct threads *own = replay->own;
    pthread_mutex_lock(&replay->lock);
    while (!own->closing) {
        const uint64_t now = fs_now();
        const int64_t slot = own->running ? fs_take(replay, now) : -1;
        if (slot < 0) {
            idle(replay, now);
            continue;
        }
        const uint32_t more = helpers(replay);
        pthread_mutex_unlock(&replay->lock);
        for (uint32_t k = 0; k < more; k++)
            pthread_cond_signal(&own->work);
        read_slot(replay, (uint32_t)slot);
    }
    pthread_mutex_unlock(&replay->lock);
    return NULL;
}

static void close_threads(struct fs_replay *replay)
{
    struct threads *own = replay->own;
    pthread_mutex_lock(&replay->lock);
    own->closing = 1;
    pthread_mutex_unlock(&replay->lock);
    pthread_cond_broadcast(&own->work);
    for (uint32_t k = 0; k < own->count; k++)
        pthread_join(own->workers[k], NULL);
    pthread_cond_destroy(&own->work), pthread_cond_destroy(&own->news);
    free(own);
}

static int open_threads(struct fs_replay *replay)
{
    struct threads *own = calloc(1, sizeof *own);
    if (!own)
        return -ENOMEM;
    replay->own = own;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
#ifndef __APPLE__
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
#endif
    pthread_cond_init(&own->news, &clock);
    pthread_cond_init(&own->work, NULL);
    pthread_condattr_destroy(&clock);
    sigset_t all, before; /* signals are for the caller's threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const uint32_t wished = replay->plan.max_reads;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    while (own->count < wished && own->count < MOST_WORKERS &&
           !pthread_create(&own->workers[own->count], &small, work, replay))
        own->count++;
    pthread_attr_destroy(&small);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!own->count) {
        close_threads(replay);
        return -EAGAIN;
    }
    replay->total.notes |= own->count < wished ? FS_NOTE_WORKERS : 0;
    return 0;
}

static void await_news(struct fs_replay *replay, uint64_t now, uint64_t until_ns)
{
    struct threads *own = replay->own;
#ifdef __APPLE__ /* waits by the time of day, or for a time */
    const uint64_t ns = until_ns - now;
    const struct timespec most = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    pthread_cond_timedwait_relative_np(&own->news, &replay->lock, &most);
#else
    (void)now;
    const struct timespec then = {(time_t)(until_ns / 1000000000u), (long)(until_ns % 1000000000u)};
    pthread_cond_timedwait(&own->news, &replay->lock, &then);
#endif
}

static int run_threads(struct fs_replay *replay, uint64_t until_ns)
{
    struct threads *own = replay->own;
    pthread_mutex_lock(&replay->lock);
    own->running = 1;
    replay->wake_ns = 0; /* a worker has to look */
    for (uint64_t now = fs_now(); now < until_ns && !fs_over(replay); now = fs_now()) {
        uint64_t wake = until_ns;
        if (replay->wake_ns <= now + FS_LATE)
            pthread_cond_signal(&own->work);
        else if (replay->wake_ns - FS_LATE < until_ns)
            wake = replay->wake_ns - FS_LATE;
        await_news(replay, now, wake);
    }
    own->running = 0;
    pthread_mutex_unlock(&replay->lock);
    return 0;
}

const struct fs_engine fs_io_threads = {"threads", available, open_threads, run_threads, close_threads};
