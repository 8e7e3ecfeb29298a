// The pairs of members that share a mask in a secure aggregation: all pairs or, for many members,
// those of a random graph in which every member has the same number of neighbours (Bell et al.
// 2020).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "parley/base/bytes.h"

namespace parley::protocol {

/// Two members are each other's neighbours or neither's.
class Graph {
 public:
  static Graph complete(size_t members);
  /// Members on a circle in an order drawn from `seed`, each next to degree/2 on either side.
  /// `degree` is even and below the number of members.
  static Graph regular(size_t members, size_t degree, const Hash& seed);

  size_t members() const { return members_; }
  /// Its neighbours' numbers, rising.
  std::vector<size_t> of(size_t member) const;
  /// Where `other` stands among the neighbours of `member`.
  std::optional<size_t> place(size_t member, size_t other) const;
  /// Are there more than `colluders` of `set` among any degree/2 members side by side? If no more
  /// than so many of these collude, the others of `set` hang together: nobody can add up some of
  /// them without all.
  bool holds_together(const std::vector<size_t>& set, size_t colluders) const;

 private:
  explicit Graph(size_t members) : members_(members) {}
  size_t members_;
  size_t reach_ = 0;                        // degree / 2
  std::vector<size_t> circle_{}, where_{};  // where_[circle_[i]] = i; empty: everyone's
};

}  // namespace parley::protocol
