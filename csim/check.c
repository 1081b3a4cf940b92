/* Runs the kernels over random input against slow but plain code. Built by the tests with sanitizers, once for each
 * FS_ISA_LIMIT; prints "N passed, M failed" and exits 1 if M is not 0. */
#include "csim.h"
#include "mix64.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t seed = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
    seed = fs_mix13(seed + 0x9E3779B97F4A7C15u);
    return seed % below;
}

/* Exact-size heap copies, so that a step outside is a sanitizer's report. */
static void *copy(const void *from, size_t bytes)
{
    void *made = malloc(bytes ? bytes : 1);
    if (!made)
        abort();
    memcpy(made, from, bytes);
    return made;
}

static uint64_t expected_id(const struct fs_mix_plan *p, uint64_t divisor, uint32_t o, uint32_t k, uint64_t state)
{
    uint64_t lead = p->base[o] + (state & FS_LOW_52) % p->modulus[o];
    if (p->kind == FS_WHOLE)
        return lead / divisor;
    uint64_t u = state * p->head_multiplier[o * p->stride + k];
    u ^= u >> 32;
    uint64_t row = p->head_base[o * p->stride + k] + (u & FS_LOW_52) % p->head_modulus[o * p->stride + k];
    return (p->kind == FS_BUCKET ? lead * p->scale : 0) + row / divisor;
}

static int check_address(void)
{
    enum { ORDERS = 3, HEADS = 21, STRIDE = 24 };
    uint32_t orders[ORDERS], orders_count = 1 + (uint32_t)draw(ORDERS), order = 0;
    uint64_t seeds[17], modulus[ORDERS], base[ORDERS], multiplier[ORDERS * STRIDE], sizes[ORDERS * STRIDE],
        bases[ORDERS * STRIDE];
    for (uint32_t o = 0; o < orders_count; o++) {
        orders[o] = order += 1 + (uint32_t)draw(3);
        modulus[o] = 1 + draw(draw(2) ? 9 : INT32_MAX);
        base[o] = draw(1000);
    }
    for (int n = 0; n < 17; n++)
        seeds[n] = draw(UINT64_MAX);
    for (int k = 0; k < ORDERS * STRIDE; k++) {
        multiplier[k] = draw(UINT64_MAX) | 1;
        sizes[k] = 1 + draw(draw(2) ? 9 : INT32_MAX);
        bases[k] = draw(1000);
    }
    const uint64_t divisor = UINT64_C(1) << draw(8);
    const uint32_t heads = 1 + (uint32_t)draw(HEADS);
    struct fs_mix_plan plan = {
        .kind = (uint32_t)draw(3), .orders_count = orders_count, .orders = orders, .seeds = seeds, .modulus = modulus,
        .base = base, .scale = 1 + (uint32_t)draw(9), .heads = heads, .stride = (heads + 7) / 8 * 8,
        .divide_multiplier = 1, .divide_shift = (uint32_t)__builtin_ctzll(divisor),
    };
    const size_t table = orders_count * plan.stride * sizeof(uint64_t);
    uint64_t *m = copy(multiplier, table), *s = copy(sizes, table), *b = copy(bases, table);
    plan.head_multiplier = m, plan.head_modulus = s, plan.head_base = b;

    const int64_t count = (int64_t)draw(draw(2) ? 40 : 1500), first = (int64_t)draw((uint64_t)count + 1);
    const int64_t per_order = plan.kind == FS_WHOLE ? 1 : heads, capacity = (count - first) * orders_count * per_order;
    uint32_t tokens[1500];
    int64_t starts[8], starts_count = (int64_t)draw(8), at = 0;
    for (int64_t i = 0; i < count; i++)
        tokens[i] = (uint32_t)draw(UINT32_MAX);
    for (int64_t i = 0; i < starts_count; i++)
        starts[i] = at += (int64_t)draw(1 + (uint64_t)count / 4) + (i > 0);
    uint32_t *ids = copy(tokens, (size_t)count * 4), *out = malloc((size_t)capacity * 4 + 1);
    int64_t *begin = copy(starts, (size_t)starts_count * 8);
    uint8_t *reach = malloc((size_t)(count - first) + 1);
    if (!out || !reach)
        abort();
    int64_t written = fs_mix_address(&plan, ids, count, first, begin, starts_count, out, capacity, reach), expected = 0;
    int good = 1;
    for (int64_t i = first; i < count && good; i++) {
        int64_t document = 0;
        for (int64_t j = 0; j < starts_count; j++)
            document = starts[j] <= i ? starts[j] : document;
        uint32_t in_reach = 0;
        for (uint32_t o = 0; o < orders_count && i - document >= (int64_t)orders[o] - 1; o++, in_reach++) {
            uint64_t state = tokens[i];
            for (uint32_t n = 2; n <= orders[o]; n++)
                state = fs_mix13(state ^ ((uint64_t)tokens[i - n + 1] << 32) ^ seeds[n]);
            if (orders[o] == 1)
                state = fs_mix13(state ^ seeds[1]);
            for (uint32_t k = 0; k < per_order && good; k++)
                good = expected < written && out[expected++] == (uint32_t)expected_id(&plan, divisor, o, k, state);
        }
        good = good && reach[i - first] == in_reach;
    }
    good = good && expected == written;
    good = good && fs_mix_address(&plan, ids, count, first, begin, starts_count, out, capacity - 1, reach) < 0;
    free(m), free(s), free(b), free(ids), free(out), free(begin), free(reach);
    return good;
}

