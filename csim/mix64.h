/* Scalar arithmetic of the mix64 family, shared by the kernels and their vector paths. */
#ifndef FS_MIX64_H
#define FS_MIX64_H
#include <stdint.h>
#include <string.h>

/* Mix13 of D. Stafford, "Better Bit Mixing" (2011); the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
#define FS_MIX13_A 0xBF58476D1CE4E5B9u
#define FS_MIX13_B 0x94D049BB133111EBu

static inline uint64_t fs_mix13(uint64_t z)
{
    z = (z ^ (z >> 30)) * FS_MIX13_A;
    z = (z ^ (z >> 27)) * FS_MIX13_B;
    return z ^ (z >> 31);
}

static inline uint64_t fs_fold(uint64_t z)
{
    return z ^ (z >> 32);
}

#define FS_LOW_52 0xFFFFFFFFFFFFFu
#define FS_2_52 4503599627370496.0
#define FS_2_52_BITS 0x4330000000000000u /* the bits of 2^52 as a double */

/* R(z, m) of csim.h: 52 bits are what the vector paths reduce exactly, and bias no table that fits a drive. */
static inline uint64_t fs_remainder(uint64_t z, uint64_t m)
{
    return (z & FS_LOW_52) % m;
}

#endif
