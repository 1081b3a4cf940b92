/* LRU at every capacity: the stack distance of each reference. The method is in csim.h.
 *
 * References are taken BATCH at a time: their last slots are gathered a batch ahead, so that what they point to is in
 * cache when it is counted; counts are taken from the state at the start of the batch and corrected for what the
 * batch itself did before (a count over pairs, in vectors); the batch's changes are applied together at its end. */
#include "csim.h"
#include "isa.h"
#include "slots.h"

#include <errno.h>

#define BATCH 128
#define AHEAD 96 /* how far ahead last[page] is prefetched */
#define WORDS_A_BLOCK (FS_STACK_BLOCK / 64)
#define BLOCKS_A_SUPER (FS_STACK_SUPER / FS_STACK_BLOCK)

/* Live slots up to and including `slot`. */
static inline uint32_t live_through(const struct fs_stack *stack, uint32_t slot)
{
    const uint32_t block = slot / FS_STACK_BLOCK, word = slot / 64;
    uint32_t count = stack->supers[slot / FS_STACK_SUPER] + stack->blocks[block];
    for (uint32_t at = block * WORDS_A_BLOCK; at < word; at++)
        count += (uint32_t)__builtin_popcountll(stack->live[at]);
    return count + (uint32_t)__builtin_popcountll(stack->live[word] << (63 - slot % 64));
}

/* Prefix counts of the blocks (and superblocks) that begin in (from, to], each from the one before it. */
static void count_blocks(struct fs_stack *stack, uint32_t from, uint32_t to)
{
    for (uint32_t block = from / FS_STACK_BLOCK + 1; block <= to / FS_STACK_BLOCK; block++) {
        uint32_t before = stack->blocks[block - 1];
        for (uint32_t at = (block - 1) * WORDS_A_BLOCK; at < block * WORDS_A_BLOCK; at++)
            before += (uint32_t)__builtin_popcountll(stack->live[at]);
        if (block % BLOCKS_A_SUPER == 0) {
            const uint32_t super = block / BLOCKS_A_SUPER;
            stack->supers[super] = stack->supers[super - 1] + before;
            before = 0;
        }
        stack->blocks[block] = (uint16_t)before;
    }
}

static void renumber(struct fs_stack *stack)
{
    const uint32_t touched = fs_renumber_slots(stack->last, stack->pages, stack->live, stack->ranks, stack->slots / 64);
    stack->blocks[0] = 0, stack->supers[0] = 0;
    count_blocks(stack, 0, touched);
    stack->now = touched;
}

#if defined(__x86_64__)
#define FS_LANES 16
#define FS_NAME(x) x##_avx512
#define FS_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,popcnt,bmi2")))
#include "stack_lanes.h"

#define FS_LANES 8
#define FS_NAME(x) x##_avx2
#define FS_TARGET __attribute__((target("avx2,popcnt,bmi2")))
#include "stack_lanes.h"
#endif

#define FS_LANES 4
#define FS_NAME(x) x##_plain
#define FS_TARGET
#include "stack_lanes.h"

int fs_stack_run(struct fs_stack *stack, const uint32_t *trace, int64_t count, uint32_t *distances)
{
    if (count < 0 || stack->slots % FS_STACK_SUPER || stack->slots < stack->pages + 2 * BATCH || stack->slots > INT32_MAX)
        return -EINVAL;
    int (*pass)(struct fs_stack *, const uint32_t *, int64_t, uint32_t *) = pass_plain;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (FS_ISA_LIMIT >= 2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        pass = pass_avx512;
    else if (FS_ISA_LIMIT >= 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        pass = pass_avx2;
#endif
    int status = 0;
    while (count > 0 && !status) {
        if (stack->slots - stack->now <= BATCH)
            renumber(stack);
        int64_t taken = (int64_t)(stack->slots - stack->now) - 1; /* the slot after the last one must have a word */
        taken = taken < count ? taken : count;
        status = pass(stack, trace, taken, distances);
        trace += taken, count -= taken, distances += distances ? taken : 0;
    }
    return status;
}