static int check_lru(void)
{
    enum { LONGEST = 4000 };
    static uint32_t trace[LONGEST], stack[LONGEST];
    const int64_t count = (int64_t)draw(LONGEST);
    const uint32_t pages = 1 + (uint32_t)draw(draw(2) ? 20 : 700), kind = (uint32_t)draw(3);
    for (int64_t t = 0; t < count; t++)
        trace[t] = kind == 0 ? (uint32_t)draw(pages) : kind == 1 ? (uint32_t)t % pages : (uint32_t)draw(1 + draw(pages));
    struct fs_lru lru = {.lanes = 1 + (uint32_t)draw(FS_LRU_LANES), .pages = pages};
    uint64_t capacity = 1 + draw(8);
    for (uint32_t k = 0; k < lru.lanes; k++, capacity += draw(draw(2) ? 4 : 90))
        lru.capacity[k] = capacity;
    lru.slots = (pages + 256 + 63) / 64 * 64 + 64 * draw(4);
    lru.last = calloc(pages, 4), lru.live = calloc(lru.slots / 64, 8), lru.ranks = calloc(lru.slots / 64, 4);
    uint8_t *classes = malloc((size_t)count + 1);
    uint32_t *exact = copy(trace, (size_t)count * 4);
    if (!lru.last || !lru.live || !lru.ranks || !classes)
        abort();
    int good = 1;
    for (int64_t at = 0; at < count && good;) {
        int64_t taken = (int64_t)draw(700);
        taken = taken < count - at ? taken : count - at;
        good = fs_lru_run(&lru, exact + at, taken, classes + at) == 0;
        at += taken;
    }
    uint64_t misses[FS_LRU_LANES] = {0}, depth = 0;
    for (int64_t t = 0; t < count && good; t++) { /* a move-to-front list: the position is the stack distance */
        uint64_t position = 0;
        while (position < depth && stack[position] != trace[t])
            position++;
        const int cold = position == depth;
        uint32_t missed = 0;
        for (uint32_t k = 0; k < lru.lanes; k++)
            if (cold || position >= lru.capacity[k])
                misses[k]++, missed++;
        good = classes[t] == missed;
        depth += (uint64_t)cold;
        memmove(stack + 1, stack, position * sizeof *stack);
        stack[0] = trace[t];
    }
    good = good && depth == lru.distinct;
    for (uint32_t k = 0; k < lru.lanes; k++)
        good = good && misses[k] == lru.misses[k];
    const uint32_t outside = pages;
    good = good && fs_lru_run(&lru, &outside, 1, NULL) < 0;
    free(lru.last), free(lru.live), free(lru.ranks), free(classes), free(exact);
    return good;
}

