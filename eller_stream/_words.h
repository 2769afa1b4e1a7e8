/* The big words of each kind of machine, and the row step of _row.h made of each.
 *
 * A vector of 64-bit words can lie in two ways. *Along the row*, its words are neighbours in one row: then the carries of
 * additions and the parities go from lane to lane inside the vector. *Across bands*, its words stand at the same columns
 * of as many bands of the maze: every lane is a row of its own, and a carry goes from one vector to
 * the next of the same lane. The second way needs nothing but plain vector operations and is two to three times as
 * fast; but it needs that many bands, which only key rows give.
 *
 *   row_1      any machine                bands_2    x86-64 (SSE2) and 64-bit Arm (NEON)
 *   row_4      AVX2                       bands_4    AVX2
 *   row_8      AVX-512 with GFNI, VBMI    bands_8    AVX-512 with GFNI, VBMI
 *              and VPCLMULQDQ                        and VPCLMULQDQ
 */
#if defined(__clang__)
#define INLINE_HINT inline __attribute__((always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define INLINE_HINT inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")
#else
#define INLINE_HINT inline
#define UNROLL
#endif

#if (defined(__GNUC__) || defined(__clang__)) && (defined(__x86_64__) || defined(__i386__))
#define HAVE_X86_VECTORS 1
#include <immintrin.h>
#else
#define HAVE_X86_VECTORS 0
#endif

#if defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
#define HAVE_NEON 1
#include <arm_neon.h>
#else
#define HAVE_NEON 0
#endif

#if HAVE_NEON || (HAVE_X86_VECTORS && defined(__SSE2__))
#define HAVE_TWO_BANDS 1
#else
#define HAVE_TWO_BANDS 0
#endif

/* ---- along the row, one word: any machine --------------------------------------------------------- */

#define KIND row_1
#define LANES 1
#define STEP 1
#define TARGET
#define big word
#define big_carry unsigned
#define carry_any(x) (x)
#define big_load(x) (*(x))
#define big_store(x, y) (*(x) = (y))
#define big_fill(x) ((word)(x))
#define big_any(x) ((x) != 0)
#define big_lanes(x) ((unsigned)big_any(x))
#define big_reversed reversed_word
#define big_prefix_xor prefix_xor_word
#define big_add add_word

static INLINE_HINT word reversed_word(word x)
{
    x = ((x >> 1) & 0x5555555555555555) | ((x & 0x5555555555555555) << 1);
    x = ((x >> 2) & 0x3333333333333333) | ((x & 0x3333333333333333) << 2);
    x = ((x >> 4) & 0x0f0f0f0f0f0f0f0f) | ((x & 0x0f0f0f0f0f0f0f0f) << 4);
    x = ((x >> 8) & 0x00ff00ff00ff00ff) | ((x & 0x00ff00ff00ff00ff) << 8);
    x = ((x >> 16) & 0x0000ffff0000ffff) | ((x & 0x0000ffff0000ffff) << 16);
    return x >> 32 | x << 32;
}

static INLINE_HINT word prefix_xor_word(word x, unsigned *carry)
{
    for (int shift = 1; shift < 64; shift *= 2)
        x ^= x << shift;
    x ^= (word)0 - *carry;
    *carry = (unsigned)(x >> 63);
    return x;
}

static INLINE_HINT word add_word(word a, word b, unsigned *carry)
{
    word sum = a + b, with_carry = sum + *carry;
    *carry = (sum < a) | (with_carry < sum);
    return with_carry;
}

#include "_row.h"

/* ---- across 2 bands: baseline x86-64 and Arm ------------------------------------------------------ */

#if HAVE_TWO_BANDS

typedef word big_2 __attribute__((vector_size(16)));
typedef word words_2 __attribute__((vector_size(16), may_alias, aligned(8))); /* as it stands in memory */
typedef int64_t signed_2 __attribute__((vector_size(16)));

#define KIND bands_2
#define LANES 2
#define STEP LANES
#define TARGET
#define big big_2
#define big_signed signed_2
#define big_load(x) ((big_2)*(const words_2 *)(x))
#define big_store(x, y) (*(words_2 *)(x) = (words_2)(y))
#define big_fill(x) ((big_2){(word)(x), (word)(x)})
#define big_any(x) (((x)[0] | (x)[1]) != 0)
#define big_reversed reversed_words_2
#define big_prefix prefix_words_2

