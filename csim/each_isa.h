/* Compiles the file FS_EACH_ISA once for each instruction set, and lets FS_BEST(name) point to what the best one that
 * this CPU has defined as FS_NAME(name). */
#include "isa.h"
#include "mix64.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define FS_LANES 8
#define FS_NAME(x) x##_avx512
#define FS_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512ifma")))
#define FS_WIDEN(p) ((lanes_avx512)_mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(p))))
#define FS_NARROW(a) __builtin_convertvector(a, ids_avx512)
#define FS_MUL32(a, b) ((lanes_avx512)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#define FS_MIN32(a, b) ((lanes_avx512)_mm512_min_epu32((__m512i)(a), (__m512i)(b)))
#define FS_MULHI52(a, b) ((lanes_avx512)_mm512_madd52hi_epu64(_mm512_setzero_si512(), (__m512i)(a), (__m512i)(b)))
#include "lanes.h"

__attribute__((target("avx2"))) static inline __m128i narrow_avx2(__m256i a)
{
    const __m128 low = (__m128)_mm256_castsi256_si128(a), high = (__m128)_mm256_extracti128_si256(a, 1);
    return (__m128i)_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0));
}

#define FS_LANES 4
#define FS_NAME(x) x##_avx2
#define FS_TARGET __attribute__((target("avx2,fma")))
#define FS_WIDEN(p) ((lanes_avx2)_mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(p))))
#define FS_NARROW(a) ((ids_avx2)narrow_avx2((__m256i)(a)))
#define FS_MUL32(a, b) ((lanes_avx2)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#define FS_MIN32(a, b) ((lanes_avx2)_mm256_min_epu32((__m256i)(a), (__m256i)(b)))
#include "lanes.h"
#endif

typedef uint32_t words_plain __attribute__((vector_size(16)));

static inline words_plain min32_plain(words_plain a, words_plain b)
{
    words_plain less = (words_plain)(a < b);
    return (a & less) | (b & ~less);
}

#define FS_LANES 2
#define FS_NAME(x) x##_plain
#define FS_TARGET
#define FS_WIDEN(p) __builtin_convertvector(*(const ids_plain *)(p), lanes_plain)
#define FS_NARROW(a) __builtin_convertvector(a, ids_plain)
#if defined(__x86_64__)
#define FS_MUL32(a, b) ((lanes_plain)_mm_mul_epu32((__m128i)(a), (__m128i)(b)))
#else
#define FS_MUL32(a, b) (((a) & 0xFFFFFFFFu) * ((b) & 0xFFFFFFFFu))
#endif
#define FS_MIN32(a, b) ((lanes_plain)min32_plain((words_plain)(a), (words_plain)(b)))
#include "lanes.h"

#if defined(__x86_64__)
static int has_avx512(void)
{
    __builtin_cpu_init();
    return FS_ISA_LIMIT >= 2 && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512ifma");
}

static int has_avx2(void)
{
    __builtin_cpu_init();
    return FS_ISA_LIMIT >= 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#define FS_BEST(name) (has_avx512() ? &name##_avx512 : has_avx2() ? &name##_avx2 : &name##_plain)
#else
#define FS_BEST(name) (&name##_plain)
#endif
