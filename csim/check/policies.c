/* The policies of rings: FIFO, CLOCK, SIEVE, S3-FIFO, segmented LRU, random. */
#include "check.h"

/* FIFO with second chances: most = 0, 1 and 3 are FIFO, CLOCK and 2-bit CLOCK. */
static void model_clock(const uint32_t *trace, int64_t count, uint64_t capacity, int most, uint8_t *missed)
{
    static uint32_t queue[4000];
    static int counter[4000];
    uint64_t size = 0;
    for (int64_t t = 0; t < count; t++) {
        uint64_t at = 0;
        while (at < size && queue[at] != trace[t])
            at++;
        missed[t] = at == size;
        if (at < size) {
            counter[at] += counter[at] < most;
            continue;
        }
        for (int evicted = size < capacity; !evicted;) {
            const uint32_t oldest = queue[0];
            const int left = counter[0] - 1;
            size--;
            memmove(queue, queue + 1, size * sizeof *queue);
            memmove(counter, counter + 1, size * sizeof *counter);
            evicted = left < 0;
            if (!evicted)
                queue[size] = oldest, counter[size++] = left;
        }
        queue[size] = trace[t], counter[size++] = 0;
    }
}

/* One reference a call: it hits if and only if its page's record says that it is cached. Then the whole trace in one
 * call: the same state. CLOCK against the model too. */
int check_policies(void)
{
    enum { LONGEST = 4000 };
    static uint32_t trace[LONGEST];
    const int64_t count = (int64_t)draw(LONGEST);
    const uint32_t pages = 1 + (uint32_t)draw(draw(2) ? 20 : 700), kind = (uint32_t)draw(3);
    for (int64_t t = 0; t < count; t++)
        trace[t] = kind == 1 ? (uint32_t)t % pages : (uint32_t)draw(kind ? 1 + draw(pages) : pages);
    const uint64_t c = 1 + draw(draw(2) ? 12 : 500), small = c < 10 ? 1 : c / 10;
    const struct {
        int (*run)(struct fs_policy *, const uint32_t *, int64_t, uint8_t *);
        uint64_t slots;       /* the fewest it takes */
        uint32_t from, below; /* records of a cached page */
        int most;             /* of model_clock, or -1 */
    } policies[] = {
        {fs_clock_run, c, 1, 3, 1},
        {fs_clock2_run, c, 1, 5, 3},
        {fs_sieve_run, 2 * c, 1, 3, -1},
        {fs_s3fifo_run, small + c + c * 9 / 10 * 2, 4, 12, -1},
        {fs_slru_run, (c - c / 4 * 3 + 1) * 4, 1, UINT32_MAX, -1},
        {fs_random_run, c, 1, UINT32_MAX, -1},
    };
    int good = 1;
    for (size_t k = 0; k < sizeof policies / sizeof *policies && good; k++) {
        struct fs_policy each = {.capacity = c, .pages = pages, .slots = policies[k].slots}, whole = each;
        each.page = calloc(pages, 4), each.slot = calloc(each.slots, 4), each.reg = calloc(32, 8);
        whole.page = calloc(pages, 4), whole.slot = calloc(each.slots, 4), whole.reg = calloc(32, 8);
        uint32_t *exact = copy(trace, (size_t)count * 4);
        uint8_t *missed = calloc((size_t)count + 1, 1), *expected = calloc((size_t)count + 1, 1);
        if (!each.page || !each.slot || !each.reg || !whole.page || !whole.slot || !whole.reg || !missed || !expected)
            abort();
        int64_t misses = 0, cached = 0;
        for (int64_t t = 0; t < count && good; t++) {
            const uint32_t record = each.page[exact[t]];
            expected[t] = record < policies[k].from || record >= policies[k].below;
            good = policies[k].run(&each, exact + t, 1, missed + t) == 0 && missed[t] == expected[t];
            misses += missed[t];
        }
        if (policies[k].most >= 0)
            model_clock(trace, count, c, policies[k].most, expected);
        good = good && memcmp(missed, expected, (size_t)count) == 0 && misses == each.reg[0];
        for (uint32_t x = 0; x < pages; x++)
            cached += each.page[x] >= policies[k].from && each.page[x] < policies[k].below;
        good = good && cached == (misses < (int64_t)c ? misses : (int64_t)c);
        good = good && policies[k].run(&whole, exact, count, NULL) == 0;
        good = good && memcmp(each.page, whole.page, pages * 4) == 0 && memcmp(each.reg, whole.reg, 32 * 8) == 0;
        good = good && memcmp(each.slot, whole.slot, each.slots * 4) == 0;
        const uint32_t outside = pages;
        good = good && policies[k].run(&whole, &outside, 1, NULL) < 0;
        whole.slots--;
        good = good && policies[k].run(&whole, exact, 0, NULL) < 0;
        free(each.page), free(each.slot), free(each.reg), free(whole.page), free(whole.slot), free(whole.reg);
        free(exact), free(missed), free(expected);
    }
    return good;
}
