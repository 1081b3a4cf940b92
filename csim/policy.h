/* What the policies share: the loop over a piece of a trace, in batches: ids are checked ahead of each, and the records
 * of the next one prefetched, since the trace is known.
 *
 * A policy defines its access as `static inline int NAME(struct fs_policy *, uint32_t page)`, 1 for a miss, and its
 * public function with FS_POLICY(NAME, fields of a page's record). Before it includes this, it can define
 *   FS_SLOTS(capacity)         how many slots it needs at least
 *   FS_VALID(policy)           whether registers and slots suit the capacity otherwise
 *   FS_PREFETCH                a function (policy, page) that prefetches what a later access to `page`, any id, touches
 *                              besides its record */
#ifndef FS_POLICY_H
#define FS_POLICY_H
#include "csim.h"
#include "ids.h"

#include <errno.h>
#include <stddef.h>

#define FS_AHEAD 64 /* references in a batch: the latency of memory over the time of an access */
#define FS_GONE UINT32_MAX /* record of a page that was read, but is in no queue now */
#define FS_NEXT 16  /* slots: the same for the pages that an eviction looks at one after the other */

#ifndef FS_SLOTS
#define FS_SLOTS(capacity) 0
#endif
#ifndef FS_VALID
#define FS_VALID(policy) 1
#endif
#ifndef FS_PREFETCH
#define FS_PREFETCH NULL
#endif

static inline int fs_refused(const struct fs_policy *policy, int64_t count, uint64_t slots)
{
    return count < 0 || policy->capacity < 1 || policy->capacity > INT32_MAX || policy->pages > UINT32_MAX ||
           policy->slots < slots;
}

/* The page in position `at` of a ring of `length` slots is about to be looked at: start to load the record of the one
 * FS_NEXT positions later. (Near the end of the ring, of this one: not worth a turn.) */
static inline uint32_t fs_look(const struct fs_policy *policy, const uint32_t *ring, uint64_t at, uint64_t length)
{
    __builtin_prefetch(&policy->page[ring[at + FS_NEXT < length ? at + FS_NEXT : at]], 1);
    return ring[at];
}

/* Whether a record is of a page that is in a queue. */
static inline int fs_queued(uint32_t record)
{
    return record - 1 < FS_GONE - 1;
}

static inline uint64_t fs_wrapped(uint64_t at, uint64_t length)
{
    return at >= length ? at - length : at;
}

static inline __attribute__((always_inline)) int fs_run(struct fs_policy *policy, const uint32_t *trace, int64_t count,
                                                        uint8_t *missed, uint64_t fields,
                                                        int (*access)(struct fs_policy *, uint32_t),
                                                        void (*prefetch)(const struct fs_policy *, uint32_t))
{
    struct fs_policy local = *policy; /* so that the compiler knows the pointers do not change */
    for (int64_t at = 0, taken; at < count; at += taken) {
        taken = count - at < FS_AHEAD ? count - at : FS_AHEAD;
        const int64_t good = fs_in_range(trace + at, taken, local.pages);
        const uint32_t *soon = fs_soon(trace, at, taken, count);
        int64_t misses = 0;
        for (int64_t i = 0; i < good; i++) {
            __builtin_prefetch(&local.page[soon[i] * fields], 1);
            if (prefetch)
                prefetch(&local, soon[i]);
            const int miss = access(&local, trace[at + i]);
            misses += miss;
            if (missed)
                missed[at + i] = (uint8_t)miss;
        }
        policy->reg[0] += misses;
        if (good < taken)
            return -ERANGE;
    }
    return 0;
}

#define FS_POLICY(name, fields)                                                                                        \
    int fs_##name##_run(struct fs_policy *policy, const uint32_t *trace, int64_t count, uint8_t *missed)               \
    {                                                                                                                  \
        if (fs_refused(policy, count, FS_SLOTS(policy->capacity)) || !FS_VALID(policy))                                \
            return -EINVAL;                                                                                            \
        return fs_run(policy, trace, count, missed, fields, name, FS_PREFETCH);                                        \
    }

#endif
