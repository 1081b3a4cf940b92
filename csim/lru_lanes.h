/* The pass of lru.c over a piece of a trace, compiled once per instruction set. Included with FS_NAME, FS_TARGET,
 * FS_AT_MOST and FS_SELECT defined. */

/* The smallest t such that `count` live slots lie in [from, t). They exist. */
FS_TARGET static inline int32_t FS_NAME(after_live)(const struct fs_lru *lru, int32_t from, uint64_t count)
{
    if (!count)
        return from;
    uint32_t at = (uint32_t)from / 64;
    uint64_t word = lru->live[at] & (UINT64_MAX << (from % 64)), seen;
    while ((seen = (uint64_t)__builtin_popcountll(word)) < count) {
        count -= seen;
        word = lru->live[++at];
    }
    return (int32_t)(at * 64 + FS_SELECT(word, count - 1) + 1);
}

/* Let [tau, scanned * 64) hold at least BATCH live slots, if there are that many in full words. Both ends only move
 * forward, so a pass scans the bitmap once for each capacity. */
FS_TARGET static inline void FS_NAME(scan_ahead)(struct fs_lru *lru, uint32_t k)
{
    const uint32_t first = (uint32_t)lru->tau[k] / 64, full = lru->now / 64;
    if (lru->scanned[k] < first)
        lru->scanned[k] = first, lru->room[k] = 0;
    for (; lru->room[k] < BATCH && lru->scanned[k] < full; lru->scanned[k]++) {
        uint64_t word = lru->live[lru->scanned[k]];
        if (lru->scanned[k] == first)
            word &= UINT64_MAX << (lru->tau[k] % 64);
        lru->room[k] += __builtin_popcountll(word);
    }
}

/* Bring tau_k up to date with `misses` in it, of references to `distinct` pages. */
FS_TARGET static inline void FS_NAME(evict)(struct fs_lru *lru, uint32_t k, uint64_t misses, uint64_t distinct)
{
    const uint64_t evicted = misses - (distinct < lru->capacity[k] ? distinct : lru->capacity[k]);
    const uint64_t passed = evicted - lru->evicted[k];
    lru->tau[k] = FS_NAME(after_live)(lru, lru->tau[k], passed);
    lru->evicted[k] = evicted;
    lru->room[k] -= (int32_t)passed;
}

/* Bring every tau up to date and set the bounds. In the batch that follows, each reference moves tau past at most one
 * slot that is live now, and one in [tau, bound) that is cleared is passed by none: so with BATCH live slots below it,
 * the bound holds. */
FS_TARGET static void FS_NAME(settle)(struct fs_lru *lru)
{
    for (uint32_t k = 0; k < lru->lanes; k++) {
        FS_NAME(evict)(lru, k, lru->misses[k], lru->distinct);
        if (lru->distinct + BATCH <= lru->capacity[k]) {
            lru->bound[k] = 0; /* cannot fill up before the next settling, so evicts nothing */
        } else {
            FS_NAME(scan_ahead)(lru, k);
            lru->bound[k] = lru->room[k] < BATCH ? UNBOUNDED : (int32_t)(lru->scanned[k] * 64);
        }
    }
}

/* Before the first reference of a batch, in place of its settling. */
FS_TARGET static void FS_NAME(renumber)(struct fs_lru *lru)
{
    const uint32_t touched = fs_renumber_slots(lru->last, lru->pages, lru->live, lru->ranks, lru->slots / 64);
    lru->now = touched;
    for (uint32_t k = 0; k < lru->lanes; k++) {
        const uint64_t cached = touched < lru->capacity[k] ? touched : lru->capacity[k];
        lru->evicted[k] = lru->misses[k] - cached;
        lru->tau[k] = (int32_t)(touched - cached);
        lru->scanned[k] = 0, lru->room[k] = 0;
    }
}

/* Bits set in mask before bit i. */
FS_TARGET static inline uint64_t FS_NAME(before)(const uint64_t *mask, uint32_t i)
{
    uint64_t count = (uint64_t)__builtin_popcountll(mask[i / 64] & ((UINT64_C(1) << (i % 64)) - 1));
    for (uint32_t w = 0; w < i / 64; w++)
        count += (uint64_t)__builtin_popcountll(mask[w]);
    return count;
}

/* Reference i, in doubt: bring those taus up to it that it lies in the gap of. Its page's old slot must be cleared before
 * a later reference in doubt counts live slots; what others clear lies in no gap. */
