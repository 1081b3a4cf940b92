/* Page ids of rows. Formulas in csim.h.
 *
 * Rows are taken in blocks of whole tokens: first the extents of all rows, in vectors, then their pages, one row after
 * the other. */
#include "csim.h"
#include "division.h"

#include <errno.h>
#include <stddef.h>

#define BLOCK FS_PLACE_COLUMNS /* rows */
#define LIMIT (1u << 30)       /* of strides, rows and gaps: no sum of theirs wraps back into the page ids */
#define PAGE_LIMIT (1u << 20)  /* every page id that fits 32 bits is of a byte below 2^52 */

/* A region of a block. Page-aligned rows are shards of one row, with pages for bytes. */
struct region {
    uint64_t stride;
    uint64_t last_byte; /* of a row, counted from its first */
    uint64_t gap;       /* 0 = no shards */
    struct division shards;
    uint64_t page_bytes;
    uint32_t page_shift;     /* log2 of them, or 64 where they are no power of two */
    uint64_t base[BLOCK];    /* of each row's column */
    uint64_t extents[BLOCK]; /* of each row: its first page, and in the upper half its last */
};

#define FS_EACH_ISA "place_lanes.h"
#include "each_isa.h"

typedef int64_t extents_function(struct region *, const uint32_t *, int64_t, uint64_t *);

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

static int is_valid(const struct fs_place_plan *plan)
{
    if (plan->columns < 1 || plan->columns > FS_PLACE_COLUMNS || plan->regions < 1 ||
        plan->regions > FS_PLACE_REGIONS || plan->page_bytes < 512 || plan->page_bytes % 512 ||
        plan->page_bytes > PAGE_LIMIT || plan->shard_gap >= LIMIT)
        return 0;
    if (plan->rows_per_page && (plan->regions > 1 || plan->shard_rows || plan->rows_per_page > UINT32_MAX ||
                                plan->row_pages < 1 || plan->row_pages > UINT16_MAX))
        return 0;
    for (uint32_t g = 0; g < plan->regions; g++)
        if (plan->stride[g] >= LIMIT || plan->bytes[g] < 1 || plan->bytes[g] >= LIMIT)
            return 0;
    const int64_t furthest = INT64_C(1) << 62;
    for (uint32_t c = 0; c < plan->regions * plan->columns; c++)
        if (plan->base[c] <= -furthest || plan->base[c] >= furthest)
            return 0;
    return 1;
}

static uint64_t base_of(const struct fs_place_plan *plan, uint32_t g, uint32_t c)
{
    const int64_t base = plan->base[g * plan->columns + c], page_bytes = (int64_t)plan->page_bytes;
    return (uint64_t)(plan->rows_per_page ? base / page_bytes - (base % page_bytes < 0) : base);
}

/* Sets up all but extents; returns the number of pages that a row has at most. */
static uint64_t set_up(struct region *region, const struct fs_place_plan *plan, uint32_t g)
{
    const int64_t rows = BLOCK / plan->columns * plan->columns;
    for (int64_t i = 0; i < rows; i++)
        region->base[i] = i < plan->columns ? base_of(plan, g, (uint32_t)i) : region->base[i - plan->columns];
    if (plan->rows_per_page) {
        region->stride = 0, region->gap = plan->row_pages, region->last_byte = plan->row_pages - 1;
        region->shards = fs_division((uint32_t)plan->rows_per_page);
        region->page_bytes = 1, region->page_shift = 0;
        return plan->row_pages;
    }
    region->stride = plan->stride[g], region->last_byte = plan->bytes[g] - 1;
    region->gap = plan->shard_rows && plan->shard_rows <= UINT32_MAX ? plan->shard_gap : 0;
    region->shards = fs_division(region->gap ? (uint32_t)plan->shard_rows : 1);
    const int is_power = !(plan->page_bytes & (plan->page_bytes - 1));
    region->page_bytes = plan->page_bytes;
    region->page_shift = is_power ? (uint32_t)__builtin_ctzll(plan->page_bytes) : 64;
    uint64_t unit = gcd(gcd(plan->page_bytes, region->stride), region->gap); /* divides every start */
    for (uint32_t c = 0; c < plan->columns; c++) {
        const int64_t base = plan->base[g * plan->columns + c];
        unit = gcd(unit, (uint64_t)(base < 0 ? -base : base));
    }
    return (plan->page_bytes - unit + region->last_byte) / plan->page_bytes + 1;
}

/* Extents of `count` rows. Returns whether every page id fits 32 bits. */
static int find(struct region *region, extents_function *extents, const uint32_t *rows, int64_t count)
{
    uint64_t bits = 0;
    for (int64_t i = extents(region, rows, count, &bits); i < count; i++) {
        const struct division shards = region->shards;
        const uint64_t shard = (rows[i] * shards.multiplier + shards.addend) >> shards.shift;
        const uint64_t start = region->base[i] + rows[i] * region->stride + shard * region->gap;
        const uint64_t first = start / region->page_bytes, last = (start + region->last_byte) / region->page_bytes;
        region->extents[i] = first | last << 32, bits |= first | last;
    }
    return bits <= UINT32_MAX;
}

