// Who masks against whom in a secure aggregation: everyone against everyone, or, for many members,
// a random graph in which every member has the same number of neighbours (Bell et al. 2020).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "parley/base/bytes.h"

namespace parley::protocol {

/// Every member has neighbours by their numbers, in rising order, without itself; two members are
/// each other's or neither's.
class Graph {
 public:
  static Graph complete(size_t members);
  /// Members on a circle in an order drawn from `seed`, each next to degree/2 on either side.
  /// `degree` is even and below the number of members.
  static Graph regular(size_t members, size_t degree, const Hash& seed);

  size_t members() const { return neighbours_.size(); }
  const std::vector<size_t>& of(size_t member) const { return neighbours_[member]; }
  /// Where `other` stands among the neighbours of `member`.
  std::optional<size_t> place(size_t member, size_t other) const;

 private:
  explicit Graph(size_t members) : neighbours_(members) {}
  std::vector<std::vector<size_t>> neighbours_;
};

}  // namespace parley::protocol
