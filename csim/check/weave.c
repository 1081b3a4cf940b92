/* Steps of tokens whose ids are handed out once each, against a search through all of a step. */
#include "check.h"

enum { TOKENS = 12, MOST = 4, SLOTS = 64 };

int check_weave(void)
{
    uint32_t drawn[TOKENS * MOST];
    int64_t count = 0, made_ends[TOKENS], cuts[TOKENS];
    int32_t made_order[TOKENS];
    const int64_t tokens = 1 + (int64_t)draw(TOKENS), emitted = (int64_t)draw(TOKENS + 1);
    for (int64_t t = 0; t < tokens; t++) {
        for (int64_t k = (int64_t)draw(MOST + 1); k > 0; k--)
            drawn[count++] = (uint32_t)draw(6);
        made_ends[t] = count;
    }
    int64_t steps = 0;
    for (int64_t i = 0; i < emitted; i++) {
        made_order[i] = (int32_t)draw((uint64_t)tokens);
        if (i + 1 == emitted || draw(3) == 0)
            cuts[steps++] = i + 1;
    }
    uint32_t *ids = copy(drawn, (size_t)count * 4), *out = copy(drawn, (size_t)emitted * MOST * 4);
    int64_t *ends = copy(made_ends, (size_t)tokens * 8), *step_ends = copy(cuts, (size_t)steps * 8);
    int32_t *order = copy(made_order, (size_t)emitted * 4);
    uint64_t *seen = malloc(SLOTS * 8);
    uint16_t *counts = malloc((size_t)emitted * 2 + 1);
    memset(seen, 0, SLOTS * 8);
    const int64_t written = fs_weave(ids, count, ends, tokens, order, emitted, step_ends, steps, seen, SLOTS - 1, 1, out,
                                     emitted * MOST, counts);
    int64_t at = 0, i = 0;
    int good = written >= 0;
    for (int64_t step = 0; step < steps && good; step++)
        for (const int64_t began = at; i < step_ends[step]; i++) {
            const int64_t before = at;
            for (int64_t k = order[i] ? ends[order[i] - 1] : 0; k < ends[order[i]]; k++) {
                int64_t same = began;
                while (same < at && out[same] != ids[k])
                    same++;
                at += same == at && at < written && out[at] == ids[k];
                good &= same < at;
            }
            good &= counts[i] == at - before;
        }
    good &= at == written;
    if (emitted) {
        order[0] = (int32_t)tokens;
        good &= fs_weave(ids, count, ends, tokens, order, emitted, step_ends, steps, NULL, 0, 1, out, emitted * MOST,
                         counts) < 0;
    }
    free(ids), free(out), free(ends), free(step_ends), free(order), free(seen), free(counts);
    return good;
}
