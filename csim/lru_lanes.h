/* The pass of lru.c over a piece of a trace, compiled once per instruction set. Included with FS_NAME, FS_TARGET and
 * the lane operations FS_VECTOR, FS_LOAD and FS_NOT_BEFORE defined. */

FS_TARGET static int FS_NAME(pass)(struct fs_lru *lru, const uint32_t *trace, int64_t count, uint8_t *classes)
{
    uint32_t *const last = lru->last;
    uint64_t *const live = lru->live;
    uint32_t slot = lru->now;
    FS_VECTOR tau = FS_LOAD(lru->tau), bound = FS_LOAD(lru->bound);
    for (int64_t batch = 0; batch < count; batch += BATCH) {
        const int64_t end = batch + BATCH < count ? batch + BATCH : count;
        if (batch) {
            lru->now = slot;
            settle(lru);
            tau = FS_LOAD(lru->tau), bound = FS_LOAD(lru->bound);
        }
        for (int64_t t = batch; t < end; t++, slot++) {
            const uint32_t page = trace[t];
            if (page >= lru->pages) {
                lru->now = slot;
                return -ERANGE;
            }
            __builtin_prefetch(&last[trace[t + AHEAD < count ? t + AHEAD : t]], 1);
            const uint32_t soon = trace[t + AHEAD_LIVE < count ? t + AHEAD_LIVE : t];
            if (soon < lru->pages)
                __builtin_prefetch(&live[last[soon] / 64], 1);
            const int32_t touched = (int32_t)last[page];
            last[page] = slot + 1;
            uint32_t missed = FS_NOT_BEFORE(tau, touched);
            if (__builtin_expect(FS_NOT_BEFORE(bound, touched) & ~missed, 0)) {
                lru->now = slot;
                settle(lru);
                tau = FS_LOAD(lru->tau), bound = FS_LOAD(lru->bound);
                missed = FS_NOT_BEFORE(tau, touched);
                leave_room(lru, touched);
            }
            const uint32_t class = (uint32_t)__builtin_popcount(missed);
            lru->classes[class]++;
            if (classes)
                classes[t] = (uint8_t)class;
            if (class < lru->lanes)
                clear_slot(lru, (uint32_t)touched - 1);
            else if (!touched)
                lru->distinct++;
            live[slot / 64] |= UINT64_C(1) << (slot % 64);
        }
    }
    lru->now = slot;
    return 0;
}

#undef FS_NAME
#undef FS_TARGET
#undef FS_VECTOR
#undef FS_LOAD
#undef FS_NOT_BEFORE