/* A state over exact-size buffers, with logs for most[k] pages (0 = no log), as flashsim/cache/logs.py lays them out, and
 * `more` slots behind them. */
static struct fs_policy state_of(uint64_t capacity, uint32_t pages, uint32_t fields, const uint64_t most[3], uint64_t more)
{
    struct fs_policy made = {.capacity = capacity, .pages = pages, .reg = calloc(32, 8)};
    if (!made.reg)
        abort();
    for (int k = 0; k < 3 && most[k]; k++) {
        uint64_t size = 128;
        while (size < 2 * most[k])
            size *= 2;
        const int64_t reg[] = {1, 1, 1, 0, 0, (int64_t)made.slots, (int64_t)size - 1};
        memcpy(made.reg + 8 + 8 * k, reg, sizeof reg);
        made.slots += size + size / 32;
    }
    made.slots += more;
    made.page = calloc((uint64_t)pages * fields, 4), made.slot = calloc(made.slots, 4);
    if (!made.page || !made.slot)
        abort();
    return made;
}

static void free_state(struct fs_policy state)
{
    free(state.page), free(state.slot), free(state.reg);
}

/* MIN against a plain search of the next uses. */
static int check_min(const uint32_t *trace, int64_t count, uint32_t pages, uint64_t capacity, int64_t *misses)
{
    uint32_t *last = calloc(pages, 4), *uses = calloc((uint64_t)count + 1, 4), *next = calloc(pages, 4);
    uint8_t *missed = calloc((uint64_t)count + 1, 1), *cached = calloc(pages, 1);
    uint64_t words = 0, level = (uint64_t)count, size = 0;
    do
        words += level = (level + 63) / 64;
    while (level > 1);
    struct fs_policy state = state_of(capacity, 0, 1, (uint64_t[]){0, 0, 0}, 2 * words);
    if (!last || !uses || !next || !missed || !cached)
        abort();
    uint32_t *exact = copy(trace, (size_t)count * 4);
    const int64_t half = count / 2;
    int good = fs_next_use(exact, half, pages, last, uses, 0) == 0 &&
               fs_next_use(exact + half, count - half, pages, last, uses, half) == 0;
    uint32_t *all = copy(uses, (size_t)count * 4);
    state.slots = words, state.reg[4] = count;
    good = good && fs_min_run(&state, all, half, missed) == 0 &&
           fs_min_run(&state, all + half, count - half, missed + half) == 0;
    for (int64_t t = 0; t < count && good; t++) {
        const uint32_t x = trace[t];
        good = missed[t] == !cached[x];
        if (!cached[x] && size++ == capacity) {
            uint32_t latest = pages;
            for (uint32_t y = 0; y < pages; y++)
                if (cached[y] && (latest == pages || next[y] > next[latest]))
                    latest = y;
            cached[latest] = 0, size--;
        }
        cached[x] = 1, next[x] = uses[t];
    }
    for (uint64_t at = 0; at < 8 * words; at++)
        good = good && ((const uint8_t *)state.slot)[at] == 0;
    good = good && fs_min_run(&state, all, 1, NULL) < 0; /* one reference too many */
    good = good && fs_next_use(&pages, 1, pages, last, uses, 0) < 0;
    *misses = state.reg[0];
    free(last), free(uses), free(next), free(missed), free(cached), free(exact), free(all), free_state(state);
    return good;
}

