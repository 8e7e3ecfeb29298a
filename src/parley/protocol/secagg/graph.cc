#include "parley/protocol/secagg/graph.h"

#include <algorithm>
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

}  // namespace parley::protocol
