#include "parley/protocol/vertical/ot/field.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace parley::protocol::ot {
namespace {

/// x times a, modulo the polynomial.
Block doubled(const Block& a) {
  const uint64_t carry = mask_of(a.high >> 63);
  return {(a.low << 1) ^ (carry & 0x87), (a.high << 1) | (a.low >> 63)};
}

#if defined(__x86_64__)

/// Bits 128 and above of a product, times x^7 + x^2 + x + 1, twice: the second time 7 bits are
/// left.
__attribute__((target("pclmul"))) Block times_by_clmul(const Block& a, const Block& b) {
  const __m128i x = _mm_set_epi64x(static_cast<int64_t>(a.high), static_cast<int64_t>(a.low));
  const __m128i y = _mm_set_epi64x(static_cast<int64_t>(b.high), static_cast<int64_t>(b.low));
  const __m128i middle =
      _mm_xor_si128(_mm_clmulepi64_si128(x, y, 0x10), _mm_clmulepi64_si128(x, y, 0x01));
  const __m128i low = _mm_xor_si128(_mm_clmulepi64_si128(x, y, 0x00), _mm_slli_si128(middle, 8));
  const __m128i high = _mm_xor_si128(_mm_clmulepi64_si128(x, y, 0x11), _mm_srli_si128(middle, 8));
  const __m128i polynomial = _mm_set_epi64x(0, 0x87);
  const __m128i upper = _mm_clmulepi64_si128(high, polynomial, 0x01);
  const __m128i lower = _mm_clmulepi64_si128(high, polynomial, 0x00);
  const __m128i rest = _mm_clmulepi64_si128(_mm_srli_si128(upper, 8), polynomial, 0x00);
  const __m128i sum =
      _mm_xor_si128(_mm_xor_si128(low, lower), _mm_xor_si128(_mm_slli_si128(upper, 8), rest));
  Block out;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(&out), sum);
  return out;
}

using Times = Block (*)(const Block&, const Block&);
Times fastest() { return __builtin_cpu_supports("pclmul") ? times_by_clmul : times_by_masks; }

#else

using Times = Block (*)(const Block&, const Block&);
Times fastest() { return times_by_masks; }

#endif

}  // namespace

Block times_by_masks(const Block& a, const Block& b) {
  Block product, power = a;
  for (unsigned bit = 0; bit < 128; ++bit) {
    const uint64_t word = bit < 64 ? b.low : b.high;
    product ^= power & mask_of(word >> (bit % 64) & 1);
    power = doubled(power);
  }
  return product;
}

Block times(const Block& a, const Block& b) {
  static const Times kTimes = fastest();
  return kTimes(a, b);
}

Block column_hash(const Block& h, std::span<const Block> column) {
  Block sum;
  for (const Block& block : column) sum = times(sum, h) ^ block;
  return sum;
}

}  // namespace parley::protocol::ot
