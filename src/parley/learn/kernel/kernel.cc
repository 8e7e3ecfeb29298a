#include "parley/learn/kernel/kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

#include "parley/base/math/avx2.h"
#include "parley/learn/kernel/record_map.h"

namespace parley::learn {
namespace {

/// What every record of a pass is treated with.
struct Pass {
  const double* theta;  // for dense rows, padded with zeros to the stride
  size_t stride;        // of dense rows
  double clip;
  double inverse_gamma;
  double bound;
};

template <class Norm>
Pass make_pass(const Lattice& lattice, const double* theta, size_t stride) {
  return {theta, stride, lattice.shortened<Norm>(), 1 / lattice.gamma(), lattice.bound<Norm>()};
}

/// In test builds: no record exceeds its integer bound.
template <class Norm>
void check_record(const Pass& pass, const double* z, size_t count, double slope) {
  double size = 0;
  for (size_t j = 0; j < count; ++j) {
    const double q = std::fma(slope, z[j], kShift) - kShift;
    size += std::is_same_v<Norm, L1> ? std::fabs(q) : q * q;
  }
  check(size <= record_limit<Norm>(pass.bound));
}

namespace v3 {
#include "parley/learn/kernel/vector_v3.inl"
// They need them:
#include "parley/learn/kernel/dense.inl"
#include "parley/learn/kernel/sparse.inl"
}  // namespace v3
#if defined(__x86_64__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("arch=x86-64-v4"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#endif
namespace v4 {
#include "parley/learn/kernel/vector_v4.inl"
// They need them:
#include "parley/learn/kernel/dense.inl"
#include "parley/learn/kernel/sparse.inl"
}  // namespace v4
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else
namespace v4 = v3;  // Other processors have one instruction set.
#endif

/// The largest block: all passes take a multiple of it.
constexpr size_t kBlock = std::max(v3::kBlock, v4::kBlock);

template <class L, class Norm>
void dense_pass(Isa isa, const L& loss, const Pass& pass, const double* z, const double* y,
                size_t rows, uint64_t* sum) {
  if (isa == Isa::kV4) return v4::dense_pass<L, Norm>(loss, pass, z, y, rows, sum);
  return v3::dense_pass<L, Norm>(loss, pass, z, y, rows, sum);
}

template <class L, class Norm>
void sparse_pass(Isa isa, const L& loss, const Pass& pass, const data::SparseRows& rows,
                 size_t begin, size_t end, uint64_t* sum) {
  if (isa == Isa::kV4) return v4::sparse_pass<L, Norm>(loss, pass, rows, begin, end, sum);
  return v3::sparse_pass<L, Norm>(loss, pass, rows, begin, end, sum);
}

}  // namespace

Isa fastest_isa() {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx512f") &&
                           __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512cd") &&
                           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide ? Isa::kV4 : Isa::kV3;
#else
  return Isa::kV3;
#endif
}

Isa fastest_isa(size_t columns) {
  // Memory is fetched ahead within a page, so a block that is longer than one costs more than wide
  // vectors save.
  constexpr size_t kPage = 4096;
  return columns * sizeof(double) * v4::kBlock <= kPage ? fastest_isa() : Isa::kV3;
}

template <class Norm>
std::vector<int64_t> lattice_sum(const Losses& loss, const Lattice& lattice,
                                 std::span<const double> theta, const data::Rows& rows,
                                 size_t begin, size_t end, Isa isa) {
  check(theta.size() == rows.columns() && lattice.dimension() == rows.columns());
  const size_t stride = rows.stride();
  std::vector<double> padded(theta.begin(), theta.end());
  padded.resize(stride);
  const Pass pass = make_pass<Norm>(lattice, padded.data(), stride);
  const size_t whole = (end - begin) / kBlock * kBlock, rest = end - begin - whole;
  std::vector<double> last(kBlock * stride), labels(kBlock);  // Rows of zeros add zero.
  std::copy_n(rows.values() + (begin + whole) * stride, rest * stride, last.begin());
  std::copy_n(rows.labels() + begin + whole, rest, labels.begin());
  std::vector<uint64_t> sum(stride);
  std::visit(
      [&]<class L>(const L& known) {
        dense_pass<L, Norm>(isa, known, pass, rows.values() + begin * stride, rows.labels() + begin,
                            whole, sum.data());
        if (rest > 0)
          dense_pass<L, Norm>(isa, known, pass, last.data(), labels.data(), kBlock, sum.data());
      },
      loss);
  const uint64_t shifts = (whole + (rest > 0 ? kBlock : 0)) * std::bit_cast<uint64_t>(kShift);
  std::vector<int64_t> result(rows.columns());
  for (size_t j = 0; j < result.size(); ++j) result[j] = static_cast<int64_t>(sum[j] - shifts);
  return result;
}

template <class Norm>
std::vector<int64_t> lattice_sum(const Losses& loss, const Lattice& lattice,
                                 std::span<const double> theta, const data::SparseRows& rows,
                                 size_t begin, size_t end, Isa isa) {
  check(theta.size() == rows.columns() && lattice.dimension() == rows.columns());
  const Pass pass = make_pass<Norm>(lattice, theta.data(), 0);
  std::vector<uint64_t> sum(rows.columns());
  std::visit(
      [&]<class L>(const L& known) {
        sparse_pass<L, Norm>(isa, known, pass, rows, begin, end, sum.data());
      },
      loss);
  return {sum.begin(), sum.end()};
}

template std::vector<int64_t> lattice_sum<L1>(const Losses&, const Lattice&,
                                              std::span<const double>, const data::Rows&, size_t,
                                              size_t, Isa);
template std::vector<int64_t> lattice_sum<L2>(const Losses&, const Lattice&,
                                              std::span<const double>, const data::Rows&, size_t,
                                              size_t, Isa);

template std::vector<int64_t> lattice_sum<L1>(const Losses&, const Lattice&,
                                              std::span<const double>, const data::SparseRows&,
                                              size_t, size_t, Isa);
template std::vector<int64_t> lattice_sum<L2>(const Losses&, const Lattice&,
                                              std::span<const double>, const data::SparseRows&,
                                              size_t, size_t, Isa);

}  // namespace parley::learn
