/* The longest n-gram of a set, against a search through all of them. */
#include "check.h"

enum { GRAMS = 12, DEPTH = 4, SLOTS = 128 };

static uint64_t *slot_of(uint64_t *slots, uint64_t key)
{
    uint64_t at = fs_mix13(key) & (SLOTS - 1);
    while (slots[2 * at] != key && slots[2 * at] != UINT64_MAX)
        at = (at + 1) & (SLOTS - 1);
    return slots + 2 * at;
}

int check_match(void)
{
    uint32_t grams[GRAMS][DEPTH], lengths[GRAMS], nodes = 0; /* newest token first */
    uint64_t *slots = malloc(2 * SLOTS * sizeof *slots);
    memset(slots, 0xFF, 2 * SLOTS * sizeof *slots);
    for (uint32_t row = 0; row < GRAMS; row++) {
        uint64_t parent = grams[row][0] = (uint32_t)draw(3), *slot = NULL;
        lengths[row] = 2 + (uint32_t)draw(DEPTH - 1);
        for (uint32_t k = 1; k < lengths[row]; k++) {
            grams[row][k] = (uint32_t)draw(3);
            slot = slot_of(slots, parent << 32 | grams[row][k]);
            if (slot[0] == UINT64_MAX)
                slot[0] = parent << 32 | grams[row][k], slot[1] = (uint64_t)UINT32_MAX << 32 | nodes++;
            parent = UINT64_C(1) << 31 | (uint32_t)slot[1];
        }
        slot[1] = (uint64_t)row << 32 | (uint32_t)slot[1]; /* of two equal ones the later */
    }
    const int64_t count = (int64_t)draw(60), first = (int64_t)draw((uint64_t)count + 1), start = (int64_t)draw(60);
    uint32_t tokens[60], none[1];
    for (int64_t i = 0; i < count; i++)
        tokens[i] = (uint32_t)draw(3);
    uint32_t *ids = copy(tokens, (size_t)count * sizeof *ids), *out = copy(tokens, (size_t)(count - first) * 4);
    uint16_t *counts = copy(tokens, (size_t)(count - first) * 2);
    const int64_t written =
        fs_match(slots, SLOTS - 1, DEPTH, ids, count, first, &start, start < count, out, count - first, counts);
    int64_t seen = 0;
    int good = written >= 0 && fs_match(slots, SLOTS - 2, DEPTH, ids, count, first, NULL, 0, none, count, NULL) < 0;
    for (int64_t at = first; at < count; at++) {
        const int64_t document = start < count && start <= at ? start : 0;
        int64_t best = -1, length = 0;
        for (uint32_t row = 0; row < GRAMS; row++) {
            int64_t k = 0;
            while (k < lengths[row] && at - k >= document && ids[at - k] == grams[row][k])
                k++;
            if (k == lengths[row] && k >= length)
                best = row, length = k;
        }
        good &= counts[at - first] == (best >= 0);
        if (best >= 0)
            good &= seen < written && out[seen++] == (uint32_t)best;
    }
    good &= seen == written;
    free(slots), free(ids), free(out), free(counts);
    return good;
}
