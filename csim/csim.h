/* csim: the compiled kernels of flashsim. One public header, prefix fs_.
 *
 * Contract of every function: returns >= 0 (a count, or 0) or -errno; never prints, exits, or keeps globals; the caller
 * owns every buffer; nothing is allocated here, but for what fs_replay_open makes and fs_replay_close frees. Each kernel
 * has a numba twin of the same name in flashsim/kernels/nb/ and a plain-Python reference in tests/reference.py, and all
 * three agree to the last bit; the replay, which reads from a drive, has neither.
 *
 * Contents, in this order, a section for each file:
 *     tokens to ids   address, tables: row or page ids; place: rows to pages; match: the n-grams of a set;
 *                     weave: the ids in a workload's order
 *     caches          lru, stack: LRU at several capacities, at every one; the other policies, in a section together
 *     drives          stamp, target: what is read; io: the replay; drive: a model of the drive
 *
 * The lines between the two BINDING marks are also what the Python binding is generated from: plain C
 * declarations only.
 */
#ifndef FS_CSIM_H
#define FS_CSIM_H
#include <stdint.h>

/* BINDING BEGIN */

/* ---- address.c: tokens -> row or page ids, hash family "mix64" ----------------------------------------------------
 *
 * The state of order n of the n-gram that ends at token x0 (x1 before it, ...), with mix = Stafford's Mix13:
 *     h_1 = mix(x0 ^ seed_1)
 *     h_n = mix(g_(n-1) ^ (x_(n-1) << 32) ^ seed_n),   g_1 = x0,  g_n = h_n
 * and of its head k: u_nk = fold(h_n * multiplier_nk), fold(z) = z ^ (z >> 32). A table takes the low 52 bits of a state
 * modulo its size: R(z, m) = (z mod 2^52) mod m.
 *
 * FS_WHOLE   one id an order:   (base_n + R(h_n, modulus_n)) / divisor
 * FS_HEADS   one id a head:     (head_base_nk + R(u_nk, head_modulus_nk)) / divisor
 * FS_BUCKET  one id a head:     (base_n + R(h_n, modulus_n)) * scale
 *                               + (head_base_nk + R(u_nk, head_modulus_nk)) / divisor
 *
 * Orders are increasing. Moduli lie in [1, 2^31). Tables of heads hold `stride` entries an order, a multiple of 8 and
 * at least `heads`, so that a vector of heads can be loaded whole (the spare ones need a modulus too).
 * x / divisor is computed as (x * divide_multiplier + divide_addend) >> divide_shift: see flashsim/kernels/plan.py.
 */
enum { FS_WHOLE = 0, FS_HEADS = 1, FS_BUCKET = 2 };

struct fs_mix_plan {
    uint32_t kind;
    uint32_t orders_count;
    const uint32_t *orders;
    const uint64_t *seeds;   /* seeds[n] of order n = 1 .. largest order; seeds[0] is unused */
    const uint64_t *modulus; /* [orders_count] */
    const uint64_t *base;    /* [orders_count] */
    uint32_t scale;
    uint32_t heads;
    uint32_t stride;
    const uint64_t *head_multiplier; /* [orders_count * stride], and so are the next two */
    const uint64_t *head_modulus;
    const uint64_t *head_base;
    uint64_t divide_multiplier;
    uint64_t divide_addend;
    uint32_t divide_shift;
};

/* ids of tokens [first, ids_count); what lies before `first` is context. starts: positions in ids at which a document
 * starts, increasing; position 0 counts as one. An order whose n-gram would reach past its document's start emits
 * nothing. out must have room for that many tokens' ids (orders_count each with FS_WHOLE, else orders_count * heads).
 * counts: NULL, or one byte a token for the number of orders it had in reach.
 * Returns the number of ids written, or -EINVAL. */
int64_t fs_mix_address(const struct fs_mix_plan *plan, const uint32_t *ids, int64_t ids_count, int64_t first,
                       const int64_t *starts, int64_t starts_count, uint32_t *out, int64_t out_capacity,
                       uint8_t *counts);

