/* The policies of logs and lists: MIN, 2Q, ARC, LFU, W-TinyLFU. */
#include "check.h"

/* A state over exact-size buffers, with logs for most[k] pages (0 = no log), as flashsim/cache/logs.py lays them out, and
 * `more` slots behind them. */
static struct fs_policy state_of(uint64_t capacity, uint32_t pages, uint32_t fields, const uint64_t most[3], uint64_t more)
{
    struct fs_policy made = {.capacity = capacity, .pages = pages, .reg = calloc(32, 8)};
    if (!made.reg)
        abort();
    for (int k = 0; k < 3 && most[k]; k++) {
        uint64_t size = 128;
        while (size < 2 * most[k])
            size *= 2;
        const int64_t reg[] = {1, 1, 1, 0, 0, (int64_t)made.slots, (int64_t)size - 1};
        memcpy(made.reg + 8 + 8 * k, reg, sizeof reg);
        made.slots += size + size / 32;
    }
    made.slots += more;
    made.page = calloc((uint64_t)pages * fields, 4), made.slot = calloc(made.slots, 4);
    if (!made.page || !made.slot)
        abort();
    return made;
}

static void free_state(struct fs_policy state)
{
    free(state.page), free(state.slot), free(state.reg);
}

/* MIN against a plain search of the next uses. */
static int check_min(const uint32_t *trace, int64_t count, uint32_t pages, uint64_t capacity, int64_t *misses)
{
    uint32_t *last = calloc(pages, 4), *uses = calloc((uint64_t)count + 1, 4), *next = calloc(pages, 4);
    uint8_t *missed = calloc((uint64_t)count + 1, 1), *cached = calloc(pages, 1);
    uint64_t words = 0, level = (uint64_t)count, size = 0;
    do
        words += level = (level + 63) / 64;
    while (level > 1);
    struct fs_policy state = state_of(capacity, 0, 1, (uint64_t[]){0, 0, 0}, 2 * words);
    if (!last || !uses || !next || !missed || !cached)
        abort();
    uint32_t *exact = copy(trace, (size_t)count * 4);
    const int64_t half = count / 2;
    int good = fs_next_use(exact, half, pages, last, uses, 0) == 0 &&
               fs_next_use(exact + half, count - half, pages, last, uses, half) == 0;
    uint32_t *all = copy(uses, (size_t)count * 4);
    state.slots = words, state.reg[4] = count;
    good = good && fs_min_run(&state, all, half, missed) == 0 &&
           fs_min_run(&state, all + half, count - half, missed + half) == 0;
    for (int64_t t = 0; t < count && good; t++) {
        const uint32_t x = trace[t];
        good = missed[t] == !cached[x];
        if (!cached[x] && size++ == capacity) {
            uint32_t latest = pages;
            for (uint32_t y = 0; y < pages; y++)
                if (cached[y] && (latest == pages || next[y] > next[latest]))
                    latest = y;
            cached[latest] = 0, size--;
        }
        cached[x] = 1, next[x] = uses[t];
    }
    for (uint64_t at = 0; at < 8 * words; at++)
        good = good && ((const uint8_t *)state.slot)[at] == 0;
    good = good && fs_min_run(&state, &(uint32_t){UINT32_MAX}, 1, NULL) < 0; /* one reference too many */
    good = good && fs_next_use(&pages, 1, pages, last, uses, 0) < 0;
    *misses = state.reg[0];
    free(last), free(uses), free(next), free(missed), free(cached), free(exact), free(all), free_state(state);
    return good;
}

/* The policies made of logs and lists: their misses, reference by reference, are those of one run over the whole trace,
 * at least MIN's, and a page just read is cached. */
int check_queues(void)
{
    enum { LONGEST = 3000 };
    static uint32_t trace[LONGEST];
    const int64_t count = (int64_t)draw(LONGEST);
    const uint32_t pages = 1 + (uint32_t)draw(draw(2) ? 20 : 500), kind = (uint32_t)draw(3);
    for (int64_t t = 0; t < count; t++)
        trace[t] = kind == 1 ? (uint32_t)t % pages : (uint32_t)draw(kind ? 1 + draw(pages) : pages);
    const uint64_t c = 1 + draw(draw(2) ? 12 : 400), window = c < 100 ? 1 : c / 100, kept = (c - window) * 4 / 5;
    uint64_t blocks = 1;
    while (blocks * 8 < c)
        blocks *= 2;
    const struct {
        int (*run)(struct fs_policy *, const uint32_t *, int64_t, uint8_t *);
        uint32_t fields;
        uint64_t most[3], more;
    } policies[] = {
        {fs_twoq_run, 2, {c + c / 2, c, 0}, 0},
        {fs_arc_run, 2, {c, 2 * c, 0}, 0},
        {fs_lfu_run, 1, {0, 0, 0}, 8 * (c + 1)},
        {fs_wtinylfu_run, 2, {window + 1, c - window + 1, kept + 1}, blocks * 16},
    };
    int64_t least;
    int good = check_min(trace, count, pages, c, &least);
    for (size_t k = 0; k < sizeof policies / sizeof *policies && good; k++) {
        struct fs_policy each = state_of(c, pages, policies[k].fields, policies[k].most, policies[k].more);
        if (k == 0)
            each.reg[1] = (int64_t)(c / 4), each.reg[2] = (int64_t)(c / 2);
        if (k == 2)
            each.slots /= 4; /* records of four fields */
        if (k == 3) {
            const int64_t reg[] = {(int64_t)window, (int64_t)kept, 0, (int64_t)(10 * c),
                                   (int64_t)(each.slots - blocks * 16), (int64_t)blocks - 1};
            memcpy(each.reg + 1, reg, sizeof reg);
        }
        const uint64_t slots = each.slots;
        struct fs_policy whole = each;
        whole.page = copy(each.page, (size_t)pages * policies[k].fields * 4), whole.reg = copy(each.reg, 32 * 8);
        whole.slot = copy(each.slot, slots * (k == 2 ? 16 : 4));
        uint32_t *exact = copy(trace, (size_t)count * 4);
        uint8_t *missed = malloc((size_t)count + 1), again = 0;
        if (!missed)
            abort();
        int64_t misses = 0;
        good = policies[k].run(&whole, exact, count, missed) == 0;
        for (int64_t t = 0; t < count && good; t++) {
            uint8_t one;
            good = policies[k].run(&each, exact + t, 1, &one) == 0 && one == missed[t];
            misses += one;
        }
        good = good && misses == whole.reg[0] && misses == each.reg[0] && misses >= least;
        good = good && memcmp(each.reg, whole.reg, 32 * 8) == 0;
        good = good && memcmp(each.slot, whole.slot, slots * (k == 2 ? 16 : 4)) == 0;
        if (count && good)
            good = policies[k].run(&each, exact + count - 1, 1, &again) == 0 && !again;
        good = good && policies[k].run(&whole, &pages, 1, NULL) < 0;
        whole.slots--;
        good = good && policies[k].run(&whole, exact, 0, NULL) < 0;
        free(exact), free(missed), free_state(each), free_state(whole);
    }
    return good;
}
