/* Rows of tables, where they lie, and divisions. */
#include "check.h"
#include "division.h"

int check_division(void)
{
    const uint32_t divisor = 1 + (uint32_t)draw(UINT64_C(1) << draw(33)) % UINT32_MAX; /* of every size */
    const struct division division = fs_division(divisor);
    const uint32_t x = (uint32_t)draw(UINT64_MAX), multiple = x / divisor * divisor;
    const uint32_t near[] = {x, multiple, multiple - (multiple > 0), UINT32_MAX, 0};
    for (int i = 0; i < 5; i++)
        if ((near[i] * division.multiplier + division.addend) >> division.shift != near[i] / divisor)
            return 0;
    return 1;
}

static uint32_t expected_row(const struct fs_table_plan *p, uint32_t t, const uint32_t *ids, int64_t at,
                             int64_t document)
{
    uint64_t z = 0;
    if (p->missing == FS_RESERVED && at - document + 1 < p->order[t])
        return p->reserved[t];
    for (uint32_t k = 0; k < p->depth; k++) {
        const uint64_t term = p->coefficients[k * p->stride + t] * (at - k < document ? p->filler : ids[at - k]);
        z = p->op == FS_XOR ? z ^ term : z + term;
    }
    const int64_t modulus = (int64_t)p->modulus[t];
    const int64_t rest = (p->word == 64 ? (int64_t)z : (int64_t)(int32_t)(uint32_t)z) % modulus;
    return (uint32_t)(p->base[t] + (uint64_t)(rest < 0 ? rest + modulus : rest));
}

int check_tables(void)
{
    enum { TABLES = 40, DEPTH = 16, LONGEST = 900 };
    uint64_t coefficients[DEPTH * TABLES] = {0}, modulus[TABLES], base[TABLES];
    uint32_t order[TABLES], reserved[TABLES], tokens[LONGEST];
    const uint32_t tables = 1 + (uint32_t)draw(TABLES), stride = (tables + 7) / 8 * 8;
    const uint32_t depth = 1 + (uint32_t)draw(draw(4) ? 5 : DEPTH);
    const uint64_t alike = 1 + draw(12); /* tables side by side with the same coefficients */
    for (uint32_t t = 0; t < stride; t++) {
        modulus[t] = t < tables ? 1 + draw(draw(2) ? 9 : INT32_MAX) : 1;
        base[t] = draw(UINT32_MAX - modulus[t]);
        order[t] = t % alike ? order[t - 1] : 1 + (uint32_t)draw(depth);
        reserved[t] = (uint32_t)draw(UINT32_MAX);
        for (uint32_t k = 0; k < order[t] && t < tables; k++)
            coefficients[k * stride + t] = t % alike ? coefficients[k * stride + t - 1] : draw(UINT64_MAX) >> draw(64);
    }
    const size_t row = stride * sizeof(uint64_t);
    uint64_t *c = copy(coefficients, depth * row), *m = copy(modulus, row), *b = copy(base, row);
    uint32_t *o = copy(order, row / 2), *r = copy(reserved, row / 2);
    const struct fs_table_plan plan = {
        .op = (uint32_t)draw(2), .word = draw(2) ? 64 : 32, .missing = (uint32_t)draw(2), .filler = (uint32_t)draw(99),
        .depth = depth, .tables = tables, .stride = stride, .coefficients = c, .modulus = m, .base = b, .order = o,
        .reserved = r,
    };
    const int64_t count = (int64_t)draw(draw(2) ? 40 : LONGEST), first = (int64_t)draw((uint64_t)count + 1);
    const int64_t capacity = (count - first) * tables;
    int64_t starts[8], starts_count = (int64_t)draw(8), at = 0;
    for (int64_t i = 0; i < count; i++)
        tokens[i] = (uint32_t)draw(UINT64_MAX) >> draw(32);
    for (int64_t i = 0; i < starts_count; i++)
        starts[i] = at += (int64_t)draw(1 + (uint64_t)count / 4) + (i > 0);
    uint32_t *ids = copy(tokens, (size_t)count * 4), *out = malloc((size_t)capacity * 4 + 1);
    int64_t *begin = copy(starts, (size_t)starts_count * 8);
    if (!out)
        abort();
    int good = fs_table_rows(&plan, ids, count, first, begin, starts_count, out, capacity) == capacity;
    for (int64_t i = first; i < count && good; i++) {
        int64_t document = 0;
        for (int64_t j = 0; j < starts_count; j++)
            document = starts[j] <= i ? starts[j] : document;
        for (uint32_t t = 0; t < tables && good; t++)
            good = out[(i - first) * tables + t] == expected_row(&plan, t, ids, i, document);
    }
    good = good && fs_table_rows(&plan, ids, count, first, begin, starts_count, out, capacity - 1) < 0;
    m[draw(stride)] = draw(2) ? 0 : UINT64_C(1) << 31;
    good = good && fs_table_rows(&plan, ids, count, first, begin, starts_count, out, capacity) < 0;
    free(c), free(m), free(b), free(o), free(r), free(ids), free(out), free(begin);
    return good;
}

