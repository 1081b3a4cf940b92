/* ARC. See flashsim/cache/arc.py.
 *
 *   log 0     L1: T1, and as its ghosts B1. T1's oldest becomes B1's newest, so both are one queue with a mark in it
 *   log 1     L2: T2, and as its ghosts B2
 *   reg[1]    p, the size that T1 should have, a double's bits
 */
#define FS_VALID(policy) arc_fits(policy)
#include "log.h"

#include <string.h>

enum { L1, L2 };

static inline int arc_fits(const struct fs_policy *policy)
{
    return fs_log_fits(policy, L1, policy->capacity) && fs_log_fits(policy, L2, 2 * policy->capacity);
}

/* The paper's REPLACE. */
static inline void replace(struct fs_policy *policy, double p, int in_b2)
{
    const int64_t t1 = fs_log(policy, L1)[FS_LOG_CACHED], t2 = fs_log(policy, L2)[FS_LOG_CACHED];
    fs_demote(policy, (t1 && ((double)t1 > p || (in_b2 && (double)t1 == p))) || !t2 ? L1 : L2);
}

static inline int arc(struct fs_policy *policy, uint32_t page)
{
    const struct fs_place place = fs_find(policy, page);
    int64_t *l1 = fs_log(policy, L1), *l2 = fs_log(policy, L2);
    const int64_t capacity = (int64_t)policy->capacity;
    if (place.cached) {
        fs_leave(policy, place);
        fs_enter(policy, L2, page);
        return 0;
    }
    double p;
    memcpy(&p, &policy->reg[1], sizeof p);
    if (place.ghost) {
        const double b1 = (double)l1[FS_LOG_GHOSTS], b2 = (double)l2[FS_LOG_GHOSTS];
        if (place.log == L1) {
            p += b2 > b1 ? b2 / b1 : 1;
            p = p < (double)capacity ? p : (double)capacity;
        } else {
            p -= b1 > b2 ? b1 / b2 : 1;
            p = p > 0 ? p : 0;
        }
        memcpy(&policy->reg[1], &p, sizeof p);
        fs_leave(policy, place);
        replace(policy, p, place.log == L2);
        fs_enter(policy, L2, page);
        return 1;
    }
    if (l1[FS_LOG_CACHED] == capacity) {
        fs_evict(policy, L1); /* B1 is empty then */
    } else if (l1[FS_LOG_CACHED] + l2[FS_LOG_CACHED] == capacity) {
        if (l1[FS_LOG_CACHED] + l1[FS_LOG_GHOSTS] == capacity)
            fs_forget(policy, L1);
        else if (l1[FS_LOG_GHOSTS] + l2[FS_LOG_GHOSTS] == capacity)
            fs_forget(policy, L2);
        replace(policy, p, 0);
    }
    fs_enter(policy, L1, page);
    return 1;
}

FS_POLICY(arc, 2)
