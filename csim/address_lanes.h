/* The vector path of address.c; see lanes.h. */

FS_TARGET static inline LANES FS_NAME(absorb)(LANES state, const uint32_t *older, uint64_t seed)
{
    LANES z = state ^ (FS_WIDEN(older) << 32) ^ seed;
    z = (z ^ (z >> 30)) * FS_MIX13_A;
    z = (z ^ (z >> 27)) * FS_MIX13_B;
    return z ^ (z >> 31);
}

/* States of every order for `count` tokens, a multiple of FS_LANES: states[order index][BLOCK]. One pass an order, each
 * from the states of the order below. */
FS_TARGET static void FS_NAME(states)(const struct fs_mix_plan *plan, const uint32_t *tokens, int64_t count,
                                      uint64_t (*states)[BLOCK])
{
    static const uint32_t nothing[FS_LANES];
    uint64_t below[BLOCK] __attribute__((aligned(64)));
    uint32_t index = 0;
    for (int64_t i = 0; i < count; i += FS_LANES)
        *(LANES *)&below[i] = FS_WIDEN(tokens + i);
    if (plan->orders[0] == 1) {
        const uint64_t seed = plan->seeds[1];
        for (int64_t i = 0; i < count; i += FS_LANES)
            *(LANES *)&states[0][i] = FS_NAME(absorb)(*(LANES *)&below[i], nothing, seed);
        index++;
    }
    const uint64_t *from = below;
    for (uint32_t order = 2; index < plan->orders_count; order++) {
        const uint64_t seed = plan->seeds[order];
        uint64_t *to = plan->orders[index] == order ? states[index++] : below;
        for (int64_t i = 0; i < count; i += FS_LANES)
            *(LANES *)&to[i] = FS_NAME(absorb)(*(const LANES *)&from[i], tokens + i + 1 - order, seed);
        from = to;
    }
}

/* One reduction an order, vectors over tokens: states become ((base + remainder) * multiplier + addend) >> shift. */
FS_TARGET static void FS_NAME(reduce)(const struct fs_mix_plan *plan, struct division division,
                                      uint64_t (*states)[BLOCK], int64_t count)
{
    for (uint32_t o = 0; o < plan->orders_count; o++) {
        const LANES modulus = ALL(plan->modulus[o]), multiplier = ALL(division.multiplier);
        const INVERSE inverse = FS_NAME(inverse)(modulus);
        const LANES bias = ALL(plan->base[o] * division.multiplier + division.addend);
        const uint32_t shift = division.shift;
        for (int64_t i = 0; i < count; i += FS_LANES) {
            LANES *at = (LANES *)&states[o][i];
            *at = (FS_MUL32(FS_NAME(remainder)(*at, modulus, inverse), multiplier) + bias) >> shift;
        }
    }
}

/* Heads: vectors over the heads of one n-gram, which lie side by side in the output. lead: NULL, or what to add to
 * every id of an n-gram. */
FS_TARGET static void FS_NAME(heads)(const struct fs_mix_plan *plan, uint64_t (*states)[BLOCK], uint64_t (*lead)[BLOCK],
                                     int64_t count, uint32_t *out)
{
    const uint32_t ids_a_token = plan->orders_count * plan->heads;
    for (uint32_t o = 0; o < plan->orders_count; o++) {
        for (uint32_t k = 0; k < plan->heads; k += FS_LANES) {
            const uint32_t at = o * plan->stride + k, left = plan->heads - k;
            const LANES multiplier = *(const LANES *)(plan->head_multiplier + at);
            const LANES modulus = *(const LANES *)(plan->head_modulus + at);
            const LANES bias = *(const LANES *)(plan->head_base + at) * plan->divide_multiplier + plan->divide_addend;
            const INVERSE inverse = FS_NAME(inverse)(modulus);
            const LANES divide = ALL(plan->divide_multiplier);
            const uint32_t shift = plan->divide_shift;
            uint32_t *to = out + o * plan->heads + k;
            for (int64_t i = 0; i < count; i++, to += ids_a_token) {
                LANES u = ALL(states[o][i]) * multiplier;
                LANES row = FS_NAME(remainder)(u ^ (u >> 32), modulus, inverse);
                LANES id = (FS_MUL32(row, divide) + bias) >> shift;
                if (lead)
                    id += lead[o][i];
                IDS ids = FS_NARROW(id);
                if (left >= FS_LANES)
                    *(IDS *)to = ids;
                else
                    memcpy(to, &ids, left * sizeof *to);
            }
        }
    }
}

/* One id an order, in token order. Two orders, the common case, leave as one 64-bit store a token. */
FS_TARGET static void FS_NAME(interleave)(const struct fs_mix_plan *plan, uint64_t (*states)[BLOCK], int64_t count,
                                          uint32_t *out)
{
    const uint32_t orders = plan->orders_count;
    if (orders == 2 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        for (int64_t i = 0; i < count; i += FS_LANES)
            *(LANES *)(out + 2 * i) = *(LANES *)&states[0][i] | (*(LANES *)&states[1][i] << 32);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        for (uint32_t o = 0; o < orders; o++)
            *out++ = (uint32_t)states[o][i];
}

static const struct path FS_NAME(path) = {
    FS_LANES, FS_NAME(states), FS_NAME(reduce), FS_NAME(heads), FS_NAME(interleave),
};
