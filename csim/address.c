/* Addresses of the hash family "mix64": tokens -> row or page ids. Formulas in csim.h.
 *
 * Tokens are taken in blocks that fit L1: first the states of every order, then the reductions, both in vectors. Only
 * the first tokens of a document, where some order is out of reach, and the last few of a run go one by one. */
#include "csim.h"
#include "division.h"
#include "mix64.h"

#include <errno.h>
#include <stddef.h>

#define BLOCK 256
#define ORDERS_MAX 16

/* The functions of one instruction set. */
struct path {
    int64_t lanes;
    void (*states)(const struct fs_mix_plan *, const uint32_t *, int64_t, uint64_t (*)[BLOCK]);
    void (*reduce)(const struct fs_mix_plan *, struct division, uint64_t (*)[BLOCK], int64_t);
    void (*heads)(const struct fs_mix_plan *, uint64_t (*)[BLOCK], uint64_t (*)[BLOCK], int64_t, uint32_t *);
    void (*interleave)(const struct fs_mix_plan *, uint64_t (*)[BLOCK], int64_t, uint32_t *);
};

#define FS_EACH_ISA "address_lanes.h"
#include "each_isa.h"

typedef uint64_t block[ORDERS_MAX][BLOCK] __attribute__((aligned(64)));

static uint64_t divide(const struct fs_mix_plan *plan, uint64_t x)
{
    return (x * plan->divide_multiplier + plan->divide_addend) >> plan->divide_shift;
}

/* What one n-gram emits, one id after the other. */
static uint32_t *emit(const struct fs_mix_plan *plan, uint32_t index, uint64_t state, uint32_t *out)
{
    const uint32_t at = index * plan->stride;
    uint64_t lead = 0;
    if (plan->kind != FS_HEADS)
        lead = plan->base[index] + fs_remainder(state, plan->modulus[index]);
    if (plan->kind == FS_WHOLE) {
        *out++ = (uint32_t)divide(plan, lead);
        return out;
    }
    for (uint32_t k = 0; k < plan->heads; k++) {
        uint64_t u = fs_fold(state * plan->head_multiplier[at + k]);
        uint64_t row = plan->head_base[at + k] + fs_remainder(u, plan->head_modulus[at + k]);
        *out++ = (uint32_t)(lead * plan->scale + divide(plan, row));
    }
    return out;
}

/* The token at *token, with `depth` tokens of its document before it. */
static uint32_t *one_token(const struct fs_mix_plan *plan, const uint32_t *token, int64_t depth, uint32_t *out)
{
    uint64_t state = token[0];
    uint32_t index = 0;
    if (plan->orders[0] == 1)
        out = emit(plan, index++, fs_mix13(state ^ plan->seeds[1]), out);
    for (uint32_t order = 2; index < plan->orders_count && (int64_t)order <= depth + 1; order++) {
        state = fs_mix13(state ^ ((uint64_t)token[1 - (int64_t)order] << 32) ^ plan->seeds[order]);
        if (plan->orders[index] == order)
            out = emit(plan, index++, state, out);
    }
    return out;
}

/* A run of tokens that have every order in reach. */
static uint32_t *many_tokens(const struct fs_mix_plan *plan, const struct path *path, const uint32_t *tokens,
                             int64_t count, uint32_t *out)
{
    const struct division division = {plan->divide_multiplier, plan->divide_addend, plan->divide_shift};
    const struct division scale = {plan->scale, 0, 0};
    const int64_t ids_a_token = plan->orders_count * (plan->kind == FS_WHOLE ? 1 : (int64_t)plan->heads);
    block states, lead;
    while (count >= path->lanes) {
        int64_t taken = (count < BLOCK ? count : BLOCK) / path->lanes * path->lanes;
        path->states(plan, tokens, taken, states);
        if (plan->kind == FS_WHOLE) {
            path->reduce(plan, division, states, taken);
            path->interleave(plan, states, taken, out);
        } else if (plan->kind == FS_HEADS) {
            path->heads(plan, states, NULL, taken, out);
        } else {
            memcpy(lead, states, plan->orders_count * sizeof *states);
            path->reduce(plan, scale, lead, taken);
            path->heads(plan, states, lead, taken, out);
        }
        tokens += taken, count -= taken, out += taken * ids_a_token;
    }
    for (; count > 0; count--, tokens++)
        out = one_token(plan, tokens, plan->orders[plan->orders_count - 1] - 1, out);
    return out;
}

int64_t fs_mix_address(const struct fs_mix_plan *plan, const uint32_t *ids, int64_t ids_count, int64_t first,
                       const int64_t *starts, int64_t starts_count, uint32_t *out, int64_t out_capacity,
                       uint8_t *counts)
{
    const int64_t ids_an_order = plan->kind == FS_WHOLE ? 1 : plan->heads;
    if (first < 0 || first > ids_count || plan->orders_count < 1 || plan->orders_count > ORDERS_MAX ||
        plan->kind > FS_BUCKET || ids_an_order < 1 || plan->stride % 8 || plan->stride < plan->heads ||
        out_capacity < (ids_count - first) * plan->orders_count * ids_an_order)
        return -EINVAL;
    const struct path *path = FS_BEST(path);
    const int64_t reach = plan->orders[plan->orders_count - 1] - 1;
    uint32_t *const begin = out;
    int64_t document = 0, next = 0;
    for (int64_t at = first; at < ids_count;) {
        while (next < starts_count && starts[next] <= at)
            document = starts[next++];
        const int64_t end = next < starts_count && starts[next] < ids_count ? starts[next] : ids_count;
        for (; at < end && at - document < reach; at++) {
            uint32_t *to = one_token(plan, ids + at, at - document, out);
            if (counts)
                counts[at - first] = (uint8_t)((to - out) / ids_an_order);
            out = to;
        }
        if (at < end) {
            out = many_tokens(plan, path, ids + at, end - at, out);
            if (counts)
                memset(counts + (at - first), (int)plan->orders_count, (size_t)(end - at));
            at = end;
        }
    }
    return out - begin;
}