/* The policies made of logs and lists: their misses, reference by reference, are those of one run over the whole trace,
 * at least MIN's, and a page just read is cached. */
static int check_queues(void)
{
    enum { LONGEST = 3000 };
    static uint32_t trace[LONGEST];
    const int64_t count = (int64_t)draw(LONGEST);
    const uint32_t pages = 1 + (uint32_t)draw(draw(2) ? 20 : 500), kind = (uint32_t)draw(3);
    for (int64_t t = 0; t < count; t++)
        trace[t] = kind == 1 ? (uint32_t)t % pages : (uint32_t)draw(kind ? 1 + draw(pages) : pages);
    const uint64_t c = 1 + draw(draw(2) ? 12 : 400), window = c < 100 ? 1 : c / 100, kept = (c - window) * 4 / 5;
    uint64_t blocks = 1;
    while (blocks * 8 < c)
        blocks *= 2;
    const struct {
        int (*run)(struct fs_policy *, const uint32_t *, int64_t, uint8_t *);
        uint32_t fields;
        uint64_t most[3], more;
    } policies[] = {
        {fs_twoq_run, 2, {c + c / 2, c, 0}, 0},
        {fs_arc_run, 2, {c, 2 * c, 0}, 0},
        {fs_lfu_run, 1, {0, 0, 0}, 8 * (c + 1)},
        {fs_wtinylfu_run, 2, {window + 1, c - window + 1, kept + 1}, blocks * 16},
    };
    int64_t least;
    int good = check_min(trace, count, pages, c, &least);
    for (size_t k = 0; k < sizeof policies / sizeof *policies && good; k++) {
        struct fs_policy each = state_of(c, pages, policies[k].fields, policies[k].most, policies[k].more);
        if (k == 0)
            each.reg[1] = (int64_t)(c / 4), each.reg[2] = (int64_t)(c / 2);
        if (k == 2)
            each.slots /= 4; /* records of four fields */
        if (k == 3) {
            const int64_t reg[] = {(int64_t)window, (int64_t)kept, 0, (int64_t)(10 * c),
                                   (int64_t)(each.slots - blocks * 16), (int64_t)blocks - 1};
            memcpy(each.reg + 1, reg, sizeof reg);
        }
        const uint64_t slots = each.slots;
        struct fs_policy whole = each;
        whole.page = copy(each.page, (size_t)pages * policies[k].fields * 4), whole.reg = copy(each.reg, 32 * 8);
        whole.slot = copy(each.slot, slots * (k == 2 ? 16 : 4));
        uint32_t *exact = copy(trace, (size_t)count * 4);
        uint8_t *missed = malloc((size_t)count + 1), again = 0;
        if (!missed)
            abort();
        int64_t misses = 0;
        good = policies[k].run(&whole, exact, count, missed) == 0;
        for (int64_t t = 0; t < count && good; t++) {
            uint8_t one;
            good = policies[k].run(&each, exact + t, 1, &one) == 0 && one == missed[t];
            misses += one;
        }
        good = good && misses == whole.reg[0] && misses == each.reg[0] && misses >= least;
        good = good && memcmp(each.reg, whole.reg, 32 * 8) == 0;
        good = good && memcmp(each.slot, whole.slot, slots * (k == 2 ? 16 : 4)) == 0;
        if (count && good)
            good = policies[k].run(&each, exact + count - 1, 1, &again) == 0 && !again;
        good = good && policies[k].run(&whole, &pages, 1, NULL) < 0;
        whole.slots--;
        good = good && policies[k].run(&whole, exact, 0, NULL) < 0;
        free(exact), free(missed), free_state(each), free_state(whole);
    }
    return good;
}

int main(void)
{
    int passed = 0, failed = 0;
    for (int round = 0; round < 600; round++) {
        int good = check_address();
        good ? passed++ : failed++;
        good = check_lru();
        good ? passed++ : failed++;
        good = check_queues();
        good ? passed++ : failed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
