/* The vector path of place.c; see lanes.h. */

/* byte / page_bytes of bytes below 2^52, where page_bytes < 2^31 and the result < 2^32. The quotient of the doubles is
 * right or one too large (see lanes.h), and bit 31 of the rest says which. */
FS_TARGET static inline LANES FS_NAME(page)(LANES byte, LANES page_bytes, DOUBLES inverse)
{
    const LANES page = (LANES)(((DOUBLES)(byte | FS_2_52_BITS) - FS_2_52) * inverse + FS_2_52) ^ FS_2_52_BITS;
    return page - (((byte - FS_MUL32(page, page_bytes)) >> 31) & 1);
}

/* Extents of whole vectors of rows. Returns the number of rows done; *bits gets the bits of all pages. */
FS_TARGET static int64_t FS_NAME(extents)(struct region *region, const uint32_t *rows, int64_t count, uint64_t *bits)
{
    const LANES stride = ALL(region->stride), gap = ALL(region->gap), multiplier = ALL(region->shards.multiplier);
    const LANES page_bytes = ALL(region->page_bytes);
    const DOUBLES inverse = 1.0 / __builtin_convertvector(page_bytes, DOUBLES);
    const uint64_t addend = region->shards.addend, last_byte = region->last_byte;
    const uint32_t shard_shift = region->shards.shift, page_shift = region->page_shift;
    const int has_shards = region->gap > 0;
    LANES all = {};
    int64_t i = 0;
    for (; i + FS_LANES <= count; i += FS_LANES) {
        const LANES row = FS_WIDEN(rows + i);
        LANES start = *(const LANES *)(region->base + i) + FS_MUL32(row, stride), first, last;
        if (has_shards)
            start += FS_MUL32((FS_MUL32(row, multiplier) + addend) >> shard_shift, gap);
        if (page_shift < 64) {
            first = start >> page_shift, last = (start + last_byte) >> page_shift;
        } else {
            first = FS_NAME(page)(start, page_bytes, inverse);
            last = FS_NAME(page)(start + last_byte, page_bytes, inverse);
            all |= start >> 20; /* from 2^52 on no page id is below 2^32 */
        }
        *(LANES *)(region->extents + i) = first | last << 32;
        all |= first | last;
    }
    for (int lane = 0; lane < FS_LANES; lane++)
        *bits |= all[lane];
    return i;
}
