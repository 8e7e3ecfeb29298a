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

Graph Graph::complete(size_t members) { return Graph(members); }

Graph Graph::regular(size_t members, size_t degree, const Hash& seed) {
  check(degree % 2 == 0 && degree > 0 && degree < members);
  Graph graph(members);
  graph.reach_ = degree / 2;
  graph.circle_.resize(members);
  std::iota(graph.circle_.begin(), graph.circle_.end(), size_t{0});
  PublicWords words(seed);
  for (size_t left = members; left > 1; --left)
    std::swap(graph.circle_[left - 1], graph.circle_[words.below(left)]);
  graph.where_.resize(members);
  for (size_t at = 0; at < members; ++at) graph.where_[graph.circle_[at]] = at;
  return graph;
}

std::vector<size_t> Graph::of(size_t member) const {
  std::vector<size_t> list;
  if (circle_.empty()) {
    for (size_t other = 0; other < members_; ++other)
      if (other != member) list.push_back(other);
    return list;
  }
  const size_t at = where_[member];
  for (size_t away = 1; away <= reach_; ++away) {
    list.push_back(circle_[(at + away) % members_]);
    list.push_back(circle_[(at + members_ - away) % members_]);
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::optional<size_t> Graph::place(size_t member, size_t other) const {
  const std::vector<size_t> list = of(member);
  const auto found = std::lower_bound(list.begin(), list.end(), other);
  if (found == list.end() || *found != other) return std::nullopt;
  return static_cast<size_t>(found - list.begin());
}

bool Graph::holds_together(const std::vector<size_t>& set, size_t colluders) const {
  if (circle_.empty()) return true;
  std::vector<size_t> there(members_);
  for (const size_t member : set) there[where_[member]] = 1;
  size_t found = std::accumulate(there.begin(), there.begin() + ptrdiff_t(reach_), size_t{0});
  for (size_t from = 0; from < members_; ++from) {
    if (found <= colluders) return false;
    found = found - there[from] + there[(from + reach_) % members_];
  }
  return true;
}

}  // namespace parley::protocol
