/* The model of a drive. */
#include "check.h"

static void *zeroed(size_t count, size_t bytes)
{
    void *made = calloc(count ? count : 1, bytes);
    if (!made)
        abort();
    return made;
}

/* Buffers of exact size for a drive whose numbers are set. */
static struct fs_drive_state *buffers(struct fs_drive *drive)
{
    const size_t reads = (size_t)drive->max_reads;
    drive->die_free = zeroed((size_t)drive->dies, 8), drive->channel_free = zeroed((size_t)drive->channels, 8);
    drive->heap = zeroed(reads, 8), drive->reads = zeroed(reads, sizeof *drive->reads);
    drive->begun = zeroed(reads, sizeof *drive->begun);
    drive->free_reads = zeroed(reads, 8), drive->free_groups = zeroed(reads, 8);
    drive->read_bins = zeroed(FS_HISTOGRAM_BINS, 8), drive->lookup_bins = zeroed(FS_HISTOGRAM_BINS, 8);
    for (size_t k = 0; k < reads; k++)
        drive->free_reads[k] = drive->free_groups[k] = (int64_t)k;
    return zeroed(1, sizeof(struct fs_drive_state));
}

static void free_buffers(struct fs_drive *drive, struct fs_drive_state *state)
{
    free(drive->die_free), free(drive->channel_free), free(drive->heap), free(drive->reads), free(drive->begun);
    free(drive->free_reads), free(drive->free_groups), free(drive->read_bins), free(drive->lookup_bins), free(state);
}

/* Reads in flight over time: those of complete reads, and of the others so far. */
static int counts_time(const struct fs_drive *drive, const struct fs_drive_state *state)
{
    int64_t sum = state->read_sum;
    for (int64_t slot = 0; slot < drive->max_reads; slot++) {
        int flies = 1;
        for (int64_t at = state->in_flight; at < drive->max_reads; at++)
            flies = flies && drive->free_reads[at] != slot;
        sum += flies ? state->now - drive->reads[slot].sent : 0;
    }
    return sum == state->in_flight_ns;
}

/* One run and one in pieces come to the same, and no station serves more than its time allows. */
int check_drive(void)
{
    enum { GROUPS = 40, MOST = 6 };
    const int64_t groups = 1 + (int64_t)draw(GROUPS), until = (int64_t)draw(300);
    int64_t *ends = zeroed((size_t)groups, 8), *lookups = zeroed((size_t)groups, 8), end = 0;
    for (int64_t group = 0; group < groups; group++) {
        ends[group] = end += (int64_t)draw(MOST);
        lookups[group] = (int64_t)draw(3);
    }
    lookups[0] += 1;
    uint32_t *pages = zeroed((size_t)end, 4);
    for (int64_t read = 0; read < end; read++)
        pages[read] = (uint32_t)draw(draw(2) ? 4 : UINT32_MAX);
    int64_t times[9];
    for (int k = 0; k < 9; k++)
        times[k] = (int64_t)draw(draw(3) ? 4 : 5000);
    struct fs_drive whole = {
        .wake = times[0], .read = times[1], .group = times[2], .delay = times[3], .sense = times[4],
        .jitter = times[5] < times[4] ? times[5] : times[4], .bus = times[6], .link = times[7],
        .cpu = times[8],
        .dies = 1 + (int64_t)draw(9), .channels = 1 + (int64_t)draw(4), .seed = draw(UINT64_MAX),
        .pages = pages, .ends = ends, .lookups = lookups, .groups = groups,
        .max_reads = 1 + (int64_t)draw(draw(2) ? 4 : 70), .max_groups = draw(2) ? 1 + (int64_t)draw(4) : INT32_MAX,
        .rate = draw(2) ? 0 : 1e4 * (double)(1 + draw(100000)),
    };
    struct fs_drive pieces = whole;
    struct fs_drive_state *one = buffers(&whole), *many = buffers(&pieces);
    int good = fs_drive_run(&whole, one, until, INT64_MAX) == 0;
    for (int64_t to = 0; to < until && good; to += 1 + (int64_t)draw(9))
        good = fs_drive_run(&pieces, many, to, many->now + (int64_t)draw(2000)) == 0;
    good = good && fs_drive_run(&pieces, many, until, INT64_MAX) == 0 && memcmp(one, many, sizeof *one) == 0;
    good = good && memcmp(whole.read_bins, pieces.read_bins, FS_HISTOGRAM_BINS * 8) == 0;
    good = good && memcmp(whole.lookup_bins, pieces.lookup_bins, FS_HISTOGRAM_BINS * 8) == 0;
    good = good && counts_time(&whole, one) && one->lookups >= until && one->reads + one->in_flight == one->sent;
    good = good && one->now >= one->reads * whole.cpu;
    good = good && one->now >= one->reads * whole.link && one->now * whole.channels >= one->reads * whole.bus;
    good = good && one->now * whole.dies >= one->reads * (whole.sense - whole.jitter);
    whole.max_reads = 0;
    good = good && fs_drive_run(&whole, one, until, INT64_MAX) < 0;
    whole.max_reads = pieces.max_reads, ends[groups - 1] = -1;
    good = good && fs_drive_run(&whole, one, until, INT64_MAX) < 0;
    free_buffers(&whole, one), free_buffers(&pieces, many);
    free(ends), free(lookups), free(pages);
    return good;
}
