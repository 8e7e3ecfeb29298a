// Check (iii) of docs/checks.md on packed sparse rows, where the place of a
// record's numbers in memory depends on the lengths of the records before it.
#include <gtest/gtest.h>

#include <cmath>

#include "parley/learn/kernel/kernel.h"
#include "support/entropy.h"

namespace parley::learn {
namespace neighbour_test {

using Integers = std::vector<int64_t>;

constexpr size_t kGroups = 14, kPer = 9, kColumns = kGroups * kPer, kRecords = 1500;

/// Tenths, so that the score of many records is 1 up to the last bit, where the hinge has its kink.
std::vector<double> tenths() {
  std::vector<double> theta(kColumns);
  for (size_t g = 0; g < kGroups; ++g)
    for (size_t k = 0; k < kPer; ++k)
      theta[g * kPer + k] = 0.1 * (double(k % 3) - 1 + (g < 10 ? 1 : 0));
  return theta;
}

/// One of nine in each of fourteen groups; the first record has `first` numbers instead.
data::SparseRows rows_after(size_t first) {
  test::SeededEntropy entropy(3, "neighbours");
  data::SparseRows rows(kColumns);
  std::vector<uint32_t> at;
  for (uint32_t j = 0; j < first; ++j) at.push_back(j);
  rows.add(at, std::vector<double>(first, 1.0), 1);
  for (size_t i = 1; i < kRecords; ++i) {
    at.clear();
    for (size_t g = 0; g < kGroups; ++g)
      at.push_back(static_cast<uint32_t>(g * kPer + entropy.word() % kPer));
    rows.add(at, std::vector<double>(kGroups, 1.0), entropy.word() & 1 ? 1 : -1);
  }
  return rows;
}

std::vector<Integers> one_by_one(const data::SparseRows& rows, Isa isa) {
  const Lattice lattice = *Lattice::make(4, 24, kColumns);
  const auto theta = tenths();
  std::vector<Integers> found;
  for (size_t i = 0; i < rows.size(); ++i)
    found.push_back(lattice_sum<L1>(Hinge{}, lattice, theta, rows, i, i + 1, isa));
  return found;
}

std::vector<Isa> isas() {
  return fastest_isa() == Isa::kV4 ? std::vector{Isa::kV3, Isa::kV4} : std::vector{Isa::kV3};
}

TEST(Neighbours, AnotherNumberOfNonZerosInTheFirstRecordMovesNoOtherRecord) {
  const auto theta = tenths();
  const Lattice lattice = *Lattice::make(4, 24, kColumns);
  for (Isa isa : isas()) {
    const auto before = one_by_one(rows_after(14), isa);
    for (size_t first : {0, 1, 2, 3, 5, 8, 13, 15, 126}) {
      const data::SparseRows rows = rows_after(first);
      const auto after = one_by_one(rows, isa);
      for (size_t i = 1; i < kRecords; ++i) ASSERT_EQ(after[i], before[i]) << i << ", " << first;
      Integers sum(kColumns);  // All at once, in blocks, is what they come to one by one.
      for (const Integers& each : after)
        for (size_t j = 0; j < kColumns; ++j) sum[j] += each[j];
      EXPECT_EQ(lattice_sum<L1>(Hinge{}, lattice, theta, rows, 0, kRecords, isa), sum);
    }
  }
  size_t at_kink = 0;
  const data::SparseRows rows = rows_after(14);
  for (size_t i = 1; i < kRecords; ++i) {
    double score = 0;
    for (uint32_t j : rows.row_indices(i)) score += theta[j];
    at_kink += std::fabs(score * rows.label(i) - 1) < 1e-12;
  }
  EXPECT_GT(at_kink, 30u) << "no record sits at the kink: the test has lost its power";
}

}  // namespace neighbour_test
}  // namespace parley::learn
