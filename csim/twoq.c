/* 2Q. See flashsim/cache/twoq.py.
 *
 *   log 0     A1in, and as its ghosts A1out
 *   log 1     Am
 *   reg[1]    pages that A1in keeps while Am has some to evict (Kin)
 *   reg[2]    ghosts that A1out keeps (Kout)
 */
#define FS_VALID(policy) twoq_fits(policy)
#include "log.h"

enum { A1, AM };

static inline int twoq_fits(const struct fs_policy *policy)
{
    return policy->reg[1] >= 0 && policy->reg[2] >= 0 && fs_log_fits(policy, AM, policy->capacity) &&
           fs_log_fits(policy, A1, policy->capacity + (uint64_t)policy->reg[2]);
}

static inline int twoq(struct fs_policy *policy, uint32_t page)
{
    const struct fs_place place = fs_find(policy, page);
    const int64_t *a1 = fs_log(policy, A1), *am = fs_log(policy, AM);
    if (place.cached) {
        if (place.log == AM) {
            fs_leave(policy, place);
            fs_enter(policy, AM, page);
        }
        return 0;
    }
    if (place.ghost)
        fs_leave(policy, place);
    if ((uint64_t)(a1[FS_LOG_CACHED] + am[FS_LOG_CACHED]) == policy->capacity) {
        if (am[FS_LOG_CACHED] && a1[FS_LOG_CACHED] <= policy->reg[1])
            fs_evict(policy, AM);
        else
            fs_demote(policy, A1);
        if (a1[FS_LOG_GHOSTS] > policy->reg[2])
            fs_forget(policy, A1);
    }
    fs_enter(policy, place.ghost ? AM : A1, page);
    return 1;
}

FS_POLICY(twoq, 2)