/* ---- tables.c: tokens -> row ids of published tables --------------------------------------------------------------
 *
 * Every token reads one row of each table t, tables in order:
 *     z_t   = OP over k = 0 .. depth - 1 of (c[k][t] * y_k), wrapping; OP = XOR or SUM
 *     row_t = base[t] + (z_t as a signed number of `word` bits, non-negative remainder by modulus[t])
 * c[k][t] is 0 at and beyond the table's order. y_k is the token k before. Where that lies before the document's start:
 * FS_FILLER    y_k = filler
 * FS_RESERVED  a table with such a token among its order[t] reads reserved[t] instead
 *
 * Moduli lie in [1, 2^31), base + modulus is at most 2^32. Arrays hold `stride` entries (a row of coefficients too), a
 * multiple of 8 and at least `tables`, so that a vector of tables can be loaded whole; spare ones need modulus 1.
 */
enum { FS_XOR = 0, FS_SUM = 1, FS_FILLER = 0, FS_RESERVED = 1 };

struct fs_table_plan {
    uint32_t op;
    uint32_t word; /* 64 or 32 */
    uint32_t missing;
    uint32_t filler;
    uint32_t depth; /* 1 .. 16 */
    uint32_t tables;
    uint32_t stride;
    const uint64_t *coefficients; /* [depth][stride] */
    const uint64_t *modulus;
    const uint64_t *base;
    const uint32_t *order; /* 1 .. depth */
    const uint32_t *reserved;
};

/* ids, first, starts: see fs_mix_address. Returns the number of rows written, `tables` a token, or -EINVAL. */
int64_t fs_table_rows(const struct fs_table_plan *plan, const uint32_t *ids, int64_t ids_count, int64_t first,
                      const int64_t *starts, int64_t starts_count, uint32_t *out, int64_t out_capacity);

/* ---- place.c: row ids -> page ids ----------------------------------------------------------------------------------
 *
 * A token's rows are those of columns 0 .. count - 1. In region g (weights, scales, ...) row r of column c starts at
 * byte
 *     base[g][c] + r * stride[g] + floor(r / shard_rows) * shard_gap
 * and each page that one of its bytes[g] bytes lies on is emitted, in order: packed rows may straddle pages. With
 * rows_per_page > 0, instead, row_pages pages are emitted from the one of byte
 *     base[0][c] + floor(r / rows_per_page) * row_pages * page_bytes
 * and there is one region and no shards. A row's regions follow each other.
 */
enum { FS_PLACE_COLUMNS = 512, FS_PLACE_REGIONS = 4 };

struct fs_place_plan {
    uint32_t columns;       /* rows a token, at most; 1 .. FS_PLACE_COLUMNS */
    uint32_t regions;       /* 1 .. FS_PLACE_REGIONS */
    const int64_t *base;    /* [regions][columns] within 2^62 of 0 */
    const uint64_t *stride; /* [regions] below 2^30, and so are the next two */
    const uint64_t *bytes;  /* [regions] at least 1 */
    uint64_t shard_gap;     /* bytes that every whole shard before a row adds */
    uint64_t shard_rows;    /* 0 = no shards */
    uint64_t page_bytes;    /* a multiple of 512, at most 2^20 */
    uint64_t rows_per_page; /* 0 = packed */
    uint64_t row_pages;     /* a token has at most 65,535 pages */
};

/* row_counts: rows of each token, or NULL = `columns` each. counts: NULL, or receives the pages of each token. out must
 * have room for as many pages as the rows may emit at most: where every base, stride and gap of a region is a multiple
 * of u, a row of b bytes has at most floor((page_bytes - u + b - 1) / page_bytes) + 1 pages there. All of that room may
 * be written to.
 * Returns the number of pages written, -EINVAL, or -ERANGE where a page id does not fit 32 bits. */
int64_t fs_place(const struct fs_place_plan *plan, const uint32_t *rows, const uint16_t *row_counts, int64_t tokens,
                 uint32_t *out, int64_t out_capacity, uint16_t *counts);

