#include "parley/protocol/secagg/graph.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace parley::protocol {
namespace {

/// Uniform words of SHA-256 in counter mode: public randomness that everyone can recompute.
class PublicWords {
 public:
  explicit PublicWords(const Hash& seed) : seed_(seed) {}
  uint64_t below(uint64_t n) {
    const uint64_t end = UINT64_MAX - UINT64_MAX % n;
    uint64_t word = end;
    while (word >= end)
      word = read_little_endian(TupleBytes().add(seed_).add(counter_++).sha256().data());
    return word % n;
  }

 private:
  Hash seed_;
  uint64_t counter_ = 0;
};

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

/// P[at least `least` of `drawn` are marked], `marked` of `all` being so.
double at_least(size_t least, size_t all, size_t marked, size_t drawn) {
  double sum = 0;
  const size_t most = std::min(marked, drawn);
  for (size_t k = std::max(least, drawn + marked > all ? drawn + marked - all : 0); k <= most; ++k)
    sum += std::exp(log_choose(double(marked), double(k)) +
                    log_choose(double(all - marked), double(drawn - k)) -
                    log_choose(double(all), double(drawn)));
  return std::min(sum, 1.0);
}

}  // namespace

Graph Graph::complete(size_t members) {
  Graph graph(members);
  for (size_t i = 0; i < members; ++i)
    for (size_t j = 0; j < members; ++j)
      if (i != j) graph.neighbours_[i].push_back(j);
  return graph;
}

Graph Graph::regular(size_t members, size_t degree, const Hash& seed) {
  check(degree % 2 == 0 && degree > 0 && degree < members);
  std::vector<size_t> circle(members);
  std::iota(circle.begin(), circle.end(), size_t{0});
  PublicWords words(seed);
  for (size_t left = members; left > 1; --left)
    std::swap(circle[left - 1], circle[words.below(left)]);
  Graph graph(members);
  for (size_t at = 0; at < members; ++at)
    for (size_t away = 1; away <= degree / 2; ++away) {
      const size_t other = circle[(at + away) % members];
      graph.neighbours_[circle[at]].push_back(other);
      graph.neighbours_[other].push_back(circle[at]);
    }
  for (auto& list : graph.neighbours_) std::sort(list.begin(), list.end());
  return graph;
}

std::optional<size_t> Graph::place(size_t member, size_t other) const {
  const auto& list = neighbours_[member];
  const auto found = std::lower_bound(list.begin(), list.end(), other);
  if (found == list.end() || *found != other) return std::nullopt;
  return static_cast<size_t>(found - list.begin());
}

std::optional<Degree> sparse_degree(size_t members, size_t colluders, size_t dropouts) {
  const double m = double(members), gone = double(colluders + dropouts) / m;
  for (size_t k = 2; k < members; k += 2) {
    if (m * std::pow(gone, double(k) / 2) >= 0x1p-40) continue;
    for (size_t t = k / 2; t <= k; ++t) {
      if (m * at_least(t, members - 1, colluders, k) >= 0x1p-40) continue;
      // Fewer than t left: at least k - t + 1 of them dropped out.
      if (m * at_least(k - t + 1, members - 1, dropouts, k) >= 0x1p-30) break;
      return Degree{k, t};
    }
  }
  return std::nullopt;
}

}  // namespace parley::protocol