static INLINE_HINT big_2 reversed_words_2(big_2 x)
{
#if HAVE_NEON
    return (big_2)vrev64q_u8(vrbitq_u8((uint8x16_t)x));
#else
    x = (x >> 1 & big_fill(0x5555555555555555)) | (x & big_fill(0x5555555555555555)) << 1;
    x = (x >> 2 & big_fill(0x3333333333333333)) | (x & big_fill(0x3333333333333333)) << 2;
    x = (x >> 4 & big_fill(0x0f0f0f0f0f0f0f0f)) | (x & big_fill(0x0f0f0f0f0f0f0f0f)) << 4;
    __m128i y = _mm_or_si128(_mm_srli_epi16((__m128i)x, 8), _mm_slli_epi16((__m128i)x, 8));
    return (big_2)_mm_shufflehi_epi16(_mm_shufflelo_epi16(y, 0x1b), 0x1b);
#endif
}

static INLINE_HINT big_2 prefix_words_2(big_2 x)
{
    x ^= x << 1, x ^= x << 2, x ^= x << 4, x ^= x << 8, x ^= x << 16;
    return x ^ x << 32;
}

#include "_row.h"

#endif

#if HAVE_X86_VECTORS

/* The parities or carries of a vector along the row go through a small integer, one bit a lane: what reaches lane i is
 * bit i of the result, what leaves the last lane is the new carry. */
static INLINE_HINT unsigned spread_parity(unsigned parities, unsigned lanes, unsigned *carry)
{
    parities ^= parities << 1, parities ^= parities << 2, parities ^= parities << 4;
    unsigned before = parities << 1 ^ (0u - *carry);
    *carry = before >> lanes & 1;
    return before;
}

static INLINE_HINT unsigned spread_carries(unsigned carries, unsigned all_ones, unsigned lanes, unsigned *carry)
{
    unsigned sum = (carries << 1 | *carry) + all_ones; /* a lane of all ones hands a carry on: so does an addition */
    *carry = sum >> lanes;
    return sum ^ all_ones;
}

/* ---- 4 words: AVX2 --------------------------------------------------------------------------------- */

#define AVX2 __attribute__((target("avx2")))

typedef word big_4 __attribute__((vector_size(32)));
typedef int64_t signed_4 __attribute__((vector_size(32)));

#define load_4(x) ((big_4)_mm256_loadu_si256((const void *)(x)))
#define store_4(x, y) _mm256_storeu_si256((void *)(x), (__m256i)(y))
#define fill_4(x) ((big_4)_mm256_set1_epi64x((long long)(x)))
#define any_4(x) (!_mm256_testz_si256((__m256i)(x), (__m256i)(x)))

static const word LANE_MASKS[16][4] = {
#define M(bits) {0 - (word)((bits) & 1), 0 - (word)((bits) >> 1 & 1), 0 - (word)((bits) >> 2 & 1), 0 - (word)((bits) >> 3 & 1)}
    M(0), M(1), M(2), M(3), M(4), M(5), M(6), M(7), M(8), M(9), M(10), M(11), M(12), M(13), M(14), M(15)
#undef M
};

/* The bits of each word from right to left: the bytes change places, and each half of a byte is looked up. */
static INLINE_HINT AVX2 big_4 reversed_words_4(big_4 x)
{
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i from_low = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, -128, 64, -64, 32, -96, 96, -32, 16, -112, 80, -48, 48, -80, 112, -16));
    const __m256i from_high = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15));
    const __m256i bytes = _mm256_broadcastsi128_si256(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
    __m256i y = _mm256_shuffle_epi8((__m256i)x, bytes), high = _mm256_and_si256(_mm256_srli_epi64(y, 4), low);
    y = _mm256_shuffle_epi8(from_low, _mm256_and_si256(y, low));
    return (big_4)_mm256_or_si256(y, _mm256_shuffle_epi8(from_high, high));
}

static INLINE_HINT AVX2 big_4 reversed_4(big_4 x)
{
    return (big_4)_mm256_permute4x64_epi64((__m256i)reversed_words_4(x), 0x1b);
}

static INLINE_HINT AVX2 big_4 prefix_words_4(big_4 x)
{
    x ^= x << 1, x ^= x << 2, x ^= x << 4, x ^= x << 8, x ^= x << 16;
    return x ^ x << 32;
}

static INLINE_HINT AVX2 unsigned top_bits_4(big_4 x) { return (unsigned)_mm256_movemask_pd((__m256d)x); }

static INLINE_HINT AVX2 big_4 lane_mask_4(unsigned bits) { return load_4(LANE_MASKS[bits & 15]); }

static INLINE_HINT AVX2 big_4 prefix_xor_4(big_4 x, unsigned *carry)
{
    x = prefix_words_4(x);
    return x ^ lane_mask_4(spread_parity(top_bits_4(x), 4, carry));
}

static INLINE_HINT AVX2 big_4 add_4(big_4 a, big_4 b, unsigned *carry)
{
    big_4 sum = a + b, carries = (big_4)(sum < a), ones = (big_4)(sum == fill_4(-1));
    return sum - lane_mask_4(spread_carries(top_bits_4(carries), top_bits_4(ones), 4, carry));
}

