// The owner's pass over its rows, fused so that it runs at the speed of memory: score, slope, clip,
// round to the lattice, sum in int64. It handles several records at a time and is compiled for two
// instruction sets of x86-64, chosen at run time (for other processors once, avx2.h). Every choice
// gives the integers that record_map.h defines.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parley/data/rows.h"
#include "parley/data/sparse_rows.h"
#include "parley/learn/kernel/lattice.h"
#include "parley/learn/loss.h"

namespace parley::learn {

enum class Isa { kV3, kV4 };  // x86-64-v3 (AVX2), x86-64-v4 (AVX-512)

/// The best that this processor has.
Isa fastest_isa();
/// The best for rows of so many columns: it may be the smaller one.
Isa fastest_isa(size_t columns);

/// The integer gradients of rows [begin, end) at theta, summed.
template <class Norm>
std::vector<int64_t> lattice_sum(const Losses& loss, const Lattice& lattice,
                                 std::span<const double> theta, const data::Rows& rows,
                                 size_t begin, size_t end, Isa isa);

template <class Norm>
std::vector<int64_t> lattice_sum(const Losses& loss, const Lattice& lattice,
                                 std::span<const double> theta, const data::Rows& rows,
                                 size_t begin, size_t end) {
  return lattice_sum<Norm>(loss, lattice, theta, rows, begin, end, fastest_isa(rows.columns()));
}

/// The same for sparse rows: the time depends on how many features are given.
template <class Norm>
std::vector<int64_t> lattice_sum(const Losses& loss, const Lattice& lattice,
                                 std::span<const double> theta, const data::SparseRows& rows,
                                 size_t begin, size_t end, Isa isa = fastest_isa());

}  // namespace parley::learn
