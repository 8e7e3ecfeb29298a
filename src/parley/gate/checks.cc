#include "parley/gate/checks.h"

#include <cmath>

#include "parley/base/math/number.h"
#include "parley/ledger/storage/row.h"

namespace parley::gate {
namespace {

/// Products of smaller numbers with a record's may be denormal, which takes a processor longer: a
/// learner could choose theta so that the time of an answer tells something about a record.
constexpr double kThetaSmallest = 0x1p-450;

}  // namespace

Error other_data(const std::string& what, uint64_t expected, uint64_t found) {
  return {.code = Code::kInvalid,
          .what = "the charter says " + std::to_string(expected) + " " + what + ", the data has " +
                  std::to_string(found),
          .hint = "Give the data the charter was written for, or agree on a new charter."};
}

Error not_now(const std::string& what) {
  return {Code::kPolicy, what, "A learner may ask only what its charter says."};
}

Result<void> check_round(uint32_t round, uint32_t last) {
  if (round >= 1 && round <= last) return {};
  return Error{
      Code::kPolicy,
      "round " + std::to_string(round) + " is outside the charter's 1 .. " + std::to_string(last),
      "A learner may ask only what its charter says."};
}

Result<void> check_theta(std::span<const double> theta, size_t coordinates, double box) {
  if (theta.size() != coordinates)
    return Error{Code::kInvalid, "theta has " + std::to_string(theta.size()) +
                                     " coordinates, the charter's model " +
                                     std::to_string(coordinates)};
  for (const double value : theta)
    if (!(std::fabs(value) <= box))  // Also catches NaN.
      return Error{Code::kInvalid, "theta is not finite or outside the box " + shortest(box),
                   "The learner must project its model before it asks."};
  return {};
}

std::vector<double> without_tiny(std::span<const double> theta) {
  std::vector<double> result(theta.begin(), theta.end());
  for (double& value : result) value = std::fabs(value) < kThetaSmallest ? 0 : value;
  return result;
}

Hash query_hash(const Hash& charter, uint32_t round, std::span<const double> theta,
                privacy::ReleaseKind kind) {
  TupleBytes tuple;
  tuple.add(charter).add(uint64_t{round});
  for (double value : theta) tuple.add(value);
  if (kind != privacy::ReleaseKind::kAnswer) tuple.add(ledger::name_of(kind));
  return tuple.sha256();
}

}  // namespace parley::gate
