/* Page ids of rows. Formulas in csim.h. */
#include "csim.h"

#include <errno.h>

static int64_t floor_divide(int64_t x, int64_t by)
{
    return x / by - (x % by < 0);
}

static int is_valid(const struct fs_place_plan *plan)
{
    if (plan->columns < 1 || plan->columns > FS_PLACE_COLUMNS || plan->regions < 1 ||
        plan->regions > FS_PLACE_REGIONS || plan->page_bytes < 512 || plan->page_bytes % 512 ||
        plan->page_bytes > 1 << 30 || plan->shard_gap > INT32_MAX || plan->row_pages < 1 ||
        plan->row_pages > INT32_MAX / plan->page_bytes + 1 || (plan->rows_per_page && plan->regions > 1))
        return 0;
    for (uint32_t g = 0; g < plan->regions; g++)
        if (plan->stride[g] > INT32_MAX || plan->bytes[g] < 1 || plan->bytes[g] > INT32_MAX)
            return 0;
    return 1;
}

int64_t fs_place(const struct fs_place_plan *plan, const uint32_t *rows, const uint16_t *row_counts, int64_t tokens,
                 uint32_t *out, int64_t out_capacity, uint16_t *counts)
{
    if (tokens < 0 || !is_valid(plan))
        return -EINVAL;
    const int64_t page_bytes = (int64_t)plan->page_bytes;
    uint32_t *const begin = out;
    for (int64_t token = 0; token < tokens; token++) {
        uint32_t *const from = out;
        for (uint32_t c = 0; c < (row_counts ? row_counts[token] : plan->columns); c++, rows++) {
            for (uint32_t g = 0; g < plan->regions; g++) {
                int64_t start = plan->base[g * plan->columns + c], first, last;
                if (plan->rows_per_page) {
                    first = floor_divide(start, page_bytes) + *rows / (int64_t)plan->rows_per_page * (int64_t)plan->row_pages;
                    last = first + (int64_t)plan->row_pages - 1;
                } else {
                    start += *rows * (int64_t)plan->stride[g];
                    if (plan->shard_rows)
                        start += (int64_t)(*rows / plan->shard_rows * plan->shard_gap);
                    first = floor_divide(start, page_bytes);
                    last = floor_divide(start + (int64_t)plan->bytes[g] - 1, page_bytes);
                }
                if (first < 0 || last > UINT32_MAX)
                    return -ERANGE;
                if (out - begin + last - first >= out_capacity)
                    return -EINVAL;
                while (first <= last)
                    *out++ = (uint32_t)first++;
            }
        }
        if (counts)
            counts[token] = (uint16_t)(out - from);
    }
    return out - begin;
}
