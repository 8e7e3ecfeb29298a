// Prints hashes of what must have the same bits on every processor: sums of records' gradients,
// what learners solve, noise from a fixed seed, and the number that every accountant gives.
// scripts/check arm64 compares what it prints here and on aarch64.
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "parley/account.h"
#include "parley/base/math/normal.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/learn/objective.h"
#include "parley/learn/pilot/whitened.h"
#include "parley/learn/solver/symmetric.h"
#include "parley/learn/statistics.h"
#include "parley/privacy/accounting/gdp.h"
#include "parley/privacy/mechanisms.h"
#include "parley/privacy/noise.h"
#include "parley/privacy/poisson.h"
#include "parley/sim/seeded_entropy.h"

namespace parley {
namespace {

/// FNV-1a over 64-bit words.
struct Digest {
  uint64_t value = 0xcbf29ce484222325, count = 0;
  void add(int64_t word) { value = (value ^ uint64_t(word)) * 0x100000001b3, ++count; }
  void print(const std::string& name) const {
    std::printf("%s: %016llx of %llu numbers\n", name.c_str(),
                static_cast<unsigned long long>(value), static_cast<unsigned long long>(count));
  }
};

double uniform(Entropy& entropy) { return double(entropy.word() >> 11) * 0x1p-53; }

/// Records of many scales; every fourth has something in it that is no number of this world.
std::vector<double> record(Entropy& entropy, size_t p) {
  constexpr double kOdd[] = {std::numeric_limits<double>::quiet_NaN(), -1e140, 5e-324, -0.0};
  const double scale = std::ldexp(1.0, int(entropy.word() % 40) - 20);
  std::vector<double> z(p);
  for (double& value : z) value = scale * (2 * uniform(entropy) - 1);
  if (entropy.word() % 4 == 0) z[entropy.word() % p] = kOdd[entropy.word() % 4];
  return z;
}

template <class Norm>
void add_sums(size_t p, Digest& out) {
  sim::SeededEntropy entropy(29, "records", p);
  data::Rows rows(p);
  data::SparseRows sparse(p);
  for (int i = 0; i < 501; ++i) {
    const auto z = record(entropy, p);
    const double y = i % 2 == 0 ? 1 : -1;
    rows.add(z, y);
    std::vector<uint32_t> at;
    std::vector<double> values;
    for (uint32_t j = 0; j < p; ++j)
      if (entropy.word() % 3 == 0) at.push_back(j), values.push_back(z[j]);
    sparse.add(at, values, y);
  }
  std::vector<double> theta(p);
  for (double& value : theta) value = uniform(entropy) - 0.5;
  const learn::Lattice lattice = *learn::Lattice::make(2.5, 24, p);
  for (const char* name : {"squared", "hinge", "logistic", "huber"}) {
    const learn::Losses loss = *learn::loss_named(name);
    for (int64_t value : learn::lattice_sum<Norm>(loss, lattice, theta, rows, 0, rows.size()))
      out.add(value);
    for (int64_t value : learn::lattice_sum<Norm>(loss, lattice, theta, sparse, 0, sparse.size()))
      out.add(value);
  }
}

/// Of so many columns: what rules statistics, gram, pilot_newton and distance compute.
void print_solved(size_t p) {
  sim::SeededEntropy entropy(29, "moments", p);
  std::vector<double> z(2 * p * p), triangle;
  for (double& value : z) value = 2 * uniform(entropy) - 1;
  const auto matrix = learn::sum_of_squares(std::vector<double>(2 * p, .5 / double(p)), z);
  for (size_t j = 0; j < p; ++j)
    for (size_t k = j; k < p; ++k) triangle.push_back(matrix[j * p + k]);
  for (size_t j = 0; j < p; ++j) triangle.push_back(uniform(entropy) - .5);
  Digest digest;
  const auto add = [&](const std::vector<double>& values) {
    for (double value : values) digest.add(std::bit_cast<int64_t>(value));
  };
  add(learn::gram_inverse(triangle, p, 2, .001, .05));
  for (double box : {100., .25}) add(learn::moments_minimum(triangle, p, .001, .05, box));
  add(*learn::inverse(matrix, p));
  add(learn::floored_inverse(matrix, p, .1));
  const learn::Whitened whitened(matrix, p, p - 1);
  add(whitened.point(std::vector<double>(p, 1)));
  digest.print("solved with " + std::to_string(p) + " columns");
}

void print_normal() {
  Digest digest;
  for (int i = -40000; i < 40000; ++i) digest.add(std::bit_cast<int64_t>(normal_above(i * .001)));
  digest.print("normal tails");
  Digest curve;
  for (double mu = .001; mu < 50; mu *= 1.3)
    for (double epsilon : {0., .01, .3, 1., 4., 20.}) {
      curve.add(std::bit_cast<int64_t>(privacy::gdp_delta(mu, epsilon)));
      const auto delta = privacy::Delta::make(std::exp2(-20 * (mu + .1)));
      if (delta) curve.add(std::bit_cast<int64_t>(privacy::gdp_epsilon(mu, *delta)));
    }
  curve.print("the exact Gaussian curve");
}

template <class Sampler>
void print_noise(const std::string& name, const Sampler& sampler) {
  sim::SeededEntropy entropy(29, name);
  Digest digest;
  for (int i = 0; i < 20000; ++i) digest.add(sampler(entropy));
  digest.print(name);
}

void print_all_noise() {
  using namespace privacy;
  for (uint64_t scale : {uint64_t{1}, uint64_t{1000}, uint64_t{1} << 40, kScaleMax})
    print_noise("laplace " + std::to_string(scale),
                [&](Entropy& entropy) { return discrete_laplace(entropy, scale); });
  for (uint64_t variance : {uint64_t{1}, uint64_t{777}, uint64_t{1} << 60})
    print_noise("gaussian " + std::to_string(variance),
                [noise = DiscreteGaussian(variance)](Entropy& e) { return noise.sample(e); });
  print_noise("gaussian 2^110", [noise = DiscreteGaussian(Uint128{1} << 110)](Entropy& e) {
    return noise.sample(e);
  });
  for (uint64_t variance : {uint64_t{16}, uint64_t{1} << 20, uint64_t{1} << 60})
    print_noise("skellam " + std::to_string(variance),
                [noise = SkellamNoise(variance)](Entropy& e) { return noise.sample(e); });
}

/// To the last bit: what an accountant gives may not depend on whose processor it is.
void print_account(const std::string& name, const Events& events, Adjacency adjacency) {
  using Kind = Account::Kind;
  for (const auto& question : {AccountQuestion{Kind::kEpsilon, {1e-9, 1e-5, 0.1}},
                               AccountQuestion{Kind::kDelta, {0.1, 1, 5}}}) {
    const auto result = account(events, question, adjacency);
    if (!result) {
      std::printf("%s: %s\n", name.c_str(), result.error().what.c_str());
      continue;
    }
    for (const AccountRow& row : result->rows)
      for (const Said& said : row.said)
        if (said.value)
          std::printf("%s %s at %g: %s %a\n", name.c_str(),
                      question.kind == Kind::kEpsilon ? "epsilon" : "delta", row.at,
                      said.accountant.c_str(), *said.value);
  }
}

void print_accounting() {
  const std::pair<const char*, Events> all[] = {
      {"gaussian", {{GaussianEvent{12}, 100}}},
      {"laplace", {{LaplaceEvent{20}, 50}}},
      {"discrete laplace", {{DiscreteLaplaceEvent{1000, 37}, 30}}},
      {"discrete gaussian", {{DiscreteGaussianEvent{800, 63}, 40}}},
      {"sampled gaussian", {{SampledGaussianEvent{0.01, 1.1}, 1000}}},
      {"shares", {{SharesEvent{1e6, 7, 10, 20, 100}, 10}}},
      {"skellam", {{SkellamEvent{1e8, 20, 500}, 10}}},
      {"zcdp", {{ZcdpEvent{0.003, 0.001}, 12}}},
      {"approximate", {{ApproximateEvent{0.05, 1e-8}, 30}}},
      {"mixed",
       {{GaussianEvent{9}, 30}, {LaplaceEvent{30}, 10}, {SampledGaussianEvent{0.02, 2}, 200}}}};
  for (const auto& [name, events] : all) {
    print_account(name, events, Adjacency::kReplaceOne);
    print_account(std::string(name) + ", add or remove", events, Adjacency::kAddRemove);
  }
}

}  // namespace
}  // namespace parley

int main() {
  using namespace parley;
  for (size_t p : {1, 4, 7, 10, 33}) {
    Digest sums;
    add_sums<L1>(p, sums);
    add_sums<L2>(p, sums);
    sums.print("sums of " + std::to_string(p) + " columns");
  }
  for (size_t p : {1, 7, 60, 200}) print_solved(p);
  print_normal();
  print_all_noise();
  print_accounting();
}