/* ---- match.c: the longest n-gram of a set ----------------------------------------------------------------------------
 *
 * The set is a trie over tokens, newest first, in one hash table of `mask` + 1 slots (a power of two) of two words, with
 * linear probing from mix(key) & mask. A slot's first word is its key, the parent and the next older token:
 *     (x0 << 32) | x1 below the root, (2^31 + parent's node) << 32 | x_k further down; all ones = empty
 * its second the node's number in the lower half and in the upper one the row of the n-gram that ends there, 2^32 - 1 =
 * none. Tokens and nodes are below 2^31. At least one slot is empty.
 *
 * A token emits the row of the longest n-gram of 2 to `depth` tokens that ends with it, or nothing. counts: NULL, or one
 * a token. Other arguments, and what is returned, as with fs_mix_address; room for one id a token. */
int64_t fs_match(const uint64_t *slots, uint64_t mask, uint32_t depth, const uint32_t *ids, int64_t ids_count,
                 int64_t first, const int64_t *starts, int64_t starts_count, uint32_t *out, int64_t out_capacity,
                 uint16_t *counts);

/* ---- weave.c: the ids of tokens in a workload's order, each once a step ------------------------------------------
 *
 * Token t has ids[ends[t - 1]] up to ids[ends[t]], ends[-1] = 0. The i-th token that is handed out is order[i], or i where
 * order is NULL; step s has those from step_ends[s - 1] on up to step_ends[s]. Of a step every different id is handed
 * out once, where it first comes up; with seen == NULL, every id as often as it comes.
 *
 * seen: mask + 1 slots, a power of two and more than a step's different ids, zeroed or as an earlier call left them.
 * stamp: 1 or more, step s takes stamp + s; none twice for the same `seen`. counts: [emitted] how many ids each token
 * handed out. Returns the number of ids in `out`, or -EINVAL. */
int64_t fs_weave(const uint32_t *ids, int64_t ids_count, const int64_t *ends, int64_t tokens, const int32_t *order,
                 int64_t emitted, const int64_t *step_ends, int64_t steps, uint64_t *seen, uint64_t mask, uint32_t stamp,
                 uint32_t *out, int64_t out_capacity, uint16_t *counts);

/* ---- lru.c: exact LRU at up to FS_LRU_LANES capacities in one pass ------------------------------------------------
 *
 * An LRU cache of C pages holds the C pages touched last. So there is a time tau_C such that a page is in the cache
 * if and only if its last access is later, and nothing but last[page] and the tau of each capacity need be kept. tau_C
 * moves forward by one live slot at every miss of a full cache; a slot is live while its access is its page's newest.
 *
 * The caller sets the first group of fields, zeroes the second and the three buffers, and then calls fs_lru_run with
 * one piece of the trace after the other. Time is counted in slots and renumbered when they run out, so memory is
 * bounded by `pages`, not by the length of the trace: 4 B a page + 3/16 B a slot.
 */
enum { FS_LRU_LANES = 16 };

struct fs_lru {
    uint32_t lanes;        /* capacities in use, 1 .. FS_LRU_LANES */
    uint64_t capacity[16]; /* pages, increasing, each >= 1 */
    uint64_t pages;        /* every id is below this */
    uint64_t slots;        /* a multiple of 128, at least pages + 256, below 2^31 */
    uint32_t *last;        /* [pages] 1 + slot of the page's newest access, 0 = never touched */
    uint64_t *live;        /* [slots / 64] one bit a slot; exact from the smallest tau to now */
    uint32_t *ranks;       /* [slots / 64] scratch of the renumbering */

    uint64_t misses[16];   /* misses so far, by capacity */
    uint64_t evicted[16];  /* live slots that tau has passed */
    uint64_t distinct;     /* pages touched so far = cold misses at every capacity */
    uint32_t now;          /* next free slot */
    int32_t tau[16];       /* last[page] > tau[k]: in the cache of capacity[k] */
    int32_t bound[16];     /* what tau cannot pass before the next settling; and what follows from it: */
    uint32_t scanned[16];  /* words below bound */
    int32_t room[16];      /* live slots in [tau, scanned * 64) */
};

/* trace: `count` page ids in access order. classes: NULL, or one byte a reference for the number of capacities it
 * missed in (0 = a hit even in the smallest, because a hit in one is a hit in every larger one).
 * Returns 0, -EINVAL for a bad state, or -ERANGE at the first id that is not below `pages` (the ids before it count). */