/* The pages of tokens that have rows[0], rows[1], ... rows. longest: pages that a row has in a region at most, 3 = any
 * number. With 2 there must be room for a second one in any case. */
static inline __attribute__((always_inline)) uint32_t *emit(const struct region *regions, uint32_t count,
                                                            uint64_t longest, const uint16_t *rows, int64_t tokens,
                                                            uint32_t *out, uint16_t *counts)
{
    for (int64_t token = 0, row = 0; token < tokens; token++) {
        uint32_t *const before = out;
        for (const int64_t end = row + rows[token]; row < end; row++) {
            for (uint32_t g = 0; g < count; g++) {
                const uint64_t extent = regions[g].extents[row], first = (uint32_t)extent, last = extent >> 32;
                if (longest == 1) {
                    *out++ = (uint32_t)first;
                } else if (longest == 2) {
                    out[0] = (uint32_t)first, out[1] = (uint32_t)last;
                    out += 1 + (last - first);
                } else {
                    for (uint64_t page = first; page <= last; page++)
                        *out++ = (uint32_t)page;
                }
            }
        }
        if (counts)
            counts[token] = (uint16_t)(out - before);
    }
    return out;
}

/* Takes as many of the next tokens as fit a block: their bases, where they are not the same in every block, and their
 * rows. Returns how many. */
static int64_t take(struct region *regions, const struct fs_place_plan *plan, const uint16_t *row_counts,
                    int64_t tokens, int64_t *rows)
{
    int64_t taken = BLOCK / plan->columns;
    taken = taken < tokens ? taken : tokens;
    *rows = taken * plan->columns;
    if (!row_counts)
        return taken;
    for (taken = 0, *rows = 0; taken < tokens && *rows + row_counts[taken] <= BLOCK; *rows += row_counts[taken++])
        for (uint32_t g = 0; g < plan->regions; g++)
            for (uint32_t c = 0; c < row_counts[taken]; c++)
                regions[g].base[*rows + c] = base_of(plan, g, c);
    return taken;
}

/* emit for the numbers that are common. */
static uint32_t *emit_fast(const struct region *regions, uint32_t count, uint64_t longest, const uint16_t *rows,
                            int64_t tokens, uint32_t *out, uint16_t *counts)
{
    if (longest > 2)
        return emit(regions, count, 3, rows, tokens, out, counts);
    if (count == 1)
        return longest == 1 ? emit(regions, 1, 1, rows, tokens, out, counts)
                            : emit(regions, 1, 2, rows, tokens, out, counts);
    if (count == 2)
        return longest == 1 ? emit(regions, 2, 1, rows, tokens, out, counts)
                            : emit(regions, 2, 2, rows, tokens, out, counts);
    return longest == 1 ? emit(regions, count, 1, rows, tokens, out, counts)
                        : emit(regions, count, 2, rows, tokens, out, counts);
}

int64_t fs_place(const struct fs_place_plan *plan, const uint32_t *rows, const uint16_t *row_counts, int64_t tokens,
                 uint32_t *out, int64_t out_capacity, uint16_t *counts)
{
    if (tokens < 0 || out_capacity < 0 || !is_valid(plan))
        return -EINVAL;
    struct region regions[FS_PLACE_REGIONS];
    uint64_t most = 0, longest = 0;
    for (uint32_t g = 0; g < plan->regions; g++) {
        const uint64_t pages = set_up(&regions[g], plan, g);
        most += pages, longest = pages > longest ? pages : longest;
    }
    if (!row_counts && out_capacity / plan->columns < tokens)
        return -EINVAL;
    int64_t left = row_counts ? 0 : tokens * plan->columns; /* rows */
    for (int64_t token = 0; row_counts && token < tokens; token++) {
        if (row_counts[token] > plan->columns)
            return -EINVAL;
        left += row_counts[token];
    }
    if (most * plan->columns > UINT16_MAX || out_capacity / (int64_t)most < left)
        return -EINVAL;

    extents_function *const extents = FS_BEST(extents);
    uint16_t same[BLOCK];
    for (int64_t token = 0; token < BLOCK; token++)
        same[token] = (uint16_t)plan->columns;
    uint32_t *const begin = out;
    while (tokens) {
        int64_t count;
        const int64_t taken = take(regions, plan, row_counts, tokens, &count);
        for (uint32_t g = 0; g < plan->regions; g++)
            if (!find(&regions[g], extents, rows, count))
                return -ERANGE;
        const uint64_t pages = longest == 2 && count == left ? 3 : longest; /* the last row may have room for one */
        out = emit_fast(regions, plan->regions, pages, row_counts ? row_counts : same, taken, out, counts);
        rows += count, left -= count, tokens -= taken;
        row_counts = row_counts ? row_counts + taken : NULL;
        counts = counts ? counts + taken : NULL;
    }
    return out - begin;
}
