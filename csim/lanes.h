/* Vectors and exact remainders in one instruction set, for FS_EACH_ISA: a file of kernel code that is included below.
 * each_isa.h includes this with these defined, for every instruction set in turn:
 *   FS_LANES          64-bit lanes in a vector
 *   FS_NAME(x)        adds a suffix to a name
 *   FS_TARGET         function attribute
 *   FS_WIDEN(p)       FS_LANES uint32s at p, as 64-bit lanes
 *   FS_NARROW(a)      the low halves of each lane
 *   FS_MUL32(a, b)    64-bit products of the low halves of each lane
 *   FS_MIN32(a, b)    unsigned minimum of each 32-bit half
 *   FS_MULHI52(a, b)  upper 52 bits of the 104-bit products of the low 52 bits of each lane, where there is one
 *
 * Exact remainders without a division. Take x = the low 52 bits of z, and m < 2^31.
 * With FS_MULHI52: q = floor(x * floor((2^52 - 1) / m) / 2^52) is floor(x / m) or one less, so x - q m lies in [0, 2m).
 * Without: x and q are exact in a double, q = round(x * (1 / m)) is within 1/2 + 1/m of x / m, so x - q m lies in
 * (-m, m). (Adding 2^52 to a double below it rounds it to an integer, which is then the low bits of its mantissa.)
 * Either way 32 bits hold the rest modulo 2^32, and the smaller of it and its neighbour a modulus away is the remainder.
 */

typedef uint64_t FS_NAME(lanes) __attribute__((vector_size(FS_LANES * 8), aligned(4), may_alias));
typedef double FS_NAME(doubles) __attribute__((vector_size(FS_LANES * 8)));
typedef uint32_t FS_NAME(ids) __attribute__((vector_size(FS_LANES * 4), aligned(4), may_alias));
#define LANES FS_NAME(lanes)
#define DOUBLES FS_NAME(doubles)
#define IDS FS_NAME(ids)
#define ALL(x) ((LANES){} + (x))

#ifdef FS_MULHI52
#define INVERSE LANES
FS_TARGET static inline INVERSE FS_NAME(inverse)(LANES modulus)
{
    return __builtin_convertvector((FS_2_52 - 1) / __builtin_convertvector(modulus, DOUBLES), LANES);
}
#define AS_DOUBLE(z) (z)
#define QUOTIENT(z, inverse) FS_MULHI52(z, inverse)
#define EXCESS(rest, modulus) ((rest) - (modulus)) /* the quotient is right or one too small */
#else
#define INVERSE DOUBLES
FS_TARGET static inline INVERSE FS_NAME(inverse)(LANES modulus)
{
    return 1.0 / __builtin_convertvector(modulus, DOUBLES);
}
#define AS_DOUBLE(z) (((z) & FS_LOW_52) | FS_2_52_BITS)
#define QUOTIENT(z, inverse) ((LANES)(((DOUBLES)(z) - FS_2_52) * (inverse) + FS_2_52))
#define EXCESS(rest, modulus) ((rest) + (modulus)) /* the quotient is right or one too large */
#endif

/* fs_remainder in the low 32 bits of each lane; the upper half is rubbish. The upper 12 bits of z are those of 2^52 as
 * a double. */
FS_TARGET static inline LANES FS_NAME(remainder_of_double)(LANES z, LANES modulus, INVERSE inverse)
{
    LANES rest = z - FS_MUL32(QUOTIENT(z, inverse), modulus);
    return FS_MIN32(rest, EXCESS(rest, modulus));
}

/* The same of any z. */
FS_TARGET static inline LANES FS_NAME(remainder)(LANES z, LANES modulus, INVERSE inverse)
{
    return FS_NAME(remainder_of_double)(AS_DOUBLE(z), modulus, inverse);
}

#include FS_EACH_ISA

#undef INVERSE
#undef AS_DOUBLE
#undef QUOTIENT
#undef EXCESS
#undef FS_LANES
#undef FS_NAME
#undef FS_TARGET
#undef FS_MUL32
#undef FS_MIN32
#undef FS_MULHI52
#undef FS_WIDEN
#undef FS_NARROW