FS_TARGET static void FS_NAME(decide)(struct fs_lru *lru, struct batch *batch, uint32_t i)
{
    const int32_t touched = batch->touched[i];
    const uint64_t bit = UINT64_C(1) << (i % 64), distinct = lru->distinct + FS_NAME(before)(batch->cold, i);
    for (uint32_t k = 0; k < lru->lanes; k++) {
        uint64_t *const missed = batch->missed[k];
        if (missed[i / 64] & bit || touched > lru->bound[k])
            continue;
        FS_NAME(evict)(lru, k, lru->misses[k] + FS_NAME(before)(missed, i), distinct);
        if (touched <= lru->tau[k])
            missed[i / 64] |= bit;
        else if ((uint32_t)touched <= lru->scanned[k] * 64)
            lru->room[k]--;
    }
    clear_slot(lru, touched);
}

/* The number of capacities that each reference missed in: eight at a time, a byte each. */
FS_TARGET static void FS_NAME(classify)(const struct batch *batch, uint32_t lanes, uint8_t *classes, int64_t count)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    for (int64_t i = 0; i < count; i += 8) {
        uint64_t sums = 0;
        for (uint32_t k = 0; k < lanes; k++) {
            const uint64_t bits = batch->missed[k][i / 64] >> (i % 64) & 0xFF;
            sums += ((bits * ones & UINT64_C(0x8040201008040201)) + 0x7F * ones) >> 7 & ones; /* byte j: bit j */
        }
        for (int64_t j = i; j < i + 8 && j < count; j++, sums >>= 8)
            classes[j] = (uint8_t)sums;
    }
}

/* Go on with `count` ids, at most BATCH, and start to load what as many of `soon` will touch. */
FS_TARGET static void FS_NAME(take)(struct fs_lru *lru, const uint32_t *ids, const uint32_t *soon, int64_t count,
                                    uint8_t *classes)
{
    struct batch batch;
    uint64_t doubt[WORDS] = {0}, hit[WORDS];
    uint32_t *const last = lru->last, now = lru->now;
    for (int64_t i = 0; i < count; i++) {
        __builtin_prefetch(&last[soon[i]], 1, 2);
        batch.touched[i] = (int32_t)last[ids[i]];
        last[ids[i]] = now + (uint32_t)i + 1;
    }
    for (int64_t i = count; i < BATCH; i++)
        batch.touched[i] = INT32_MAX;
    for (uint32_t w = 0; w < WORDS; w++) {
        const int32_t *touched = batch.touched + 64 * w;
        batch.cold[w] = FS_AT_MOST(touched, 0);
        for (uint32_t k = 0; k < lru->lanes; k++) {
            batch.missed[k][w] = FS_AT_MOST(touched, lru->tau[k]);
            doubt[w] |= FS_AT_MOST(touched, lru->bound[k]) & ~batch.missed[k][w];
        }
        hit[w] = FS_AT_MOST(touched, UNBOUNDED) & ~batch.missed[lru->lanes - 1][w];
    }
    /* Whole words at once: a tau counts no slot of a later reference, for a full cache has an older page to evict. */
    for (uint32_t slot = now; slot < now + count; slot += 64 - slot % 64)
        lru->live[slot / 64] |= UINT64_MAX << (slot % 64);
    for (uint32_t w = 0; w < WORDS; w++)
        for (; doubt[w]; doubt[w] &= doubt[w] - 1)
            FS_NAME(decide)(lru, &batch, 64 * w + (uint32_t)__builtin_ctzll(doubt[w]));
    for (uint32_t w = 0; w < WORDS; w++) {
        lru->distinct += (uint64_t)__builtin_popcountll(batch.cold[w]);
        for (uint32_t k = 0; k < lru->lanes; k++)
            lru->misses[k] += (uint64_t)__builtin_popcountll(batch.missed[k][w]);
        for (; hit[w]; hit[w] &= hit[w] - 1)
            clear_slot(lru, batch.touched[64 * w + (uint32_t)__builtin_ctzll(hit[w])]);
    }
    lru->now = now + (uint32_t)count;
    if (classes)
        FS_NAME(classify)(&batch, lru->lanes, classes, count);
}

FS_TARGET static int FS_NAME(pass)(struct fs_lru *lru, const uint32_t *trace, int64_t count, uint8_t *classes)
{
    for (int64_t at = 0; at < count;) {
        if (lru->now == lru->slots)
            FS_NAME(renumber)(lru);
        FS_NAME(settle)(lru);
        const int64_t left = count - at, wanted = BATCH - lru->now % BATCH, taken = wanted < left ? wanted : left;
        const int64_t good = fs_in_range(trace + at, taken, lru->pages);
        FS_NAME(take)(lru, trace + at, fs_soon(trace, at, taken, count), good, classes ? classes + at : NULL);
        if (good < taken)
            return -ERANGE;
        at += taken;
    }
    return 0;
}

#undef FS_NAME
#undef FS_TARGET
#undef FS_AT_MOST
#undef FS_SELECT
