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

static int check_stack(void)
{
    enum { LONGEST = 90000 };
    static uint32_t trace[LONGEST], list[LONGEST];
    const int64_t count = (int64_t)draw(draw(8) ? 3000 : LONGEST);
    const uint32_t pages = 1 + (uint32_t)draw(draw(2) ? 20 : 400), slots = FS_STACK_SUPER;
    for (int64_t t = 0; t < count; t++)
        trace[t] = draw(2) ? (uint32_t)draw(pages) : (uint32_t)t % pages;
    struct fs_stack stack = {.pages = pages, .slots = slots};
    stack.last = calloc(pages, 4), stack.counts = calloc(pages + 1, 4), stack.live = calloc(slots / 64, 8);
    stack.blocks = calloc(slots / FS_STACK_BLOCK, 2), stack.supers = calloc(slots / FS_STACK_SUPER, 4);
    stack.removed = calloc(slots / FS_STACK_SUPER, 4), stack.ranks = calloc(slots / 64, 4);
    uint32_t *distances = malloc((size_t)count * 4 + 1), *exact = copy(trace, (size_t)count * 4);
    if (!stack.last || !stack.counts || !stack.live || !stack.blocks || !stack.supers || !stack.removed ||
        !stack.ranks || !distances)
        abort();
    int good = 1;
    for (int64_t at = 0; at < count && good;) {
        int64_t taken = (int64_t)draw(2000);
        taken = taken < count - at ? taken : count - at;
        good = fs_stack_run(&stack, exact + at, taken, distances + at) == 0;
        at += taken;
    }
    uint64_t depth = 0;
    for (int64_t t = 0; t < count && good; t++) {
        uint64_t position = 0;
        while (position < depth && list[position] != trace[t])
            position++;
        good = distances[t] == (position == depth ? 0 : position + 1);
        depth += position == depth;
        memmove(list + 1, list, position * sizeof *list);
        list[0] = trace[t];
    }
    const uint32_t outside = pages;
    good = good && depth == stack.distinct && fs_stack_run(&stack, &outside, 1, NULL) < 0;
    free(stack.last), free(stack.counts), free(stack.live), free(stack.blocks), free(stack.supers);
    free(stack.removed), free(stack.ranks), free(distances), free(exact);
    return good;
}

/* FIFO with second chances: most = 0, 1 and 3 are FIFO, CLOCK and 2-bit CLOCK. */
static void model_clock(const uint32_t *trace, int64_t count, uint64_t capacity, int most, uint8_t *missed)
{
    static uint32_t queue[4000];
    static int counter[4000];
    uint64_t size = 0;
    for (int64_t t = 0; t < count; t++) {
        uint64_t at = 0;
        while (at < size && queue[at] != trace[t])
            at++;
        missed[t] = at == size;
        if (at < size) {
            counter[at] += counter[at] < most;
            continue;
        }
        for (int evicted = size < capacity; !evicted;) {
            const uint32_t oldest = queue[0];
            const int left = counter[0] - 1;
            size--;
            memmove(queue, queue + 1, size * sizeof *queue);
            memmove(counter, counter + 1, size * sizeof *counter);
            evicted = left < 0;
            if (!evicted)
                queue[size] = oldest, counter[size++] = left;
        }
        queue[size] = trace[t], counter[size++] = 0;
    }
}

/* One reference a call: it hits if and only if its page's record says that it is cached. Then the whole trace in one
 * call: the same state. CLOCK against the model too. */
static int check_policies(void)
{
    enum { LONGEST = 4000 };
    static uint32_t trace[LONGEST];
    const int64_t count = (int64_t)draw(LONGEST);
    const uint32_t pages = 1 + (uint32_t)draw(draw(2) ? 20 : 700), kind = (uint32_t)draw(3);
    for (int64_t t = 0; t < count; t++)
        trace[t] = kind == 1 ? (uint32_t)t % pages : (uint32_t)draw(kind ? 1 + draw(pages) : pages);
    const uint64_t c = 1 + draw(draw(2) ? 12 : 500), small = c < 10 ? 1 : c / 10;
    const struct {
        int (*run)(struct fs_policy *, const uint32_t *, int64_t, uint8_t *);
        uint64_t slots;       /* the fewest it takes */
        uint32_t from, below; /* records of a cached page */
        int most;             /* of model_clock, or -1 */
    } policies[] = {
        {fs_clock_run, c, 1, 3, 1},
        {fs_clock2_run, c, 1, 5, 3},
        {fs_sieve_run, 2 * c, 1, 3, -1},
        {fs_s3fifo_run, small + c + c * 9 / 10 * 2, 4, 12, -1},
        {fs_slru_run, (c - c / 4 * 3 + 1) * 4, 1, UINT32_MAX, -1},
        {fs_random_run, c, 1, UINT32_MAX, -1},
    };
    int good = 1;
    for (size_t k = 0; k < sizeof policies / sizeof *policies && good; k++) {
        struct fs_policy each = {.capacity = c, .pages = pages, .slots = policies[k].slots}, whole = each;
        each.page = calloc(pages, 4), each.slot = calloc(each.slots, 4), each.reg = calloc(32, 8);
        whole.page = calloc(pages, 4), whole.slot = calloc(each.slots, 4), whole.reg = calloc(32, 8);
        uint32_t *exact = copy(trace, (size_t)count * 4);
        uint8_t *missed = calloc((size_t)count + 1, 1), *expected = calloc((size_t)count + 1, 1);
        if (!each.page || !each.slot || !each.reg || !whole.page || !whole.slot || !whole.reg || !missed || !expected)
            abort();
        int64_t misses = 0, cached = 0;
        for (int64_t t = 0; t < count && good; t++) {
            const uint32_t record = each.page[exact[t]];
            expected[t] = record < policies[k].from || record >= policies[k].below;
            good = policies[k].run(&each, exact + t, 1, missed + t) == 0 && missed[t] == expected[t];
            misses += missed[t];
        }
        if (policies[k].most >= 0)
            model_clock(trace, count, c, policies[k].most, expected);
        good = good && memcmp(missed, expected, (size_t)count) == 0 && misses == each.reg[0];
        for (uint32_t x = 0; x < pages; x++)
            cached += each.page[x] >= policies[k].from && each.page[x] < policies[k].below;
        good = good && cached == (misses < (int64_t)c ? misses : (int64_t)c);
        good = good && policies[k].run(&whole, exact, count, NULL) == 0;
        good = good && memcmp(each.page, whole.page, pages * 4) == 0 && memcmp(each.reg, whole.reg, 32 * 8) == 0;
        good = good && memcmp(each.slot, whole.slot, each.slots * 4) == 0;
        const uint32_t outside = pages;
        good = good && policies[k].run(&whole, &outside, 1, NULL) < 0;
        whole.slots--;
        good = good && policies[k].run(&whole, exact, 0, NULL) < 0;
        free(each.page), free(each.slot), free(each.reg), free(whole.page), free(whole.slot), free(whole.reg);
        free(exact), free(missed), free(expected);
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
        if (round % 6 == 0) {
            good = check_stack();
            good ? passed++ : failed++;
        }
        good = check_policies();
        good ? passed++ : failed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
