/* The replay's driver: limits, order, latencies, and the table of engines. */
#include "io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct fs_engine *const engines[] = {&fs_io_null, &fs_io_threads, &fs_io_uring, &fs_io_test};
enum { ENGINES = sizeof engines / sizeof *engines };

const char *fs_engine_name(int engine)
{
    return engine >= 0 && engine < ENGINES ? engines[engine]->name : NULL;
}

int fs_engine_available(int engine)
{
    return engine >= 0 && engine < ENGINES ? engines[engine]->available() : -EINVAL;
}

static int64_t first_read(const struct fs_replay *replay, int64_t group)
{
    return group ? replay->plan.ends[group - 1] : 0;
}

static void complete_group(struct fs_replay *replay, uint64_t ns, int64_t lookups)
{
    fs_histogram_add(&replay->total.lookup, ns, (uint64_t)lookups);
    replay->total.lookups += (uint64_t)lookups;
    replay->total.groups++;
}

/* Nothing can be sent before a read completes or the limit is raised. */
static int blocked(const struct fs_replay *replay)
{
    return replay->in_flight == replay->plan.max_reads ||
           (replay->read == replay->end &&
            (replay->groups_in_flight == replay->most_groups || replay->started >= replay->limit));
}

/* Starts the next group if it is due. */
static int start_group(struct fs_replay *replay, uint64_t now)
{
    uint64_t began = now;
    if (replay->plan.rate > 0) {
        began = replay->start_ns + (uint64_t)((double)replay->started / replay->plan.rate * 1e9);
        if (began > now) {
            replay->wake_ns = began;
            return 0;
        }
    }
    const int64_t lookups = replay->plan.lookups[replay->group];
    replay->read = first_read(replay, replay->group);
    replay->end = replay->plan.ends[replay->group];
    replay->group = replay->group + 1 < replay->plan.groups ? replay->group + 1 : 0;
    replay->started += lookups;
    if (replay->read == replay->end) {
        complete_group(replay, now - began, lookups);
        return 1;
    }
    replay->sending = replay->free_groups[replay->groups_in_flight++];
    replay->groups[replay->sending] = (struct fs_group){began, lookups, replay->end - replay->read};
    return 1;
}

int64_t fs_take(struct fs_replay *replay, uint64_t now)
{
    for (int empty = 0; empty <= FS_EMPTY; empty++) {
        replay->wake_ns = replay->failed || blocked(replay) ? FS_NEVER : 0;
        if (replay->wake_ns || empty == FS_EMPTY || (replay->read == replay->end && !start_group(replay, now)))
            return -1;
        if (replay->read < replay->end)
            break;
    }
    const uint32_t number = replay->free_slots[replay->in_flight++];
    struct fs_slot *slot = &replay->slots[number];
    const uint64_t page = replay->plan.pages[replay->read];
    slot->sent_ns = now;
    slot->offset = replay->plan.base + (replay->plan.fold ? page % replay->plan.fold : page) * replay->plan.page_bytes;
    slot->index = replay->read++;
    slot->group = replay->sending;
    slot->filled = slot->tries = slot->bad_state = 0;
    slot->check = replay->plan.verify && --replay->until_check == 0;
    if (slot->check)
        replay->until_check = replay->plan.verify;
    replay->sent_sum += now;
    replay->wake_ns = blocked(replay) ? FS_NEVER : 0;
    return number;
}

void fs_verify(struct fs_replay *replay, uint32_t number, int64_t result)
{
    struct fs_slot *slot = &replay->slots[number];
    const uint32_t bytes = replay->plan.page_bytes;
    if (!slot->check || result <= 0 || slot->filled + result != bytes)
        return;
    const char *page = fs_buffer(replay, number);
    for (uint32_t at = 0; at < bytes && !slot->bad_state; at += FS_STAMP_BYTES) {
        slot->bad_number = (slot->offset + at) / FS_STAMP_BYTES;
        slot->bad_held = fs_stamp_number(page + at);
        slot->bad_state = (uint8_t)fs_stamp_check(page + at, slot->bad_number, replay->plan.seed);
    }
}

static void fail(struct fs_replay *replay, const struct fs_slot *slot, int error)
{
    if (replay->failed)
        return;
    replay->failed = -error;
    replay->total.error = error;
    replay->total.error_page = replay->plan.pages[slot->index];
    replay->total.error_offset = slot->offset + slot->filled;
}

int fs_finish(struct fs_replay *replay, uint32_t number, int64_t result, uint64_t now)
{
    struct fs_slot *slot = &replay->slots[number];
    struct fs_replay_result *total = &replay->total;
    if ((result == -EINTR || result == -EAGAIN) && slot->tries < FS_TRIES) {
        slot->tries++;
        total->retries++;
        return 1;
    }
    if (result > 0 && slot->filled + result < replay->plan.page_bytes) {
        slot->filled += (uint32_t)result;
        total->short_reads++;
        return 1;
    }
    replay->free_slots[--replay->in_flight] = number;
    replay->sent_sum -= slot->sent_ns;
    if (result <= 0) {
        fail(replay, slot, result ? (int)-result : ENODATA);
        return 0;
    }
    total->reads++;
    total->bytes += replay->plan.page_bytes;
    fs_histogram_add(&total->read, now - slot->sent_ns, 1);
    total->checked += slot->check;
    if (slot->bad_state && !total->bad++) {
        total->bad_state = slot->bad_state;
        total->bad_number = slot->bad_number;
        total->bad_held = slot->bad_held;
    }
    struct fs_group *group = &replay->groups[slot->group];
    if (--group->left == 0) {
        complete_group(replay, now - group->began_ns, group->lookups);
        replay->free_groups[--replay->groups_in_flight] = slot->group;
    }
    return 0;
}

