/* The vector path of tables.c; see lanes.h.
 *
 * A signed remainder of 64 bits from one of 52: with z + 2^63 = a 2^44 + b, which is not negative,
 *     z mod m = (a (2^44 mod m) + b + (m - 2^63 mod m)) mod m,   and the sum in brackets is below 2^51 + 2^44 + 2^31.
 * A word of 32 bits is the same with 2^31 for 2^63: then a is 0.
 */
#define LOW_44 ((UINT64_C(1) << 44) - 1)

/* c * y in 64 bits, where y is a token. */
#ifdef FS_MULHI52
#define TIMES(c, y) ((c) * (y))
#else
#define TIMES(c, y) (FS_MUL32(c, y) + (FS_MUL32((c) >> 32, y) << 32))
#endif

/* z of table `at` for `count` tokens. tokens[0] is the first, tokens[-1] the one before. */
FS_TARGET static void FS_NAME(mix)(const struct fs_table_plan *plan, uint32_t at, uint32_t depth,
                                   const uint64_t *tokens, int64_t count, uint64_t *mixes)
{
    for (int64_t i = 0; i < count; i += FS_LANES) {
        LANES z = {};
        for (uint32_t k = 0; k < depth; k++) {
            LANES term = TIMES(ALL(plan->coefficients[k * plan->stride + at]), *(const LANES *)(tokens + i - k));
            z = plan->op == FS_SUM ? z + term : z ^ term;
        }
        *(LANES *)(mixes + i) = z;
    }
}

/* Rows of `count` tokens, of the FS_LANES tables from `at` on. With depth 0, tokens are their z already. */
FS_TARGET static inline __attribute__((always_inline)) void FS_NAME(reduce)(const struct fs_table_plan *plan,
                                                                            uint32_t at, uint32_t depth, int is_sum,
                                                                            const uint64_t *tokens, int64_t count,
                                                                            uint32_t *out)
{
    const uint32_t tables = plan->tables;
    const LANES modulus = *(const LANES *)(plan->modulus + at), base = *(const LANES *)(plan->base + at);
    const INVERSE inverse = FS_NAME(inverse)(modulus);
    LANES fold = FS_NAME(remainder)(ALL(LOW_44 + 1), modulus, inverse), half = FS_MUL32(fold, ALL(1u << 19)); /* 2^63 */
    uint64_t sign = UINT64_C(1) << 63, low = LOW_44;
    if (plan->word == 32)
        sign = 1u << 31, low = UINT32_MAX, half = ALL(sign), fold = ALL(0);
    const LANES excess = (modulus - (FS_NAME(remainder)(half, modulus, inverse) & UINT32_MAX)) + FS_2_52_BITS;
    LANES c[DEPTH_MAX];
    for (uint32_t k = 0; k < depth; k++)
        c[k] = *(const LANES *)(plan->coefficients + k * plan->stride + at);
    for (out += at; count; count--, tokens++, out += tables) {
        LANES z = depth ? TIMES(c[0], ALL(tokens[0])) : ALL(tokens[0]);
        for (uint32_t k = 1; k < depth; k++) {
            LANES term = TIMES(c[k], ALL(*(tokens - k)));
            z = is_sum ? z + term : z ^ term;
        }
        z ^= sign;
        z = FS_MUL32(z >> 44, fold) + (z & low) + excess;
        *(IDS *)out = FS_NARROW(FS_NAME(remainder_of_double)(z, modulus, inverse) + base);
    }
}

static int FS_NAME(is_nothing)(const uint64_t *coefficients)
{
    uint64_t bits = 0;
    for (uint32_t t = 0; t < FS_LANES; t++)
        bits |= coefficients[t];
    return !bits;
}

static int FS_NAME(is_uniform)(const uint64_t *coefficients)
{
    uint64_t bits = 0;
    for (uint32_t t = 1; t < FS_LANES; t++)
        bits |= coefficients[t] ^ coefficients[0];
    return !bits;
}

#define CASE(depth) \
    case depth * 2: FS_NAME(reduce)(plan, at, depth, 0, tokens, count, out); break; \
    case depth * 2 + 1: FS_NAME(reduce)(plan, at, depth, 1, tokens, count, out); break;

FS_TARGET static void FS_NAME(vector)(const struct fs_table_plan *plan, uint32_t at, const uint64_t *tokens,
                                      int64_t count, uint32_t *out)
{
    const uint64_t *c = plan->coefficients + at;
    uint32_t depth = plan->depth, k = 0;
    while (depth > 1 && FS_NAME(is_nothing)(c + (depth - 1) * plan->stride))
        depth--;
    while (k < depth && FS_NAME(is_uniform)(c + k * plan->stride))
        k++;
    if (k == depth) {
        uint64_t mixes[BLOCK];
        FS_NAME(mix)(plan, at, depth, tokens, count, mixes);
        FS_NAME(reduce)(plan, at, 0, 0, mixes, count, out);
        return;
    }
    switch (depth * 2 + plan->op) {
        CASE(1)
        CASE(2)
        CASE(3)
        CASE(4)
        default: FS_NAME(reduce)(plan, at, depth, plan->op == FS_SUM, tokens, count, out);
    }
}

/* Rows of `count` tokens. The last vector of tables ends with the last table; where there are fewer tables than lanes,
 * each token's spare rows are written over by the next, and those of the last tokens must not pass `end`. */
FS_TARGET static void FS_NAME(rows)(const struct fs_table_plan *plan, const uint64_t *tokens, int64_t count,
                                    uint32_t *out, const uint32_t *end)
{
    const int64_t tables = plan->tables;
    if (tables >= FS_LANES) {
        for (int64_t at = 0; at < tables; at += FS_LANES)
            FS_NAME(vector)(plan, (uint32_t)(at + FS_LANES <= tables ? at : tables - FS_LANES), tokens, count, out);
        return;
    }
    const int64_t fit = end - out < FS_LANES ? 0 : (end - out - FS_LANES) / tables + 1;
    const int64_t left = fit < count ? count - fit : 0;
    FS_NAME(vector)(plan, 0, tokens, count - left, out);
    if (left) {
        uint32_t rest[FS_LANES * FS_LANES];
        FS_NAME(vector)(plan, 0, tokens + count - left, left, rest);
        memcpy(out + (count - left) * tables, rest, (size_t)(left * tables) * sizeof *out);
    }
}

#undef CASE
#undef TIMES
#undef LOW_44
