#include "parley/learn/kernel/record_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "parley/learn/kernel/kernel.h"
#include "parley/learn/objective.h"
#include "support/entropy.h"
#include "support/tiny.h"

namespace parley::learn {
namespace record_map_test {

using test::SeededEntropy, test::tiny_owner, test::uniform;
using Integers = std::vector<int64_t>;

template <class L, class Norm>
Integers gradient_of(const RecordMap<L, Norm, false>& map, const double* z, double y) {
  Integers sum(map.dimension());
  map.add(z, y, sum.data());
  return sum;
}

/// The instruction sets that this processor has.
std::vector<Isa> isas() {
  return fastest_isa() == Isa::kV4 ? std::vector{Isa::kV3, Isa::kV4} : std::vector{Isa::kV3};
}

template <class Norm>
void expect_golden_lattice(int owner, const std::vector<Integers>& golden) {
  const data::Rows rows = tiny_owner(owner);
  const Lattice lattice = *Lattice::make(1, 24, 2);
  const std::array theta = {5 / 16.0, -3 / 16.0};
  const RecordMap<Squared, Norm, false> map({}, lattice, theta);
  Integers sum(2);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Integers q = gradient_of(map, rows.values() + i * rows.stride(), rows.label(i));
    EXPECT_EQ(q, golden[i]);
    for (size_t j = 0; j < 2; ++j) sum[j] += q[j];
  }
  EXPECT_EQ(sum, golden.back());
  for (Isa isa : isas())
    EXPECT_EQ(lattice_sum<Norm>(Squared{}, lattice, theta, rows, 0, rows.size(), isa), sum);
}

// G16, exactly: each record, then the sum.
TEST(RecordMap, EqualsTheGoldenLattice) {
  expect_golden_lattice<L1>(
      1, {{-9437184, -4718592}, {1572864, -3145728}, {-3355443, 13421772}, {-11219763, 5557452}});
  expect_golden_lattice<L1>(2, {{-16777215, 0}, {-11184810, -5592405}, {-27962025, -5592405}});
  expect_golden_lattice<L2>(
      1, {{-9437184, -4718592}, {1572864, -3145728}, {-4069072, 16276290}, {-11933392, 8411970}});
  expect_golden_lattice<L2>(2, {{-16777215, 0}, {-15005998, -7502999}, {-31783213, -7502999}});
}

TEST(Lattice, SpacingIsTheSpecifiedPowerOfTwo) {
  EXPECT_EQ(Lattice::make(1, 24, 2)->gamma(), 0x1p-24);
  EXPECT_EQ(Lattice::make(8, 24, 2)->gamma(), 0x1p-21);
  EXPECT_EQ(Lattice::make(8.001, 24, 2)->gamma(), 0x1p-20);
  EXPECT_EQ(Lattice::make(0.7, 20, 2)->gamma(), 0x1p-20);
  EXPECT_EQ(Lattice::make(3, 24, 2)->bound<L1>(), 3 * 0x1p22);
  for (double bad : {0.0, -1.0, 1e31, std::nan("")}) EXPECT_FALSE(Lattice::make(bad, 24, 2));
  EXPECT_FALSE(Lattice::make(1, 15, 2));
  EXPECT_FALSE(Lattice::make(1, 33, 2));
  EXPECT_FALSE(Lattice::make(1, 24, data::kColumnsMax + 1));
}

/// Values an attacker, or a broken export, would put into a record.
double hostile(SeededEntropy& entropy) {
  static constexpr double kValues[] = {0.0,
                                       -0.0,
                                       5e-324,
                                       -2.2e-308,
                                       0x1p-500,
                                       -0x1.fffffp-501,
                                       1e-30,
                                       1,
                                       -1,
                                       1e30,
                                       -1e139,
                                       1e140,
                                       1e200,
                                       -1e308,
                                       std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<double>::quiet_NaN()};
  return kValues[entropy.word() % std::size(kValues)];
}

/// One record of many kinds: ordinary, of wild scale, equal entries (the rounding's worst case),
/// rows of zeros, hostile values.
void fill_record(SeededEntropy& entropy, std::vector<double>& z, double& y) {
  const double scale = std::pow(10, 16 * uniform(entropy) - 8);
  const uint64_t kind = entropy.word() % 8;
  for (double& value : z) {
    const double sign = entropy.word() & 1 ? 1 : -1;
    value = sign * scale * (kind == 1 ? 1 : uniform(entropy));
    if (kind == 2) value *= std::pow(uniform(entropy), 8);
    if (kind == 3) value = 0;
    if (kind >= 6) value = entropy.word() % 4 == 0 ? hostile(entropy) : value;
  }
  y = kind == 7 ? hostile(entropy) : std::pow(10, 15 * uniform(entropy) - 3);
}

__extension__ using Wide = unsigned __int128;

template <class Norm>
bool within_bound(const Integers& q, const Lattice& lattice) {
  Wide size = 0;
  for (int64_t value : q) {
    const auto magnitude = static_cast<Wide>(value < 0 ? -value : value);
    size += std::is_same_v<Norm, L1> ? magnitude : magnitude * magnitude;
  }
  const long double bound = lattice.bound<Norm>();  // 64 bits hold the L1 bound exactly.
  if (std::is_same_v<Norm, L1>) return static_cast<long double>(size) <= bound;
  return static_cast<__float128>(size) <= static_cast<__float128>(bound) * bound;
}

/// Records whose integer gradient exceeds the bound, out of `count`, and how close the worst came.
template <class L, class Norm>
size_t violations(size_t count, size_t p, int grid_bits, double& closest) {
  SeededEntropy entropy(p, Norm::kName, uint64_t(grid_bits));
  size_t found = 0;
  std::vector<double> z(p), theta(p);
  for (size_t done = 0; done < count; done += 500) {
    const Lattice lattice = *Lattice::make(std::pow(10, 7 * uniform(entropy) - 3), grid_bits, p);
    const double box = std::pow(10, 8 * uniform(entropy) - 2);  // up to theta = 1e6
    for (double& value : theta) value = box * (2 * uniform(entropy) - 1);
    const RecordMap<L, Norm, false> map({}, lattice, theta);
    data::Rows rows(p);
    double y = 0;
    for (int i = 0; i < 500; ++i) fill_record(entropy, z, y), rows.add(z, y);
    for (size_t i = 0; i < rows.size(); ++i) {
      const Integers q = gradient_of(map, rows.values() + i * rows.stride(), rows.label(i));
      found += !within_bound<Norm>(q, lattice);
      double size = 0;
      for (int64_t value : q)
        size += std::is_same_v<Norm, L1> ? std::fabs(double(value)) : double(value) * double(value);
      if (std::is_same_v<Norm, L2>) size = std::sqrt(size);
      closest = std::max(closest, size / lattice.bound<Norm>());
    }
  }
  return found;
}

// Two million records in all; the property that every accountant relies on.
TEST(RecordMap, NoRecordExceedsItsIntegerBound) {
  double closest = 0;
  for (size_t p : {1, 2, 3, 10, 31}) {
    EXPECT_EQ((violations<Squared, L1>(180'000, p, 24, closest)), 0u) << p;
    EXPECT_EQ((violations<Squared, L2>(180'000, p, 24, closest)), 0u) << p;
    EXPECT_EQ((violations<Logistic, L1>(20'000, p, 24, closest)), 0u) << p;
    EXPECT_EQ((violations<Huber, L2>(20'000, p, 24, closest)), 0u) << p;
  }
  for (size_t p : {123, 1000, 4096})
    for (int grid_bits : {16, 24, 32}) {
      const size_t count = 500 * (4096 / p);
      EXPECT_EQ((violations<Squared, L1>(count, p, grid_bits, closest)), 0u) << p;
      EXPECT_EQ((violations<Hinge, L2>(count, p, grid_bits, closest)), 0u) << p;
    }
  EXPECT_GT(closest, 0.9999) << "the records never came near the bound: no power";
  EXPECT_LE(closest, 1);
}

// What the shorter clip is for: equal entries of 15.52 lattice steps all round up to 16.
TEST(RecordMap, WithoutTheShorterClipTheBoundWouldBreak) {
  const size_t p = 4096;
  const Lattice lattice = *Lattice::make(0.97, 16, p);
  const double entry = lattice.max_grad_norm() / p;  // norm 0.97, exactly at the clip
  const double size = p * std::rint(entry / lattice.gamma());
  EXPECT_GT(size, lattice.bound<L1>());
  std::vector<double> z(p, entry), theta(p);
  Integers sum(p);
  RecordMap<Hinge, L1, true>({}, lattice, theta).add(z.data(), 1, sum.data());
  double kept = 0;
  for (int64_t value : sum) kept += std::fabs(double(value));
  EXPECT_LE(kept, lattice.bound<L1>());
  EXPECT_GT(kept, lattice.bound<L1>() * 0.9);
}

/// Many records of which the hinge loss decides by the last bit of the score: one-hot groups
/// whose weights are tenths, so that sums are 1 in real arithmetic and near 1 in doubles.
struct KinkData {
  static constexpr size_t kGroups = 14, kPer = 9, kColumns = kGroups * kPer;
  std::vector<double> theta = std::vector<double>(kColumns);
  data::Rows rows{kColumns};
  explicit KinkData(size_t count) {
    SeededEntropy entropy(3, "kink");
    for (size_t g = 0; g < kGroups; ++g)
      for (size_t k = 0; k < kPer; ++k)
        theta[g * kPer + k] = 0.1 * (double(k % 3) - 1 + (g < 10 ? 1 : 0));
    std::vector<double> z(kColumns);
    for (size_t i = 0; i < count; ++i) {
      std::fill(z.begin(), z.end(), 0.0);
      for (size_t g = 0; g < kGroups; ++g) z[g * kPer + entropy.word() % kPer] = 1;
      rows.add(z, entropy.word() & 1 ? 1 : -1);
    }
  }
};

/// Every record's gradient with the data at `shift` bytes behind an aligned address, in the order
/// given.
std::vector<Integers> gradients(const KinkData& data, const std::vector<size_t>& order,
                                size_t shift) {
  const size_t stride = data.rows.stride(), bytes = stride * sizeof(double);
  const Lattice lattice = *Lattice::make(4, 24, KinkData::kColumns);
  const RecordMap<Hinge, L1, false> map({}, lattice, data.theta);
  std::vector<std::byte> buffer(order.size() * bytes + 64 + shift);
  const size_t aligned = (64 - reinterpret_cast<uintptr_t>(buffer.data()) % 64) % 64;
  std::byte* base = buffer.data() + aligned + shift;
  for (size_t i = 0; i < order.size(); ++i)
    std::memcpy(base + i * bytes, data.rows.values() + order[i] * stride, bytes);
  std::vector<Integers> found(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    found[order[i]] = gradient_of(map, reinterpret_cast<const double*>(base + i * bytes),
                                  data.rows.label(order[i]));
  return found;
}

TEST(RecordMap, IsAPureFunctionOfTheRecordWhereverItLies) {
  const KinkData data(3000);
  std::vector<size_t> order(data.rows.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto plain = gradients(data, order, 0);
  size_t near_kink = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    double score = 0;
    for (size_t j = 0; j < KinkData::kColumns; ++j) score += data.theta[j] * data.rows.row(i)[j];
    near_kink += std::fabs(score * data.rows.label(i) - 1) < 1e-12;
  }
  EXPECT_GT(near_kink, 50u) << "no record sits at the kink: no power";
  for (size_t shift : {8, 16, 24, 40, 56}) EXPECT_EQ(gradients(data, order, shift), plain);
  std::reverse(order.begin(), order.end());
  EXPECT_EQ(gradients(data, order, 0), plain);
  SeededEntropy entropy(4, "shuffle");
  for (size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[entropy.word() % i]);
  EXPECT_EQ(gradients(data, order, 8), plain);
}

TEST(RecordMap, ASparseRecordGivesWhatTheWholeRecordGives) {
  const KinkData data(1000);
  const Lattice lattice = *Lattice::make(4, 24, KinkData::kColumns);
  const RecordMap<Hinge, L2, true> map({}, lattice, data.theta);
  for (size_t i = 0; i < data.rows.size(); ++i) {
    std::vector<uint32_t> at;
    std::vector<double> values;
    for (uint32_t j = 0; j < KinkData::kColumns; ++j)
      if (data.rows.row(i)[j] != 0) at.push_back(j), values.push_back(data.rows.row(i)[j]);
    Integers whole(KinkData::kColumns), sparse(KinkData::kColumns);
    map.add(data.rows.row(i).data(), data.rows.label(i), whole.data());
    map.add(at, values.data(), data.rows.label(i), sparse.data());
    ASSERT_EQ(whole, sparse) << i;
  }
}

/// Rows of many lengths, empty ones among them, and values of many sizes.
data::SparseRows uneven_rows(size_t columns, size_t count) {
  SeededEntropy entropy(columns, "uneven");
  data::SparseRows rows(columns);
  for (size_t i = 0; i < count; ++i) {
    std::vector<uint32_t> at;
    std::vector<double> values;
    const uint64_t share = entropy.word() % 5;  // none to about all
    for (uint32_t j = 0; j < columns; ++j)
      if (entropy.word() % 4 < share) {
        at.push_back(j);
        values.push_back(std::ldexp(2 * uniform(entropy) - 1, int(entropy.word() % 40) - 20));
      }
    rows.add(at, values, entropy.word() & 1 ? 1 : -1);
  }
  return rows;
}

template <class Norm>
void expect_sparse_equals_dense(const data::SparseRows& sparse, std::span<const double> theta,
                                size_t begin, size_t end) {
  const data::Rows dense = sparse.dense();
  const Lattice lattice = *Lattice::make(4, 24, sparse.columns());
  for (Isa isa : isas())
    for (const Losses& loss :
         {Losses(Squared{}), Losses(Hinge{}), Losses(Logistic{}), Losses(Huber{})})
      EXPECT_EQ(lattice_sum<Norm>(loss, lattice, theta, sparse, begin, end, isa),
                lattice_sum<Norm>(loss, lattice, theta, dense, begin, end, isa))
          << name_of(loss) << ", " << sparse.columns() << " columns, " << begin << " to " << end;
}

TEST(LatticeSum, OfSparseRowsIsThatOfTheSameRowsDense) {
  for (size_t columns : {1, 5, 14, 123}) {
    const data::SparseRows rows = uneven_rows(columns, 300);
    const std::vector<double> theta(columns, 0.3);
    expect_sparse_equals_dense<L1>(rows, theta, 0, 300);
    expect_sparse_equals_dense<L2>(rows, theta, 0, 300);
    for (size_t end = 3; end < 22; ++end) expect_sparse_equals_dense<L1>(rows, theta, 3, end);
  }
}

// At the kink of the hinge loss the last bit of a score decides.
TEST(LatticeSum, OfSparseRowsIsThatOfTheSameRowsDenseAtTheKink) {
  const KinkData data(500);
  data::SparseRows sparse(KinkData::kColumns);
  for (size_t i = 0; i < data.rows.size(); ++i) {
    std::vector<uint32_t> at;
    std::vector<double> values;
    for (uint32_t j = 0; j < KinkData::kColumns; ++j)
      if (data.rows.row(i)[j] != 0) at.push_back(j), values.push_back(data.rows.row(i)[j]);
    sparse.add(at, values, data.rows.label(i));
  }
  expect_sparse_equals_dense<L1>(sparse, data.theta, 3, 497);
}

TEST(RecordMap, ReplacingOneRecordLeavesTheOthersAlone) {
  const KinkData data(2000);
  KinkData other = data;
  other.rows = data::Rows(KinkData::kColumns);
  const std::vector<double> ones(KinkData::kColumns, 1.0);
  for (size_t i = 0; i < data.rows.size(); ++i)
    i == 7 ? other.rows.add(ones, -1) : other.rows.add(data.rows.row(i), data.rows.label(i));
  std::vector<size_t> order(data.rows.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto before = gradients(data, order, 0), after = gradients(other, order, 0);
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(before[i] == after[i], i != 7) << i;
}

/// Rows of every kind, and what the record map makes of them.
template <class L, class Norm>
struct Mixed {
  data::Rows rows;
  std::vector<double> theta;
  Lattice lattice;
  Integers sum;
  Mixed(size_t p, size_t count) : rows(p), theta(p), lattice(*Lattice::make(2.5, 24, p)), sum(p) {
    SeededEntropy entropy(p, "mixed");
    std::vector<double> z(p);
    double y = 0;
    for (double& value : theta) value = 2 * uniform(entropy) - 1;
    for (size_t i = 0; i < count; ++i) fill_record(entropy, z, y), rows.add(z, y);
    const RecordMap<L, Norm> map({}, lattice, theta);
    for (size_t i = 0; i < count; ++i) map.add(rows.row(i).data(), rows.label(i), sum.data());
  }
};

template <class L, class Norm>
void expect_kernel_equals_record_map(size_t p, size_t count) {
  const Mixed<L, Norm> data(p, count);
  for (Isa isa : isas())
    EXPECT_EQ(lattice_sum<Norm>(L{}, data.lattice, data.theta, data.rows, 0, count, isa), data.sum)
        << p << " columns, " << count << " rows";
}

TEST(LatticeSum, EqualsTheRecordMapOnEveryInstructionSetForEverySize) {
  for (size_t p : {1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 16, 31, 33, 128, 500}) {
    expect_kernel_equals_record_map<Squared, L1>(p, 203);
    expect_kernel_equals_record_map<Squared, L2>(p, 203);
    expect_kernel_equals_record_map<Hinge, L1>(p, 203);
    expect_kernel_equals_record_map<Logistic, L1>(p, 203);
    expect_kernel_equals_record_map<Logistic, L2>(p, 203);
    expect_kernel_equals_record_map<Huber, L2>(p, 203);
  }
  for (size_t count = 0; count < 20; ++count)
    expect_kernel_equals_record_map<Squared, L1>(10, count);
}

TEST(LatticeSum, DoesNotDependOnTheSharding) {
  const Mixed<Squared, L2> data(13, 1000);
  for (size_t shards : {2, 3, 7, 999}) {
    Integers sum(13);
    for (size_t s = 0; s < shards; ++s) {
      const auto part = lattice_sum<L2>(Squared{}, data.lattice, data.theta, data.rows,
                                        1000 * s / shards, 1000 * (s + 1) / shards);
      for (size_t j = 0; j < sum.size(); ++j) sum[j] += part[j];
    }
    EXPECT_EQ(sum, data.sum) << shards;
  }
}

TEST(LatticeSum, AgreesWithTheReferenceGradientWithinTheSpacing) {
  SeededEntropy entropy(5, "reference");
  data::Rows rows(10);
  std::vector<double> z(10), theta(10, 0.4);
  for (int i = 0; i < 2000; ++i) {
    for (double& value : z) value = 4 * uniform(entropy) - 2;
    rows.add(z, 2 * uniform(entropy) - 1);
  }
  const Lattice lattice = *Lattice::make(6, 24, 10);
  const auto expect_agreement = [&]<class L>(const L& loss) {
    const auto sum = lattice_sum<L1>(loss, lattice, theta, rows, 0, rows.size());
    const auto mean = mean_gradient(loss, rows, theta, ClipIn::kL1, lattice.shortened<L1>());
    for (size_t j = 0; j < 10; ++j)
      EXPECT_NEAR(double(sum[j]) * lattice.gamma() / double(rows.size()), mean[j], lattice.gamma())
          << L::kName;
  };
  expect_agreement(Squared{});
  expect_agreement(Huber{0.5});
  data::Rows classes(10);
  for (size_t i = 0; i < rows.size(); ++i) classes.add(rows.row(i), rows.label(i) > 0 ? 1 : -1);
  rows = classes;
  expect_agreement(Hinge{{1, 4}});
  expect_agreement(Logistic{{1, 4}});
}

TEST(Rows, StrangeRecordsCountAsZero) {
  data::Rows rows(2);
  const double infinity = std::numeric_limits<double>::infinity();
  rows.add(std::array{1.0, std::nan("")}, 1);
  rows.add(std::array{infinity, 1.0}, 1);
  rows.add(std::array{1.0, 1.0}, -infinity);
  rows.add(std::array{1e141, 1.0}, 1);
  rows.add(std::array{1e-160, 3.0}, 2);
  ASSERT_EQ(rows.size(), 5u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows.row(i)[0], 0) << i;
    EXPECT_EQ(rows.row(i)[1], 0) << i;
    EXPECT_EQ(rows.label(i), 0) << i;
  }
  EXPECT_EQ(rows.row(4)[0], 0) << "below 2^-500";
  EXPECT_EQ(rows.row(4)[1], 3);
  EXPECT_EQ(rows.label(4), 2);
}

}  // namespace record_map_test
}  // namespace parley::learn