#define KIND row_4
#define LANES 4
#define STEP 1
#define TARGET AVX2
#define big big_4
#define big_carry unsigned
#define carry_any(x) (x)
#define big_load load_4
#define big_store store_4
#define big_fill fill_4
#define big_any any_4
#define big_lanes(x) ((unsigned)big_any(x))
#define big_reversed reversed_4
#define big_prefix_xor prefix_xor_4
#define big_add add_4
#include "_row.h"

#define KIND bands_4
#define LANES 4
#define STEP LANES
#define TARGET AVX2
#define big big_4
#define big_signed signed_4
#define big_load load_4
#define big_store store_4
#define big_fill fill_4
#define big_any any_4
#define big_reversed reversed_words_4
#define big_prefix prefix_words_4
#include "_row.h"

/* ---- 8 words: AVX-512 ------------------------------------------------------------------------------ */

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,gfni,vpclmulqdq,pclmul")))

typedef word big_8 __attribute__((vector_size(64)));
typedef int64_t signed_8 __attribute__((vector_size(64)));

#define load_8(x) ((big_8)_mm512_loadu_si512((const void *)(x)))
#define store_8(x, y) _mm512_storeu_si512((void *)(x), (__m512i)(y))
#define fill_8(x) ((big_8)_mm512_set1_epi64((long long)(x)))
#define any_8(x) (_mm512_test_epi64_mask((__m512i)(x), (__m512i)(x)) != 0)

static INLINE_HINT AVX512 __m512i reversed_bytes_8(big_8 x) /* the bits of each byte */
{
    return _mm512_gf2p8affine_epi64_epi8((__m512i)x, _mm512_set1_epi64((long long)0x8040201008040201), 0);
}

static INLINE_HINT AVX512 big_8 reversed_words_8(big_8 x)
{
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
    return (big_8)_mm512_shuffle_epi8(reversed_bytes_8(x), bytes);
}

static INLINE_HINT AVX512 big_8 reversed_8(big_8 x)
{
    const __m512i from_last = _mm512_set_epi64(0x0001020304050607, 0x08090a0b0c0d0e0f, 0x1011121314151617, 0x18191a1b1c1d1e1f,
                                               0x2021222324252627, 0x28292a2b2c2d2e2f, 0x3031323334353637, 0x38393a3b3c3d3e3f);
    return (big_8)_mm512_permutexvar_epi8(from_last, reversed_bytes_8(x));
}

static INLINE_HINT AVX512 big_8 prefix_words_8(big_8 x) /* a carry-less product with all ones */
{
    const __m512i ones = _mm512_set1_epi64(-1);
    return (big_8)_mm512_unpacklo_epi64(_mm512_clmulepi64_epi128((__m512i)x, ones, 0x00),
                                        _mm512_clmulepi64_epi128((__m512i)x, ones, 0x01));
}

static INLINE_HINT AVX512 big_8 prefix_xor_8(big_8 x, unsigned *carry)
{
    const __m512i ones = _mm512_set1_epi64(-1);
    __m512i y = (__m512i)prefix_words_8(x);
    unsigned before = spread_parity(_mm512_movepi64_mask(y), 8, carry);
    return (big_8)_mm512_mask_xor_epi64(y, (__mmask8)before, y, ones);
}

static INLINE_HINT AVX512 big_8 add_8(big_8 a, big_8 b, unsigned *carry)
{
    const __m512i ones = _mm512_set1_epi64(-1);
    __m512i sum = (__m512i)(a + b);
    unsigned carries = _mm512_cmplt_epu64_mask(sum, (__m512i)a), all_ones = _mm512_cmpeq_epi64_mask(sum, ones);
    unsigned reached = spread_carries(carries, all_ones, 8, carry);
    return (big_8)_mm512_mask_sub_epi64(sum, (__mmask8)reached, sum, ones);
}

#define KIND row_8
#define LANES 8
#define STEP 1
#define TARGET AVX512
#define big big_8
#define big_carry unsigned
#define carry_any(x) (x)
#define big_load load_8
#define big_store store_8
#define big_fill fill_8
#define big_any any_8
#define big_lanes(x) ((unsigned)big_any(x))
#define big_reversed reversed_8
#define big_prefix_xor prefix_xor_8
#define big_add add_8
#include "_row.h"

#define KIND bands_8
#define LANES 8
#define STEP LANES
#define TARGET AVX512
#define big big_8
#define big_signed signed_8
#define big_load load_8
#define big_store store_8
#define big_fill fill_8
#define big_any any_8
#define big_reversed reversed_words_8
#define big_prefix prefix_words_8
#include "_row.h"

static int machine_lanes(void)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("gfni") &&
        __builtin_cpu_supports("vpclmulqdq"))
        return 8;
    return __builtin_cpu_supports("avx2") ? 4 : 1;
}

#else

static int machine_lanes(void) { return 1; }

#endif
