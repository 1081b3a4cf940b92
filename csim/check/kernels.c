/* Addresses, LRU at many capacities, and stack distances. */
#include "check.h"

#include <errno.h>

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

int check_address(void)
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

int check_lru(void)
{
    enum { LONGEST = 4000 };
    static uint32_t trace[LONGEST], stack[LONGEST];
    const int64_t count = (int64_t)draw(LONGEST);
    const uint32_t pages = 1 + (uint32_t)draw(draw(2) ? 20 : 700), kind = (uint32_t)draw(3);
    for (int64_t t = 0; t < count; t++)
        trace[t] = kind == 0 ? (uint32_t)draw(pages) : kind == 1 ? (uint32_t)t % pages : (uint32_t)draw(1 + draw(pages));
    struct fs_lru lru = {.lanes = 1 + (uint32_t)draw(FS_LRU_LANES), .pages = pages};
    uint64_t capacity = 1 + draw(draw(2) ? 8 : 500);
    for (uint32_t k = 0; k < lru.lanes; k++, capacity += draw(draw(2) ? 4 : 90))
        lru.capacity[k] = capacity;
    lru.slots = (pages + 256 + 127) / 128 * 128 + 128 * draw(draw(2) ? 4 : 40);
    lru.last = calloc(pages, 4), lru.live = calloc(lru.slots / 64, 8), lru.ranks = calloc(lru.slots / 64, 4);
    uint8_t *classes = malloc((size_t)count + 1);
    if (!lru.last || !lru.live || !lru.ranks || !classes)
        abort();
    int good = 1;
    for (int64_t at = 0; at < count && good;) { /* some pieces end at an id that is out of range */
        int64_t taken = (int64_t)draw(700);
        taken = taken < count - at ? taken : count - at;
        const int64_t before = draw(3) ? taken : (int64_t)draw((uint64_t)taken + 1);
        uint32_t *piece = copy(trace + at, (size_t)taken * 4);
        if (before < taken)
            piece[before] = draw(2) ? pages : UINT32_MAX;
        good = fs_lru_run(&lru, piece, taken, classes + at) == (before < taken ? -ERANGE : 0);
        at += before;
        free(piece);
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
    lru.slots -= 64;
    good = good && fs_lru_run(&lru, trace, 0, NULL) == -EINVAL;
    free(lru.last), free(lru.live), free(lru.ranks), free(classes);
    return good;
}

int check_stack(void)
{
    enum { LONGEST = 90000 };
    static uint32_t trace[LONGEST], list[LONGEST];
    const int64_t count = (int64_t)draw(draw(8) ? 3000 : LONGEST);
    const uint32_t pages = 1 + (uint32_t)draw(draw(2) ? 20 : 400), slots = FS_STACK_SUPER;
    const uint32_t touched = pages > 1 ? pages - 1 : 1; /* the last page never is, and keeps no slot */
    for (int64_t t = 0; t < count; t++)
        trace[t] = draw(2) ? (uint32_t)draw(touched) : (uint32_t)t % touched;
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
