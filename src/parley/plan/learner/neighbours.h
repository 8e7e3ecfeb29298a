// How many neighbours the owners of a secure aggregation have, and how many of them open a secret,
// so that even a learner that does not keep to the protocol, together with `colluders` owners,
// opens the sum of all survivors or nothing (docs/explanation/secure-aggregation.md has the proof).
#pragma once

#include <cstddef>
#include <optional>

#include "parley/charter/charter.h"

namespace parley::plan {

struct Neighbours {
  size_t degree = 0;     // k; 0: all others
  size_t threshold = 0;  // t: so many neighbours open a secret
  size_t consents = 0;   // of others to the same survivors, before anyone helps to open
  size_t stretch = 0;    // colluders among any k/2 owners side by side on the circle, at most
  bool operator==(const Neighbours&) const = default;
};

/// The fewest neighbours in a random graph for which, whoever the colluders and dropouts are, there
/// is a threshold t: twice it is more than k and an owner's colluding neighbours together (but for
/// 2^-40), so that no one has both its secrets opened to two lists of survivors; no owner has fewer
/// than t neighbours left (2^-30); and of k/2 owners side by side some are left that do not
/// collude. Nothing where only a graph of all with all would do.
std::optional<Neighbours> sparse_neighbours(size_t members, size_t colluders, size_t dropouts);

/// Of the charter's aggregations. Refuses numbers with which a learner could open one owner's part,
/// or that cannot be met, naming the key.
Result<Neighbours> neighbours_of(const charter::Charter& charter);

}  // namespace parley::plan
