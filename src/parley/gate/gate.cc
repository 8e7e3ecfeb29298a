#include "parley/gate/gate.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "parley/base/number.h"

namespace parley::gate {
namespace {

constexpr size_t kDrawnAhead = 8;

Error wrong_rows(const std::string& what, uint64_t expected, uint64_t found) {
  return {.code = Code::kInvalid,
          .what = "the charter says " + std::to_string(expected) + " " + what + ", the data has " +
                  std::to_string(found),
          .hint = "Give the data the charter was written for, or agree on a new charter."};
}

/// A product of such numbers and a record's (kSmallest) may be denormal, which takes a processor
/// longer: a learner could choose theta so that the time of an answer tells of a record.
constexpr double kThetaSmallest = 0x1p-450;

std::vector<double> without_tiny(std::span<const double> theta) {
  std::vector<double> result(theta.begin(), theta.end());
  for (double& value : result) value = std::fabs(value) < kThetaSmallest ? 0 : value;
  return result;
}

}  // namespace

Hash query_hash(const Hash& charter, uint32_t round, std::span<const double> theta) {
  TupleBytes tuple;
  tuple.add(charter).add(uint64_t{round});
  for (double value : theta) tuple.add(value);
  return tuple.sha256();
}

Gate::Gate(Records records, Terms terms, ledger::Ledger& ledger, ledger::DatasetId dataset,
           Entropy& entropy, int threads)
    : records_(std::move(records)),
      terms_(std::move(terms)),
      ledger_(&ledger),
      dataset_(dataset),
      entropy_(&entropy),
      threads_(threads) {}

Result<Gate> Gate::open(Records records, Terms terms, ledger::Ledger& ledger,
                        ledger::DatasetId dataset, Entropy& entropy, int threads) {
  const size_t rows = ClipAndSum::rows(records), columns = ClipAndSum::columns(records);
  if (rows != terms.rows) return wrong_rows("rows", terms.rows, rows);
  if (columns != terms.lattice.dimension())
    return wrong_rows("features", terms.lattice.dimension(), columns);
  if (static_cast<double>(rows) * terms.lattice.bound<L2>() > 0x1p61)
    return Error{Code::kInvalid, "the sum of so many rows does not fit 64 bits on this lattice",
                 "Use fewer grid_bits."};
  const uint32_t left = terms.answers - std::min(terms.answers, ledger.last_round(terms.charter));
  TRY(std::visit(
      [&]<class M>(const M& mechanism) {
        const double sensitivity = terms.sensitivity<typename M::Norm>();
        return ledger.can_afford(dataset, mechanism.cost(sensitivity), left);
      },
      terms.mechanism));
  Gate gate(std::move(records), std::move(terms), ledger, dataset, entropy, threads);
  gate.draw_ahead();
  return gate;
}

Result<void> Gate::validate(uint32_t round, std::span<const double> theta) const {
  if (round < 1 || round > terms_.answers)
    return Error{Code::kPolicy,
                 "round " + std::to_string(round) + " is outside the charter's 1 .. " +
                     std::to_string(terms_.answers),
                 "A learner may ask only what its charter says."};
  if (theta.size() != terms_.lattice.dimension())
    return Error{Code::kInvalid, "theta has " + std::to_string(theta.size()) +
                                     " coordinates, the charter's model " +
                                     std::to_string(terms_.lattice.dimension())};
  for (double value : theta)
    if (!(std::fabs(value) <= terms_.box))  // Also catches NaN.
      return Error{Code::kInvalid, "theta is not finite or outside the box " + shortest(terms_.box),
                   "The learner must project its model before it asks."};
  return {};
}

/// What is asked: the gradients at theta, or the moments, which have no theta.
template <class Norm>
privacy::Bounded<Norm> Gate::sum_at(std::span<const double> theta) const {
  if (terms_.statistics)
    return ClipAndSum::statistics(records_,
                                  std::get<learn::StatisticsMap<Norm>>(*terms_.statistics),
                                  terms_.unit_records, threads_);
  return ClipAndSum::gradient<Norm>(records_, terms_.loss, terms_.lattice, theta,
                                    terms_.unit_records, threads_);
}

Result<privacy::Released> Gate::answer(uint32_t round, std::span<const double> theta) {
  TRY(validate(round, theta));
  const ledger::Query query{terms_.charter, round, query_hash(terms_.charter, round, theta)};
  if (auto stored = TRY(ledger_->stored(query))) return *std::move(stored);
  if (noise_.empty()) draw_ahead();
  check(!noise_.empty());
  privacy::DrawnNoise noise = std::move(noise_.front());
  noise_.pop_front();
  return std::visit(
      [&]<class M>(privacy::Drawn<M>& drawn) -> Result<privacy::Released> {
        return ledger_->pay(dataset_, query, sum_at<typename M::Norm>(without_tiny(theta)),
                            std::move(drawn));
      },
      noise);
}

void Gate::draw_ahead() {
  const uint32_t answered = last_round();
  const size_t coming =
      std::min<size_t>(terms_.answers - std::min(terms_.answers, answered), kDrawnAhead);
  while (noise_.size() < coming)
    std::visit(
        [&]<class M>(const M& mechanism) {
          noise_.emplace_back(std::in_place_type<privacy::Drawn<M>>, mechanism, terms_.numbers(),
                              *entropy_);
        },
        terms_.mechanism);
}

}  // namespace parley::gate