int fs_lru_run(struct fs_lru *lru, const uint32_t *trace, int64_t count, uint8_t *classes);

/* ---- stack.c: LRU at every capacity, exactly -----------------------------------------------------------------------
 *
 * The stack distance of a reference is the number of distinct pages touched since its page's last access, itself
 * included: an LRU cache of C pages hits if and only if the distance is at most C (Mattson et al., 1970). It is 1 + the
 * live slots after last[page]; see fs_lru for slots. Counting them takes one popcount in a block of 512 slots and two
 * prefix counts, which are brought up to date once a batch.
 *
 * The caller sets the first group of fields and zeroes everything else. Memory: 8 B a page + 0.13 B a slot.
 */
enum { FS_STACK_BLOCK = 512, FS_STACK_SUPER = 32768 }; /* slots */

struct fs_stack {
    uint64_t pages;    /* every id is below this */
    uint64_t slots;    /* a multiple of FS_STACK_SUPER, at least pages + 256, below 2^31 */
    uint32_t *last;    /* [pages] 1 + slot of the page's newest access, 0 = never touched */
    uint32_t *counts;  /* [pages + 1] counts[d] = references at distance d since the caller last zeroed it */
    uint64_t *live;    /* [slots / 64] */
    uint16_t *blocks;  /* [slots / 512] live slots in the blocks before this one in its superblock */
    uint32_t *supers;  /* [slots / 32768] live slots in the superblocks before this one */
    uint32_t *removed; /* [slots / 32768] slots cleared in this batch */
    uint32_t *ranks;   /* [slots / 64] scratch of the renumbering */

    uint64_t distinct; /* pages touched so far = cold references */
    uint32_t now;      /* next free slot */
};

/* trace: `count` page ids in access order, at most 2^32 - 1 between two readings of counts. distances: NULL, or one a
 * reference, 0 for a first touch. Returns 0, -EINVAL, or -ERANGE where an id is not below `pages` (then nothing of this
 * call counts but batches before it). */
int fs_stack_run(struct fs_stack *stack, const uint32_t *trace, int64_t count, uint32_t *distances);

/* ---- the other policies: one file each, one capacity a run ----------------------------------------------------------
 *
 * All have the same form: fs_NAME_run goes on with a piece of the trace over a state that the caller owns. What the
 * fields of a record mean is said in the policy's .c file; how many there are, and every constant, in
 * flashsim/cache/NAME.py. All buffers start zeroed but for the registers that file sets.
 */
struct fs_policy {
    uint64_t capacity; /* pages */
    uint64_t pages;    /* every id is below this */
    uint64_t slots;    /* records of `slot` */
    uint32_t *page;    /* [pages][fields] a record for each page, zero as long as the page was never read */
    uint32_t *slot;    /* [slots][fields] records of queues and rings */
    int64_t *reg;      /* [32] registers: reg[0] counts misses, the rest are the policy's */
};

/* trace: `count` page ids in access order. missed: NULL, or one byte a reference, 1 where it missed. Returns 0,
 * -EINVAL for a bad state, or -ERANGE at the first id that is not below `pages` (the ids before it count). */
int fs_fifo_run(struct fs_policy *policy, const uint32_t *trace, int64_t count, uint8_t *missed);
int fs_clock_run(struct fs_policy *policy, const uint32_t *trace, int64_t count, uint8_t *missed);
int fs_clock2_run(struct fs_policy *policy, const uint32_t *trace, int64_t count, uint8_t *missed);
int fs_sieve_run(struct fs_policy *policy, const uint32_t *trace, int64_t count, uint8_t *missed);
int fs_s3fifo_run(struct fs_policy *policy, const uint32_t *trace, int64_t count, uint8_t *missed);
int fs_slru_run(struct fs_policy *policy, const uint32_t *trace, int64_t count, uint8_t *missed);
int fs_random_run(struct fs_policy *policy, const uint32_t *trace, int64_t count, uint8_t *missed);
int fs_twoq_run(struct fs_policy *policy, const uint32_t *trace, int64_t count, uint8_t *missed);
int fs_arc_run(struct fs_policy *policy, const uint32_t *trace, int64_t count, uint8_t *missed);
int fs_lfu_run(struct fs_policy *policy, const uint32_t *trace, int64_t count, uint8_t *missed);
int fs_wtinylfu_run(struct fs_policy *policy, const uint32_t *trace, int64_t count, uint8_t *missed);