static int64_t page_of(int64_t byte, uint64_t page_bytes)
{
    const int64_t by = (int64_t)page_bytes;
    return byte / by - (byte % by < 0);
}

/* Pages [*first, *last] of a row. */
static void expect(const struct fs_place_plan *p, uint32_t g, uint32_t c, int64_t row, int64_t *first, int64_t *last)
{
    int64_t start = p->base[g * p->columns + c];
    if (p->rows_per_page) {
        *first = page_of(start, p->page_bytes) + row / (int64_t)p->rows_per_page * (int64_t)p->row_pages;
        *last = *first + (int64_t)p->row_pages - 1;
        return;
    }
    start += row * (int64_t)p->stride[g];
    if (p->shard_rows)
        start += row / (int64_t)p->shard_rows * (int64_t)p->shard_gap;
    *first = page_of(start, p->page_bytes), *last = page_of(start + (int64_t)p->bytes[g] - 1, p->page_bytes);
}

int check_place(void)
{
    enum { COLUMNS = 70, TOKENS = 200, REGIONS = FS_PLACE_REGIONS };
    int64_t base[REGIONS * COLUMNS];
    uint64_t stride[REGIONS], bytes[REGIONS];
    const int aligned = draw(4) == 0, varies = draw(2) == 0;
    const uint32_t columns = 1 + (uint32_t)draw(COLUMNS), regions = aligned ? 1 : 1 + (uint32_t)draw(REGIONS);
    const uint64_t unit = draw(2) ? 1 : 64, page_bytes = draw(2) ? UINT64_C(512) << draw(5) : 512 * (1 + draw(20));
    for (uint32_t g = 0; g < regions; g++) {
        stride[g] = (1 + draw(draw(2) ? 20 : draw(5) ? 400 : 9000)) * unit;
        bytes[g] = 1 + draw(draw(2) ? stride[g] : 64);
    }
    for (uint32_t c = 0; c < regions * columns; c++) {
        const int64_t at = 1000000 + (int64_t)draw(100000);
        base[c] = (draw(aligned ? 4 : 900) ? at : at - 2000000) * (int64_t)unit;
    }
    const struct fs_place_plan plan = {
        .columns = columns, .regions = regions, .base = copy(base, regions * columns * 8),
        .stride = copy(stride, regions * 8), .bytes = copy(bytes, regions * 8), .shard_gap = draw(999) * unit,
        .shard_rows = aligned || draw(2) ? 0 : draw(4) ? 1 + draw(5000) : (UINT64_C(1) << 32) + 7,
        .page_bytes = page_bytes,
        .rows_per_page = aligned ? 1 + draw(30) : 0, .row_pages = 1 + draw(4),
    };
    const int64_t tokens = (int64_t)draw(TOKENS);
    uint16_t row_counts[TOKENS];
    int64_t rows_count = 0, most = 0, total = 0, at = 0;
    for (int64_t token = 0; token < tokens; token++)
        rows_count += row_counts[token] = (uint16_t)(varies ? draw(columns + 1) : columns);
    uint32_t *rows = malloc((size_t)rows_count * 4 + 1);
    uint16_t *given = varies ? copy(row_counts, (size_t)tokens * 2) : NULL, *counts = malloc((size_t)tokens * 2 + 1);
    if (!rows || !counts)
        abort();
    for (int64_t i = 0; i < rows_count; i++)
        rows[i] = (uint32_t)draw(draw(2) ? 1000 : 200000);
    for (uint32_t g = 0; g < regions; g++) { /* csim.h: what a row may emit at most */
        uint64_t common = page_bytes;
        while (stride[g] % common || (plan.shard_rows && plan.shard_gap % common))
            common--;
        for (uint32_t c = 0; c < columns; c++)
            while (page_bytes % common || stride[g] % common || (plan.shard_rows && plan.shard_gap % common) ||
                   base[g * columns + c] % (int64_t)common)
                common--;
        most += aligned ? (int64_t)plan.row_pages : (int64_t)((page_bytes - common + bytes[g] - 1) / page_bytes) + 1;
    }
    uint32_t *out = malloc((size_t)(rows_count * most) * 4 + 1);
    if (!out)
        abort();
    const int64_t written = fs_place(&plan, rows, given, tokens, out, rows_count * most, counts);
    int good = 1, outside = 0;
    for (int64_t token = 0; token < tokens && good && !outside; token++) {
        const int64_t before = total;
        for (uint32_t c = 0; c < row_counts[token] && good && !outside; c++, at++) {
            for (uint32_t g = 0; g < regions && good && !outside; g++) {
                int64_t first, last;
                expect(&plan, g, c, rows[at], &first, &last);
                outside = first < 0 || last > UINT32_MAX;
                for (; first <= last && good && !outside; first++)
                    good = written < 0 || (total < written && out[total++] == (uint32_t)first);
            }
        }
        good = good && (outside || written < 0 || counts[token] == total - before);
    }
    good = good && (outside ? written < 0 : written == total);
    good = good && fs_place(&plan, rows, given, tokens, out, rows_count * most - 1, counts) < 0;
    free((void *)plan.base), free((void *)plan.stride), free((void *)plan.bytes);
    free(rows), free(given), free(counts), free(out);
    return good;
}
