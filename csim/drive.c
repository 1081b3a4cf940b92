/* A drive as stations that reads queue at, one event at a time. What the stations do is said in csim.h.
 *
 * Events lie in a heap of four children a node, one for each read in flight. Its key is when a step ends, which step,
 * and the read's slot: no two are equal. CPU, host, delay and die serve reads in the order in which they are sent, so
 * that what they will do is known then, and the first event of a read is the end of its die's step. */
#include "histogram.h"
#include "mix64.h"

#include <errno.h>

enum { DIE, CHANNEL, LINK }; /* steps */

#define SLOT_BITS 12 /* FS_REPLAY_READS */
#define TIME_AT 14   /* bits of a key below the time */
#define TIME_MAX (INT64_C(1) << 46)
#define GOLDEN 0x9E3779B97F4A7C15u

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t fewer(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* `below` times the upper half of z / 2^32 */
static inline int64_t part(uint64_t z, int64_t below)
{
    return (int64_t)((z >> 32) * (uint64_t)below >> 32);
}

/* The least of up to four children from `child` on. */
static inline int64_t least_of(const uint64_t *keys, int64_t child, int64_t size)
{
    if (child + 4 <= size) { /* without a branch to guess */
        const int64_t a = child + (keys[child + 1] < keys[child]), b = child + 2 + (keys[child + 3] < keys[child + 2]);
        return keys[b] < keys[a] ? b : a;
    }
    int64_t least = child;
    for (int64_t other = child + 1; other < size; other++)
        least = keys[other] < keys[least] ? other : least;
    return least;
}

static inline void sift_down(uint64_t *keys, int64_t size, uint64_t key)
{
    int64_t at = 0;
    for (int64_t child = 1; child < size; child = 4 * at + 1) {
        const int64_t least = least_of(keys, child, size);
        if (keys[least] > key)
            break;
        keys[at] = keys[least], at = least;
    }
    keys[at] = key;
}

static inline void push(const struct fs_drive *drive, struct fs_drive_state *state, int64_t time, int step,
                        int64_t slot)
{
    const uint64_t key = (uint64_t)time << TIME_AT | (uint64_t)step << SLOT_BITS | (uint64_t)slot;
    uint64_t *keys = drive->heap;
    if (state->hole) {
        state->hole = 0;
        sift_down(keys, state->in_flight, key);
        return;
    }
    int64_t at = state->in_flight - 1;
    for (; at && keys[(at - 1) / 4] > key; at = (at - 1) / 4)
        keys[at] = keys[(at - 1) / 4];
    keys[at] = key;
}

static inline void fill_hole(const struct fs_drive *drive, struct fs_drive_state *state)
{
    if (state->hole && state->in_flight)
        sift_down(drive->heap, state->in_flight, drive->heap[state->in_flight]);
    state->hole = 0;
}

/* When the next read, which goes now, is through with the CPU. Whatever of its group may be sent is sent now. */
static inline int64_t cpu(const struct fs_drive *drive, struct fs_drive_state *state)
{
    if (!state->burst) {
        const int64_t ready = fewer(state->end - state->next_read, drive->max_reads - state->in_flight);
        state->burst = fewer(ready, later(drive->max_reads / 8, 3));
        state->cpu_free = later(state->now, state->cpu_free) + state->burst * drive->cpu;
    }
    state->burst--;
    return state->cpu_free;
}

/* When the host has sent a read that comes to it then. */
static inline int64_t host(const struct fs_drive *drive, struct fs_drive_state *state, int64_t then, int64_t cost)
{
    if (then >= state->gate) {
        state->gate = later(then, state->host_free) + drive->wake;
        state->host_free = state->gate;
    }
    return state->host_free += cost;
}

static inline void send(const struct fs_drive *drive, struct fs_drive_state *state, int first)
{
    const int64_t sent = cpu(drive, state), slot = drive->free_reads[state->in_flight++];
    const uint64_t page = drive->pages[state->next_read++], number = (uint64_t)state->sent++;
    const int64_t die = part(fs_mix13(drive->seed ^ page), drive->dies);
    drive->reads[slot] = (struct fs_drive_read){state->now, state->sending, die % drive->channels};
    int64_t time = host(drive, state, sent, drive->read + (first ? drive->group : 0)) + drive->delay;
    if (drive->sense) {
        time = later(time, drive->die_free[die]) + drive->sense;
        if (drive->jitter)
            time += part(fs_mix13(drive->seed + number * GOLDEN), 2 * drive->jitter + 1) - drive->jitter;
        drive->die_free[die] = time;
    }
    push(drive, state, time, drive->bus ? DIE : drive->link ? CHANNEL : LINK, slot);
}

static inline void complete_group(const struct fs_drive *drive, struct fs_drive_state *state, int64_t began,
                                  int64_t lookups)
{
    const int64_t ns = state->now - began;
    drive->lookup_bins[fs_histogram_bin((uint64_t)ns)] += (uint64_t)lookups;
    state->lookup_sum = (int64_t)((uint64_t)state->lookup_sum + (uint64_t)ns * (uint64_t)lookups);
    state->lookup_max = lookups ? later(state->lookup_max, ns) : state->lookup_max;
    state->lookups += lookups;
    state->groups++;
}

static inline void complete(const struct fs_drive *drive, struct fs_drive_state *state, int64_t slot)
{
    const struct fs_drive_read read = drive->reads[slot];
    struct fs_drive_group *group = &drive->begun[read.group];
    const int64_t ns = state->now - read.sent;
    drive->read_bins[fs_histogram_bin((uint64_t)ns)]++;
    state->read_sum += ns;
    state->read_max = later(state->read_max, ns);
    state->reads++;
    drive->free_reads[--state->in_flight] = slot;
    if (--group->left == 0) {
        complete_group(drive, state, group->began, group->lookups);
        drive->free_groups[--state->groups_in_flight] = read.group;
    }
}

/* Starts groups up to one with reads, and says whether there is one; if not, *due is when the next one may start. */
static int start_group(const struct fs_drive *drive, struct fs_drive_state *state, int64_t until, int64_t *due)
{
    while (state->next_read == state->end) {
        if (state->lookups >= until || state->groups_in_flight == drive->max_groups)
            return 0;
        int64_t began = state->now;
        if (drive->rate > 0) {
            const double ns = (double)state->started / drive->rate * 1e9;
            began = ns < (double)TIME_MAX ? (int64_t)ns : TIME_MAX;
            if (began > state->now) {
                *due = began;
                return 0;
            }
        }
        const int64_t group = state->next_group, lookups = drive->lookups[group];
        state->next_read = group ? drive->ends[group - 1] : 0;
        state->end = drive->ends[group];
        state->next_group = group + 1 < drive->groups ? group + 1 : 0;
        state->started += lookups;
        if (state->next_read == state->end) {
            complete_group(drive, state, began, lookups);
        } else {
            state->sending = drive->free_groups[state->groups_in_flight++];
            drive->begun[state->sending] = (struct fs_drive_group){began, lookups, state->end - state->next_read};
        }
    }
    return 1;
}

/* The time goes on to `time`. */
static inline void pass(struct fs_drive_state *state, int64_t time)
{
    state->in_flight_ns += state->in_flight * (time - state->now);
    state->now = time;
}

static inline void happen(const struct fs_drive *drive, struct fs_drive_state *state)
{
    const uint64_t key = drive->heap[0];
    const int64_t slot = key & ((1 << SLOT_BITS) - 1);
    const int step = key >> SLOT_BITS & 3;
    state->hole = 1;
    pass(state, (int64_t)(key >> TIME_AT));
    if (step == LINK) {
        complete(drive, state, slot);
        return;
    }
    int64_t *free = step == DIE ? &drive->channel_free[drive->reads[slot].channel] : &state->link_free;
    *free = later(state->now, *free) + (step == DIE ? drive->bus : drive->link);
    push(drive, state, *free, step == DIE && drive->link ? CHANNEL : LINK, slot);
}

static int refused(const struct fs_drive *drive)
{
    const int64_t times[] = {drive->cpu,   drive->wake,   drive->read, drive->group, drive->delay,
                             drive->sense, drive->jitter, drive->bus,  drive->link};
    for (int k = 0; k < 9; k++)
        if (times[k] < 0 || times[k] > INT32_MAX)
            return 1;
    if (drive->jitter > drive->sense || drive->dies < 1 || drive->dies > INT32_MAX || drive->channels < 1 ||
        drive->groups < 1 || drive->max_reads < 1 || drive->max_reads > FS_REPLAY_READS || drive->max_groups < 1 ||
        !(drive->rate >= 0))
        return 1;
    int64_t end = 0, lookups = 0;
    for (int64_t group = 0; group < drive->groups; end = drive->ends[group++]) {
        if (drive->ends[group] < end || drive->lookups[group] < 0 || drive->lookups[group] > INT32_MAX)
            return 1;
        lookups |= drive->lookups[group];
    }
    return !lookups;
}

/* Sends what may be sent now. Returns when a group is due that is not yet, or TIME_MAX. */
static inline int64_t send_ready(const struct fs_drive *drive, struct fs_drive_state *state, int64_t until)
{
    int64_t due = TIME_MAX;
    while (state->in_flight < drive->max_reads) {
        const int first = state->next_read == state->end;
        if (first && !start_group(drive, state, until, &due))
            break;
        send(drive, state, first);
    }
    fill_hole(drive, state);
    return due;
}

int fs_drive_run(const struct fs_drive *drive, struct fs_drive_state *state, int64_t lookups, int64_t until)
{
    if (refused(drive))
        return -EINVAL;
    until = until < TIME_MAX ? until : TIME_MAX;
    struct fs_drive_state moving = *state; /* a copy that no buffer can alias */
    while (moving.lookups < lookups && moving.now < until) {
        int64_t next = send_ready(drive, &moving, lookups); /* a group, or the read that comes before it */
        if (moving.lookups >= lookups)
            break;
        const int read = moving.in_flight && (int64_t)(drive->heap[0] >> TIME_AT) <= next;
        next = read ? (int64_t)(drive->heap[0] >> TIME_AT) : next;
        if (next > until)
            pass(&moving, until);
        else if (read)
            happen(drive, &moving);
        else
            pass(&moving, next);
    }
    *state = moving;
    return moving.lookups < lookups && moving.now >= TIME_MAX ? -ERANGE : 0;
}