/* MIN knows the future: its trace is, for each reference, the time of the next one to the same page, 2^32 - 1 = never;
 * -ERANGE where that is not later than now or past the end (reg[4]). fs_next_use makes it of a trace that comes in
 * pieces, `first` references (2^32 - 2 in all, at most) having come before: uses[first ..] is written, and what last
 * used each page is linked to now. last: [pages], zeroed at first. */
int fs_min_run(struct fs_policy *policy, const uint32_t *uses, int64_t count, uint8_t *missed);
int fs_next_use(const uint32_t *trace, int64_t count, uint64_t pages, uint32_t *last, uint32_t *uses, int64_t first);

/* ---- stamp.c: pages that prove what they are -----------------------------------------------------------------------
 *
 * A target of replays is filled with stamps of FS_STAMP_BYTES: stamp `number` stands at byte number * FS_STAMP_BYTES and
 * holds its number, the target's seed, a checksum and bytes that do not compress. The form is in stamp.h, which also has
 * what a loop needs to check one page.
 */
enum {
    FS_STAMP_GOOD = 0,
    FS_STAMP_ZERO = 1,       /* nothing but zeros: a hole, trimmed, or never written */
    FS_STAMP_FOREIGN = 2,    /* no stamp */
    FS_STAMP_DAMAGED = 3,    /* a stamp whose checksum is wrong */
    FS_STAMP_OTHER_SEED = 4, /* a sound stamp of another target */
    FS_STAMP_OTHER_PAGE = 5  /* a sound stamp of this target with another number */
};
enum { FS_STAMP_BYTES = 4096 };

/* block: `pages` stamps, numbered from `first`. Returns 0 or -EINVAL. */
int fs_stamp_fill(uint8_t *block, uint64_t first, int64_t pages, uint64_t seed);

/* states: [pages] receives the FS_STAMP_ state of each. Returns how many are not good, or -EINVAL. */
int64_t fs_stamp_check_pages(const uint8_t *block, uint64_t first, int64_t pages, uint64_t seed, uint8_t *states);

/* ---- target.c: what the kernel says of a file that is to be read past the page cache ------------------------------*/

/* Alignments of direct I/O by statx (Linux 6.1): memory, offset receive bytes, 0 where direct I/O is not supported.
 * Returns 1, 0 where the file system does not tell (it reads through the page cache), or -errno. */
int fs_dio_align(int fd, uint32_t *memory, uint32_t *offset);

/* How many pages of the file are in the page cache, by cachestat (Linux 6.5), or -errno. */
int64_t fs_cached_pages(int fd);

/* Allocates the first `bytes` of the file, which become its size if it was smaller; 0 or -errno. posix_fallocate would
 * write them where the file system cannot allocate. */
int fs_allocate(int fd, int64_t bytes);

/* ---- io.c: the page reads of a trace, sent to a file or block device ------------------------------------------------
 *
 * A group is what is sent and waited for together: one token, or one chunk of tokens. Groups start in order, and their
 * reads are sent in order, while at most max_reads reads and max_groups groups are in flight; a group is in flight from
 * its first read sent to its last complete, and one without reads completes as it starts. Past the last group comes the
 * first again. With a rate, group g is due (lookups before it) / rate after the first slice began, and not sent before.
 *
 * Latency of a read: sent to complete. Of a lookup: its group's, from the first read sent (or, with a rate, from when
 * the group was due) to the last complete; each of a group's lookups counts. Times are stamped once for the reads that
 * are sent together, before they are, and once for those that are found complete together.
 */
enum {
    FS_HISTOGRAM_BINS = 1856,   /* 64 an octave: see histogram.h */
    FS_REPLAY_READS = 4096,     /* most in flight */
    FS_REPLAY_SLICE = 100000000 /* longest slice, ns */
};

