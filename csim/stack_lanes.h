/* The pass of stack.c over a piece of a trace, compiled once per instruction set. Included with FS_LANES, FS_NAME and
 * FS_TARGET defined; plain C and vector types, which the compiler lowers to what the target has. */

typedef int32_t FS_NAME(lanes) __attribute__((vector_size(FS_LANES * 4)));
#define LANES FS_NAME(lanes)

/* counts[i] = how many of slots[0 .. i) are below slots[i]. */
FS_TARGET static void FS_NAME(count_below)(const int32_t *slots, int32_t *counts)
{
    LANES index;
    for (int lane = 0; lane < FS_LANES; lane++)
        index[lane] = lane;
    for (int i = 0; i < BATCH; i += FS_LANES) {
        const LANES mine = *(const LANES *)(slots + i);
        LANES count = {0};
        for (int j = 0; j < i; j++)
            count -= mine > slots[j];
        for (int j = 0; j < FS_LANES; j++)
            count -= (mine > slots[i + j]) & (index > j);
        *(LANES *)(counts + i) = count;
    }
}

/* Clear a slot that was set before this batch: it counts no longer for the blocks behind it. */
FS_TARGET static inline void FS_NAME(clear)(struct fs_stack *stack, uint32_t slot)
{
    stack->live[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
    stack->removed[slot / FS_STACK_SUPER]++;
    const uint16_t block = slot / FS_STACK_BLOCK % BLOCKS_A_SUPER;
    uint16_t *row = stack->blocks + slot / FS_STACK_SUPER * BLOCKS_A_SUPER;
    for (uint16_t b = 0; b < BLOCKS_A_SUPER; b++)
        row[b] -= b > block;
}

FS_TARGET static int FS_NAME(gather)(struct fs_stack *stack, const uint32_t *trace, int64_t at, int64_t taken,
                                     int64_t count, uint32_t slot, int32_t *slots)
{
    for (int64_t i = 0; i < taken; i++) {
        const uint32_t page = trace[at + i];
        if (page >= stack->pages)
            return -ERANGE;
        __builtin_prefetch(&stack->last[trace[at + i + AHEAD < count ? at + i + AHEAD : at + i]], 1);
        slots[i] = (int32_t)stack->last[page] - 1;
        stack->last[page] = slot + (uint32_t)i + 1;
        if (slots[i] >= 0)
            __builtin_prefetch(&stack->live[(uint32_t)slots[i] / FS_STACK_BLOCK * WORDS_A_BLOCK], 1);
    }
    for (int64_t i = taken; i < BATCH; i++)
        slots[i] = INT32_MAX; /* behind every real one: changes no count */
    return 0;
}

FS_TARGET static int FS_NAME(pass)(struct fs_stack *stack, const uint32_t *trace, int64_t count, uint32_t *distances)
{
    int32_t gathered[2][BATCH] __attribute__((aligned(64))), below[BATCH] __attribute__((aligned(64)));
    uint32_t found[BATCH], found_count = 0;
    int64_t next = count < BATCH ? count : BATCH;
    int status = FS_NAME(gather)(stack, trace, 0, next, count, stack->now, gathered[0]);
    for (int64_t at = 0, turn = 0; at < count && !status; turn ^= 1) {
        const int32_t *slots = gathered[turn];
        const int64_t taken = next;
        const uint32_t now = stack->now, after = now + (uint32_t)taken;
        next = count - at - taken < BATCH ? count - at - taken : BATCH;
        status = FS_NAME(gather)(stack, trace, at + taken, next, count, after, gathered[turn ^ 1]);

        FS_NAME(count_below)(slots, below);
        for (uint32_t i = 0; i < found_count; i++) /* of the batch before: its counters have arrived in cache */
            stack->counts[found[i]]++;
        found_count = 0;
        const uint32_t live = (uint32_t)stack->distinct;
        for (int64_t i = 0; i < taken; i++) {
            const int32_t slot = slots[i];
            uint32_t distance = 0;
            if (slot >= 0) {
                const uint32_t since = (uint32_t)slot < now ? live - live_through(stack, (uint32_t)slot)
                                                            : now - (uint32_t)slot - 1; /* wraps; the sum does not */
                distance = since + (uint32_t)below[i] + 1;
                found[found_count++] = distance;
                __builtin_prefetch(&stack->counts[distance], 1);
            } else {
                stack->distinct++;
            }
            if (distances)
                distances[at + i] = distance;
        }

        for (uint32_t slot = now; slot < after; slot += 64 - slot % 64) {
            const uint64_t upper = UINT64_MAX << (slot % 64);
            stack->live[slot / 64] |= slot / 64 == after / 64 ? upper & ~(UINT64_MAX << (after % 64)) : upper;
        }
        for (int64_t i = 0; i < taken; i++) {
            const uint32_t slot = (uint32_t)slots[i];
            if (slots[i] >= 0 && slot < now)
                FS_NAME(clear)(stack, slot);
            else if (slots[i] >= 0)
                stack->live[slot / 64] &= ~(UINT64_C(1) << (slot % 64));
        }
        uint32_t removed = 0;
        for (uint32_t super = 0; super <= now / FS_STACK_SUPER; super++) {
            stack->supers[super] -= removed;
            removed += stack->removed[super];
            stack->removed[super] = 0;
        }
        count_blocks(stack, now, after);
        stack->now = after;
        at += taken;
    }
    for (uint32_t i = 0; i < found_count; i++)
        stack->counts[found[i]]++;
    return status;
}

#undef LANES
#undef FS_LANES
#undef FS_NAME
#undef FS_TARGET
