/* Row ids of published tables. Formulas in csim.h. */
#include "csim.h"

#include <errno.h>

#define DEPTH_MAX 16

static int is_valid(const struct fs_table_plan *plan)
{
    if (plan->op > FS_SUM || (plan->word != 64 && plan->word != 32) || plan->missing > FS_RESERVED ||
        plan->depth < 1 || plan->depth > DEPTH_MAX || plan->tables < 1 || plan->stride % 8 ||
        plan->stride < plan->tables)
        return 0;
    for (uint32_t t = 0; t < plan->stride; t++)
        if (plan->modulus[t] < 1 || plan->modulus[t] > INT32_MAX)
            return 0;
    return 1;
}

int64_t fs_table_rows(const struct fs_table_plan *plan, const uint32_t *ids, int64_t ids_count, int64_t first,
                      const int64_t *starts, int64_t starts_count, uint32_t *out, int64_t out_capacity)
{
    if (first < 0 || first > ids_count || !is_valid(plan) || out_capacity / plan->tables < ids_count - first)
        return -EINVAL;
    uint32_t *const begin = out;
    int64_t document = 0, next = 0;
    for (int64_t at = first; at < ids_count; at++) {
        while (next < starts_count && starts[next] <= at)
            document = starts[next++];
        for (uint32_t t = 0; t < plan->tables; t++) {
            uint64_t z = 0;
            for (uint32_t k = 0; k < plan->depth; k++) {
                uint64_t y = at - k >= document ? ids[at - k] : plan->filler;
                uint64_t term = plan->coefficients[k * plan->stride + t] * y;
                z = plan->op == FS_XOR ? z ^ term : z + term;
            }
            int64_t modulus = (int64_t)plan->modulus[t];
            int64_t rest = (plan->word == 64 ? (int64_t)z : (int64_t)(int32_t)z) % modulus;
            *out++ = plan->missing == FS_RESERVED && at - document + 1 < plan->order[t]
                         ? plan->reserved[t]
                         : (uint32_t)(plan->base[t] + (uint64_t)(rest < 0 ? rest + modulus : rest));
        }
    }
    return out - begin;
}