/* Bits of notes: what the engine had to do without. */
enum {
    FS_NOTE_WORKERS = 1, /* threads: fewer workers than max_reads */
    FS_NOTE_BUFFERS = 2, /* io_uring: buffers not registered (RLIMIT_MEMLOCK) */
    FS_NOTE_FILE = 4,    /* io_uring: file not registered */
    FS_NOTE_FLAGS = 8    /* io_uring: without DEFER_TASKRUN and SINGLE_ISSUER (Linux 6.1) */
};

struct fs_replay_plan {
    const uint32_t *pages;   /* in the order they are sent */
    const int64_t *ends;     /* [groups] group g's are pages[ends[g - 1]] .. pages[ends[g] - 1] */
    const int64_t *lookups;  /* [groups] */
    int64_t groups;
    uint32_t page_bytes;     /* a multiple of 512, at most 1 MiB */
    uint64_t base;           /* offset of page 0 in the target, bytes */
    uint64_t fold;           /* page numbers are taken modulo this; 0 = as they are */
    uint32_t max_reads;      /* 1 .. FS_REPLAY_READS */
    uint32_t max_groups;     /* 0 = as many as it takes */
    double rate;             /* lookups a second, 1e-6 .. 1e12; 0 = as fast as the limits allow */
    uint32_t verify;         /* the stamp of every n-th read is checked; 0 = none */
    uint64_t seed;           /* of the stamps */
};

struct fs_histogram {
    uint64_t bins[FS_HISTOGRAM_BINS];
    uint64_t count, sum, max; /* sum and max in ns */
};

/* All since the first slice began. */
struct fs_replay_result {
    uint64_t lookups, groups, reads, bytes; /* complete */
    uint64_t in_flight;                     /* reads */
    uint64_t in_flight_ns;                  /* reads in flight, summed over time */
    uint64_t wall_ns, gap_ns;               /* to the end of this slice; of that, between slices */
    uint64_t cpu_ns;                        /* of the process, inside slices */
    uint64_t enters;                        /* system calls that sent or awaited reads */
    uint64_t short_reads, retries;          /* gone on with; sent again after EINTR or EAGAIN */
    uint64_t checked, bad;                  /* reads with stamps checked and found wrong; the first of those: */
    uint64_t bad_number, bad_held;          /* number of its stamp, and the number that it holds */
    int32_t bad_state;                      /* FS_STAMP_ */
    uint32_t notes;                         /* FS_NOTE_ */
    int32_t error;                          /* errno of the read that failed, ENODATA = past the end; or 0 */
    uint64_t error_page, error_offset;
    struct fs_histogram read, lookup; /* latencies */
};

/* What the engine `test` does wrong; NULL for every other. */
struct fs_replay_faults {
    int32_t open_error;  /* errno of fs_replay_open */
    uint32_t every;      /* every n-th completion is faulty; 0 = none */
    int32_t error;       /* its errno; 0 = a short read */
    uint32_t short_bytes;
    uint64_t delay_ns;   /* from sent to complete; 0 = at once, in an order drawn with seed */
    uint64_t seed;
    uint64_t *events;    /* NULL, or receives a read's index in pages as it is sent, 2^63 + that as it completes */
    int64_t events_room, events_count;
};

struct fs_replay;

/* Engines by number from 0. NULL past the last one. */
const char *fs_engine_name(int engine);
/* 0, -EOPNOTSUPP = not built, or the -errno that its system calls give here. */
int fs_engine_available(int engine);

/* fd: the target, open for reading (with O_DIRECT for the drive itself). The plan's arrays and faults->events stay the
 * caller's and must outlive the replay. Returns 0, -EINVAL for a bad plan, -ENOMEM, or what the engine answered. */
int fs_replay_open(const struct fs_replay_plan *plan, int engine, int fd, struct fs_replay_faults *faults,
                   struct fs_replay **opened);

/* Goes on for max_ns (FS_REPLAY_SLICE at most). No group starts once max_lookups lookups have started since the first
 * slice; when those are complete the slice ends. So max_lookups = 0 waits for what has been started. Slices are called
 * by the thread that opened the replay. Returns 0 or -errno; result is filled in any case. */
