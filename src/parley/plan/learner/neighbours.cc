#include "parley/plan/learner/neighbours.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace parley::plan {
namespace {

using charter::Charter, charter::SecureAggregation;

constexpr size_t kNeighboursMax = 255;  // Shares are numbered by a byte.
constexpr double kCollude = 0x1p-40, kDropOut = 0x1p-30;

Error refused(const char* key, std::string what, std::string hint) {
  return {Code::kInvalid,
          std::move(what),
          std::move(hint),
          {.key = std::string("secure_aggregation.") + key}};
}

long double log_choose(size_t n, size_t k) {
  const auto gamma = [](size_t x) { return std::lgamma(static_cast<long double>(x) + 1); };
  return gamma(n) - gamma(k) - gamma(n - k);
}

/// `drawn` of `all` are drawn, `times` times, and `marked` of all are marked: the number of marked
/// ones that no draw exceeds, except with probability `p`.
size_t most_marked(size_t all, size_t marked, size_t drawn, size_t times, double p) {
  size_t most = std::min(marked, drawn);
  const size_t least = drawn + marked > all ? drawn + marked - all : 0;
  long double chance = std::exp(log_choose(marked, most) + log_choose(all - marked, drawn - most) -
                                log_choose(all, drawn));
  for (long double above = chance; most > least && above * static_cast<long double>(times) < p;
       above += chance) {
    const auto x = static_cast<long double>(most);
    chance *=
        x * (static_cast<long double>(all + most) - static_cast<long double>(marked + drawn)) /
        ((static_cast<long double>(marked) - x + 1) * (static_cast<long double>(drawn) - x + 1));
    --most;
  }
  return most;
}

/// More than half of members and colluders together: two lists cannot both have that many.
size_t consents_of_all(size_t members, size_t colluders) { return (members + colluders) / 2; }

/// The smallest threshold at which two lists cannot open both secrets of an owner.
size_t least_threshold(size_t neighbours, size_t colluding) {
  return (neighbours + colluding) / 2 + 1;
}

Error two_lists(const SecureAggregation& secure, size_t neighbours) {
  const size_t least = least_threshold(neighbours, static_cast<size_t>(secure.colluders));
  const bool can = least < static_cast<size_t>(secure.survivors);
  return refused("threshold",
                 "threshold " + std::to_string(secure.threshold) +
                     " would let a learner open an owner's vector: if it tells half of the " +
                     std::to_string(neighbours) +
                     " others that this owner survived and the other half that it " +
                     "did not, each half reveals one of its secrets with " +
                     std::to_string(secure.colluders) + " colluders",
                 can ? "Take a threshold of at least " + std::to_string(least) + "."
                     : "Take more survivors or fewer colluders, and a threshold of " +
                           std::to_string(least) + ".");
}

/// In a sparse graph the threshold follows from colluders and survivors.
Error not_that_of_the_graph(const SecureAggregation& secure, size_t threshold) {
  const std::string computed = std::to_string(threshold);
  return refused("threshold",
                 "threshold " + std::to_string(secure.threshold) +
                     " is not that of a sparse graph of these owners, colluders and survivors, " +
                     computed,
                 "Leave it out, or say threshold = " + computed + ".");
}

/// A member's secrets are opened by its neighbours, which are one fewer than the survivors.
Error too_high(const SecureAggregation& secure) {
  return refused("threshold",
                 "threshold " + std::to_string(secure.threshold) + " cannot be met by " +
                     std::to_string(secure.survivors) +
                     " survivors: an owner's own share does not count",
                 "Take a threshold below survivors.");
}

Error too_few_survivors(const SecureAggregation& secure, size_t owners) {
  return refused("survivors",
                 std::to_string(secure.survivors) + " survivors of " + std::to_string(owners) +
                     " owners, of whom " + std::to_string(secure.colluders) +
                     " may collude, are not enough: a learner could show two lists of survivors "
                     "and get enough consents to each",
                 "Take more than half of owners and colluders together, " +
                     std::to_string((owners + static_cast<size_t>(secure.colluders)) / 2 + 1) +
                     " or more, or fewer colluders.");
}

Error too_many_neighbours(const SecureAggregation& secure, size_t owners) {
  return refused("graph",
                 "a graph of " + std::to_string(owners) + " owners that stands " +
                     std::to_string(secure.colluders) + " colluders and " +
                     std::to_string(owners - static_cast<size_t>(secure.survivors)) +
                     " dropouts needs more than " + std::to_string(kNeighboursMax) +
                     " neighbours for each",
                 "Take more survivors, or fewer colluders.");
}

Result<Neighbours> everyone(const Charter& charter, size_t threshold) {
  SecureAggregation secure = *charter.secure_aggregation;
  secure.threshold = static_cast<int64_t>(threshold);
  const size_t others = charter.owners.size() - 1;
  if (secure.threshold >= secure.survivors) return too_high(secure);
  if (threshold < least_threshold(others, static_cast<size_t>(secure.colluders)))
    return two_lists(secure, others);
  return Neighbours{0, threshold, threshold, 0};
}

Result<Neighbours> of_sparse_graph(const Charter& charter) {
  const SecureAggregation& secure = *charter.secure_aggregation;
  const size_t owners = charter.owners.size(), colluders = static_cast<size_t>(secure.colluders);
  if (2 * static_cast<size_t>(secure.survivors) <= owners + colluders)
    return too_few_survivors(secure, owners);
  if (const auto few =
          sparse_neighbours(owners, colluders, owners - static_cast<size_t>(secure.survivors)))
    return *few;
  if (owners - 1 > kNeighboursMax) return too_many_neighbours(secure, owners);
  return everyone(charter, least_threshold(owners - 1, colluders));
}

}  // namespace

std::optional<Neighbours> sparse_neighbours(size_t members, size_t colluders, size_t dropouts) {
  const size_t others = members - 1, end = std::min(others, kNeighboursMax + 1);
  for (size_t k = 2; k < end; k += 2) {
    const size_t threshold =
        least_threshold(k, most_marked(others, colluders, k, members, kCollude));
    if (threshold + most_marked(others, dropouts, k, members, kDropOut) > k) continue;
    const size_t stretch = most_marked(members, colluders, k / 2, members, kCollude);
    if (stretch + most_marked(members, dropouts, k / 2, members, kDropOut) >= k / 2) continue;
    return Neighbours{k, threshold, consents_of_all(members, colluders), stretch};
  }
  return std::nullopt;
}

Result<Neighbours> neighbours_of(const Charter& charter) {
  const SecureAggregation& secure = *charter.secure_aggregation;
  if (secure.graph == charter::Graph::kComplete)
    return everyone(charter, static_cast<size_t>(secure.threshold));
  const Neighbours few = TRY(of_sparse_graph(charter));
  if (secure.threshold != 0 && static_cast<size_t>(secure.threshold) != few.threshold)
    return not_that_of_the_graph(secure, few.threshold);
  return few;
}

}  // namespace parley::plan
