/* The replay: whatever the engine, limits, faults and slices, what is started completes, once, and is counted. */
#define _POSIX_C_SOURCE 200809L /* fileno */
#include "check.h"
#include "stamp.h"

#include <errno.h>
#include <stdio.h>

enum { PAGES = 32, LONGEST = 400 };

static uint64_t sum(const struct fs_histogram *histogram)
{
    uint64_t total = 0;
    for (int bin = 0; bin < FS_HISTOGRAM_BINS; bin++)
        total += histogram->bins[bin];
    return total;
}

/* Slices until `limit` lookups are complete, or the -errno that ended it. How many it takes is up to the machine. */
static int run(struct fs_replay *replay, int64_t limit, struct fs_replay_result *result)
{
    const int64_t most_ns = 20000 + (int64_t)draw(300000);
    int code = 0;
    do
        code = fs_replay_slice(replay, most_ns, limit, result);
    while (!code && ((int64_t)result->lookups < limit || result->in_flight));
    return code;
}

static int check_engine(int engine, const struct fs_replay_plan *plan, int fd, struct fs_replay_faults *faults)
{
    static struct fs_replay_result result;
    struct fs_replay *replay;
    int64_t limit = (int64_t)draw(600), lookups = 0, reads = 0, groups = 0;
    for (int64_t g = 0; lookups < limit; g = (g + 1) % plan->groups, groups++) {
        lookups += plan->lookups[g];
        reads += plan->ends[g] - (g ? plan->ends[g - 1] : 0);
    }
    if (fs_replay_open(plan, engine, fd, faults, &replay))
        return 0;
    const int code = run(replay, limit, &result);
    int good = code == 0 && !result.in_flight && !result.error && !result.bad;
    good = good && (int64_t)result.lookups == lookups && (int64_t)result.reads == reads;
    good = good && (int64_t)result.groups == groups && result.bytes == result.reads * plan->page_bytes;
    good = good && result.read.count == result.reads && sum(&result.read) == result.reads;
    good = good && result.lookup.count == result.lookups && sum(&result.lookup) == result.lookups;
    good = good && result.in_flight_ns == result.read.sum && result.in_flight_ns <= plan->max_reads * result.wall_ns;
    good = good && (!plan->verify || result.checked == result.reads / plan->verify);
    good = good && fs_replay_slice(replay, 0, limit + 50, &result) == 0; /* close with reads in flight */
    fs_replay_close(replay);
    return good;
}

/* A page that is not what its number says is told, and so is one past the end. */
static int check_bad(int engine, struct fs_replay_plan plan, int fd, struct fs_replay_faults *faults)
{
    static struct fs_replay_result result;
    const uint32_t page = (uint32_t)draw(PAGES);
    const int64_t one = 1;
    struct fs_replay *replay;
    plan.pages = &page, plan.ends = plan.lookups = &one, plan.groups = 1, plan.verify = 1, plan.fold = 0;
    plan.base += 4096; /* the file's last page is missing now */
    plan.seed = 8;
    const uint64_t last = (plan.base + ((uint64_t)page + 1) * plan.page_bytes) / 4096;
    if (fs_replay_open(&plan, engine, fd, faults, &replay))
        return 0;
    const int code = run(replay, 1, &result);
    fs_replay_close(replay);
    if (last > PAGES)
        return code == -ENODATA && result.error == ENODATA && result.error_page == page;
    return code == 0 && result.bad == result.reads && result.bad_state == FS_STAMP_OTHER_SEED;
}

int check_replay(void)
{
    static uint32_t pages[LONGEST];
    static int64_t ends[LONGEST], lookups[LONGEST];
    static uint8_t block[PAGES * 4096];
    FILE *file = tmpfile();
    if (!file)
        return 1; /* no room for files here */
    fs_stamp_fill(block, 0, PAGES, 7);
    int good = fwrite(block, 4096, PAGES, file) == PAGES && fflush(file) == 0;
    const int64_t groups = 1 + (int64_t)draw(LONGEST / 4);
    int64_t reads = 0;
    for (int64_t g = 0; g < groups; g++) {
        for (uint64_t more = draw(2) * draw(LONGEST / (uint64_t)groups); more; more--)
            pages[reads++] = (uint32_t)draw(1000);
        ends[g] = reads;
        lookups[g] = g ? (int64_t)draw(4) : 1;
    }
    const uint32_t page_bytes = draw(2) ? 4096 : 8192;
    struct fs_replay_plan plan = {
        .pages = copy(pages, (size_t)reads * 4), .ends = copy(ends, (size_t)groups * 8), .groups = groups,
        .lookups = copy(lookups, (size_t)groups * 8), .page_bytes = page_bytes, .fold = PAGES * 4096 / page_bytes,
        .max_reads = 1 + (uint32_t)draw(draw(2) ? 4 : 40), .max_groups = (uint32_t)draw(3), .seed = 7,
        .rate = draw(2) ? 0 : 1e5 + (double)draw(1000000),
    };
    struct fs_replay_faults faults = {.seed = draw(100), .delay_ns = draw(2) * draw(9000), .every = (uint32_t)draw(9)};
    faults.every += faults.every == 1; /* else nothing would ever complete */
    faults.error = plan.max_reads == 1 ? EINTR : 0; /* with more, one read could meet it too often */
    faults.short_bytes = 512;
    for (int engine = 0; fs_engine_name(engine) && good; engine++) {
        const int test = strcmp(fs_engine_name(engine), "test") == 0, null = strcmp(fs_engine_name(engine), "null") == 0;
        plan.verify = null ? 0 : (uint32_t)draw(4);
        if (fs_engine_available(engine))
            continue;
        good = check_engine(engine, &plan, fileno(file), test ? &faults : NULL);
        good = good && (null || check_bad(engine, plan, fileno(file), test ? &faults : NULL));
        plan.verify = 0, plan.max_reads += FS_REPLAY_READS;
        struct fs_replay *replay;
        good = good && fs_replay_open(&plan, engine, fileno(file), NULL, &replay) == -EINVAL;
        plan.max_reads -= FS_REPLAY_READS;
    }
    free((void *)plan.pages), free((void *)plan.ends), free((void *)plan.lookups);
    fclose(file);
    return good;
}