int fs_replay_slice(struct fs_replay *replay, int64_t max_ns, int64_t max_lookups, struct fs_replay_result *result);

/* Waits for the reads in flight. */
void fs_replay_close(struct fs_replay *replay);

/* ---- drive.c: a drive that is not there, reads as customers of a queueing network ------------------------------------
 *
 * The same groups under the same limits as in io.c, on simulated time from 0. A read passes, first come first served:
 *
 *   cpu       the sender's, one server: `cpu` ns a read. As many reads of a group as may be sent at one time go in bursts
 *             of max_reads / 8 (at least 3), as io_uring.c sends them, and each when all of its burst are through
 *   host      one server: `read` ns a read, and `group` ns more for the first of its group. It works in batches: idle or
 *             done with a batch, it first takes `wake` ns, and what is sent before they end belongs to the next.
 *   delay     `delay` ns, for any number of reads at once
 *   die       `sense` ns -+ up to `jitter`, drawn evenly by read number; a page lies on die d(page)
 *   channel   `bus` ns, channel (die modulo channels)
 *   link      `link` ns, one for all
 *
 * with z = mix13(seed ^ page): d = (z >> 32) * dies >> 32, and for the n-th read, n from 0, z = mix13(seed + n * golden):
 * sense - jitter + ((z >> 32) * (2 * jitter + 1) >> 32), golden = 0x9E3779B97F4A7C15. A station of 0 ns is not there.
 * Times are whole ns. Of events at one time the one with the smaller (step, slot) comes first: die, channel, link; a slot
 * is the place of a read in `reads`. Reads are sent after every event, and when their group is due.
 */
struct fs_drive_read {
    int64_t sent, group, channel; /* group: its place in begun */
};

struct fs_drive_group {
    int64_t began, lookups, left;
};

struct fs_drive {
    int64_t cpu, wake, read, group, delay, sense, jitter, bus, link; /* ns, each below 2^31; jitter <= sense */
    int64_t dies, channels;
    uint64_t seed;

    const uint32_t *pages; /* as in fs_replay_plan, and so are the next six */
    const int64_t *ends;
    const int64_t *lookups;
    int64_t groups;
    int64_t max_reads;
    int64_t max_groups;
    double rate;

    int64_t *die_free;             /* [dies] when the last read sent to it is done; zeroed */
    int64_t *channel_free;         /* [channels] zeroed */
    uint64_t *heap;                /* [max_reads] */
    struct fs_drive_read *reads;   /* [max_reads] */
    struct fs_drive_group *begun;  /* [max_reads] groups in flight */
    int64_t *free_reads;           /* [max_reads] 0, 1, 2 ...: the places in reads that are free from in_flight on */
    int64_t *free_groups;          /* [max_reads] likewise in begun */
    uint64_t *read_bins;           /* [FS_HISTOGRAM_BINS] latencies; zeroed */
    uint64_t *lookup_bins;
};

/* Zeroed at first. Times in ns. */
struct fs_drive_state {
    int64_t now;
    int64_t lookups, groups, reads;     /* complete */
    int64_t in_flight, groups_in_flight;
    int64_t in_flight_ns;               /* reads in flight, summed over time */
    int64_t read_sum, read_max, lookup_sum, lookup_max;
    int64_t started, sent;              /* lookups and reads */
    int64_t next_group, next_read, end; /* to start; to send, and where its group ends */
    int64_t sending;                    /* the place in begun of the group that next_read belongs to */
    int64_t burst, cpu_free;            /* reads of the burst that are still to be sent; when it is through */
    int64_t host_free, gate, link_free; /* gate: until when a read joins the host's batch */
    int64_t hole;                       /* 1 = the first key of the heap is past and may be overwritten */
};

/* Goes on until `lookups` lookups are complete since the first call, or it is `until` ns. Returns 0, -EINVAL for what is
 * out of range or a trace without lookups, or -ERANGE when 2^46 ns (19 hours) have passed. */
int fs_drive_run(const struct fs_drive *drive, struct fs_drive_state *state, int64_t lookups, int64_t until);

/* BINDING END */
#endif