uint64_t fs_patience(const struct fs_replay *replay, uint64_t now, uint64_t until_ns)
{
    const uint64_t wake = replay->wake_ns < until_ns ? replay->wake_ns : until_ns;
    return wake > now + FS_LATE ? wake - now - FS_LATE : 0;
}

void fs_doze(uint64_t ns)
{
    if (ns)
        nanosleep(&(struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)}, NULL);
}

static int refused(const struct fs_replay_plan *plan)
{
    if (plan->groups < 1 || plan->page_bytes < 512 || plan->page_bytes % 512 || plan->page_bytes > 1 << 20 ||
        plan->base > (uint64_t)1 << 62 || plan->max_reads < 1 || plan->max_reads > FS_REPLAY_READS ||
        (plan->rate != 0 && !(plan->rate >= 1e-6 && plan->rate <= 1e12)) || (plan->verify && (plan->page_bytes | plan->base) % FS_STAMP_BYTES))
        return 1;
    int64_t end = 0, lookups = 0;
    for (int64_t g = 0; g < plan->groups; end = plan->ends[g++]) {
        if (plan->ends[g] < end || plan->lookups[g] < 0 || plan->lookups[g] > INT32_MAX)
            return 1;
        lookups |= plan->lookups[g];
    }
    return !lookups; /* then no limit or rate would ever be reached */
}

static void free_replay(struct fs_replay *replay)
{
    if (replay->arena)
        munmap(replay->arena, replay->arena_bytes);
    pthread_mutex_destroy(&replay->lock);
    free(replay->slots), free(replay->free_slots), free(replay->groups), free(replay->free_groups), free(replay);
}

static int allocate(struct fs_replay *replay)
{
    const uint32_t reads = replay->plan.max_reads;
    replay->slots = calloc(reads, sizeof *replay->slots);
    replay->free_slots = calloc(reads, sizeof *replay->free_slots);
    replay->groups = calloc(reads, sizeof *replay->groups);
    replay->free_groups = calloc(reads, sizeof *replay->free_groups);
    replay->arena_bytes = (uint64_t)reads * replay->plan.page_bytes;
    void *arena = mmap(NULL, replay->arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    replay->arena = arena == MAP_FAILED ? NULL : arena;
    if (!replay->arena || !replay->slots || !replay->free_slots || !replay->groups || !replay->free_groups)
        return -ENOMEM;
#ifdef MADV_HUGEPAGE
    madvise(replay->arena, replay->arena_bytes, MADV_HUGEPAGE); /* a wish: small pages do too */
#endif
    for (uint32_t k = 0; k < reads; k++)
        replay->free_slots[k] = replay->free_groups[k] = k;
    return 0;
}

int fs_replay_open(const struct fs_replay_plan *plan, int engine, int fd, struct fs_replay_faults *faults,
                   struct fs_replay **opened)
{
    if (!fs_engine_name(engine) || refused(plan))
        return -EINVAL;
    if (!engines[engine]->open)
        return -EOPNOTSUPP;
    struct fs_replay *replay = calloc(1, sizeof *replay);
    if (!replay)
        return -ENOMEM;
    replay->plan = *plan;
    replay->engine = engines[engine];
    replay->fd = fd;
    replay->faults = faults;
    replay->until_check = plan->verify;
    replay->most_groups = plan->max_groups && plan->max_groups < plan->max_reads ? plan->max_groups : plan->max_reads;
    pthread_mutex_init(&replay->lock, NULL);
    int code = allocate(replay);
    if (!code)
        code = replay->engine->open(replay);
    if (code)
        free_replay(replay);
    else
        *opened = replay;
    return code;
}

static uint64_t cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int fs_replay_slice(struct fs_replay *replay, int64_t max_ns, int64_t max_lookups, struct fs_replay_result *result)
{
    struct fs_replay_result *total = &replay->total;
    const uint64_t began = fs_now(), cpu = cpu_now();
    if (!replay->start_ns)
        replay->start_ns = replay->end_ns = began;
    pthread_mutex_lock(&replay->lock);
    total->gap_ns += began - replay->end_ns;
    replay->limit = max_lookups;
    int code = replay->failed;
    pthread_mutex_unlock(&replay->lock);
    max_ns = max_ns < 0 ? 0 : max_ns > FS_REPLAY_SLICE ? FS_REPLAY_SLICE : max_ns;
    if (!code)
        code = replay->engine->run(replay, began + (uint64_t)max_ns);
    pthread_mutex_lock(&replay->lock);
    replay->end_ns = fs_now();
    total->wall_ns = replay->end_ns - replay->start_ns;
    total->cpu_ns += cpu_now() - cpu;
    total->in_flight = replay->in_flight;
    total->in_flight_ns = total->read.sum + replay->in_flight * replay->end_ns - replay->sent_sum;
    *result = *total;
    code = replay->failed ? replay->failed : code;
    pthread_mutex_unlock(&replay->lock);
    return code;
}

void fs_replay_close(struct fs_replay *replay)
{
    replay->engine->close(replay);
    free_replay(replay);
}
