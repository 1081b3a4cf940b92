/* Row ids of published tables. Formulas in csim.h.
 *
 * Tokens are taken in small blocks that do not cross a document's start, and of a block one vector of tables after the
 * other. */
#include "csim.h"

#include <errno.h>

#define BLOCK 256       /* tokens at most */
#define BLOCK_ROWS 2048 /* which L1 holds while each vector of tables writes its part */
#define DEPTH_MAX 16

#define FS_EACH_ISA "tables_lanes.h"
#include "each_isa.h"

typedef void rows_function(const struct fs_table_plan *, const uint64_t *, int64_t, uint32_t *, const uint32_t *);

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

/* The rows of tables that miss a slot, of tokens [at, end) of a document. */
static void reserve(const struct fs_table_plan *plan, int64_t at, int64_t end, uint32_t *out)
{
    for (; at < end && at < plan->depth - 1; at++, out += plan->tables)
        for (uint32_t t = 0; t < plan->tables; t++)
            if (at + 1 < plan->order[t])
                out[t] = plan->reserved[t];
}

int64_t fs_table_rows(const struct fs_table_plan *plan, const uint32_t *ids, int64_t ids_count, int64_t first,
                      const int64_t *starts, int64_t starts_count, uint32_t *out, int64_t out_capacity)
{
    if (first < 0 || first > ids_count || out_capacity < 0 || !is_valid(plan) ||
        out_capacity / plan->tables < ids_count - first)
        return -EINVAL;
    rows_function *const rows = FS_BEST(rows);
    const int64_t reach = plan->depth - 1, written = (ids_count - first) * plan->tables;
    const uint32_t *const end = out + written;
    int64_t block = BLOCK_ROWS / plan->tables / 8 * 8;
    block = block < 32 ? 32 : block > BLOCK ? BLOCK : block;
    uint64_t tokens[DEPTH_MAX - 1 + BLOCK + 8] = {0}; /* a vector may begin anywhere in the block */
    int64_t document = 0, next = 0;
    for (int64_t at = first, stop; at < ids_count; at = stop) {
        while (next < starts_count && starts[next] <= at)
            document = starts[next++];
        stop = next < starts_count && starts[next] < ids_count ? starts[next] : ids_count;
        if (stop > at + block)
            stop = at + block;
        for (int64_t i = at - reach; i < stop; i++)
            tokens[i - at + reach] = i < document ? plan->filler : ids[i];
        rows(plan, tokens + reach, stop - at, out, end);
        if (plan->missing == FS_RESERVED)
            reserve(plan, at - document, stop - document, out);
        out += (stop - at) * plan->tables;
    }
    return written;
}
