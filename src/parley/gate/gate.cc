#include "parley/gate/gate.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "parley/base/math/number.h"
#include "parley/gate/other_data.h"
#include "parley/ledger/storage/row.h"

namespace parley::gate {
namespace {

constexpr size_t kDrawnAhead = 8;

/// A product of such numbers and a record's (kSmallest) may be denormal, which takes a processor
/// longer: a learner could choose theta so that the time of an answer tells of a record.
constexpr double kThetaSmallest = 0x1p-450;

privacy::DrawnNoise drawn(const privacy::Mechanisms& mechanisms, size_t numbers, Entropy& entropy) {
  return std::visit(
      [&]<class M>(const M& mechanism) {
        return privacy::DrawnNoise(std::in_place_type<privacy::Drawn<M>>, mechanism, numbers,
                                   entropy);
      },
      mechanisms);
}

std::optional<privacy::Cost> evaluation_cost(const plan::Terms& terms) {
  if (!terms.evaluation) return std::nullopt;
  return std::visit(
      [&]<class M>(const M& mechanism) {
        return std::optional(mechanism.cost(terms.evaluation_sensitivity<typename M::Norm>()));
      },
      terms.evaluation->mechanism);
}

}  // namespace

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

Gate::Gate(Records records, plan::Terms terms, ledger::Ledger& ledger, ledger::DatasetId dataset,
           Entropy& entropy, int threads)
    : records_(std::move(records)),
      terms_(std::move(terms)),
      ledger_(&ledger),
      dataset_(dataset),
      entropy_(&entropy),
      threads_(threads) {}

Result<Gate> Gate::open(Records records, plan::Terms terms, ledger::Ledger& ledger,
                        ledger::DatasetId dataset, Entropy& entropy, int threads) {
  const size_t rows = ClipAndSum::rows(records), columns = ClipAndSum::columns(records);
  if (rows != terms.rows) return other_data("rows", terms.rows, rows);
  if (columns != terms.lattice.dimension())
    return other_data("features", terms.lattice.dimension(), columns);
  // The bounds of both lattices lie between 2^(grid_bits - 1) and 2^grid_bits.
  if (static_cast<double>(rows) * terms.lattice.bound<L2>() > 0x1p61)
    return Error{Code::kInvalid, "the sum of so many rows does not fit 64 bits on this lattice",
                 "Use fewer grid_bits."};
  const bool evaluated = ledger.last_round(terms.charter, privacy::ReleaseKind::kEvaluation) > 0;
  const uint32_t given = std::min(terms.answers, ledger.last_round(terms.charter));
  const uint32_t left = evaluated ? 0 : terms.answers - given;
  const auto then = evaluated ? std::nullopt : evaluation_cost(terms);
  TRY(std::visit(
      [&]<class M>(const M& mechanism) {
        const double sensitivity = terms.sensitivity<typename M::Norm>();
        return ledger.can_afford(dataset, mechanism.cost(sensitivity), left, then);
      },
      terms.mechanism));
  Gate gate(std::move(records), std::move(terms), ledger, dataset, entropy, threads);
  gate.draw_ahead();
  return gate;
}

Result<void> Gate::check_round(uint32_t round, uint32_t last) const {
  if (round >= 1 && round <= last) return {};
  return Error{
      Code::kPolicy,
      "round " + std::to_string(round) + " is outside the charter's 1 .. " + std::to_string(last),
      "A learner may ask only what its charter says."};
}

Result<void> Gate::validate(std::span<const double> theta) const {
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

/// What is asked: the gradients at theta, a model near it, or the moments, which have no theta.
template <class Norm>
privacy::Bounded<Norm> Gate::sum_at(std::span<const double> theta) const {
  if (terms_.fine_tune) return ClipAndSum::tuned_model<Norm>(records_, *terms_.fine_tune, theta);
  if (terms_.statistics)
    return ClipAndSum::statistics(records_,
                                  std::get<learn::StatisticsMap<Norm>>(*terms_.statistics),
                                  terms_.unit_records, threads_);
  return ClipAndSum::gradient<Norm>(records_, terms_.loss, terms_.lattice, theta,
                                    terms_.unit_records, threads_);
}

Result<privacy::Released> Gate::answer(uint32_t round, std::span<const double> theta) {
  TRY(check_round(round, terms_.answers));
  TRY(validate(theta));
  if (round > last_round() && terms_.evaluation && !evaluation_is_due())
    return Error{Code::kPolicy, "the model has been evaluated, which ends the job",
                 "A learner may ask only what its charter says."};
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

Result<privacy::Released> Gate::evaluate(uint32_t round, std::span<const double> theta) {
  constexpr auto kKind = privacy::ReleaseKind::kEvaluation;
  if (!terms_.evaluation || !(terms_.may_end_early || gave_every_answer()))
    return Error{Code::kPolicy,
                 terms_.evaluation ? "an evaluation is due after the last answer only"
                                   : "the charter keeps no epsilon for an evaluation",
                 "A learner may ask only what its charter says."};
  TRY(check_round(round, 1));
  TRY(validate(theta));
  const ledger::Query query{terms_.charter, round, query_hash(terms_.charter, round, theta, kKind),
                            kKind};
  if (auto stored = TRY(ledger_->stored(query))) return *std::move(stored);
  draw_ahead();
  privacy::DrawnNoise noise = *std::exchange(evaluation_noise_, std::nullopt);
  return std::visit(
      [&]<class M>(privacy::Drawn<M>& drawn) -> Result<privacy::Released> {
        auto sum = ClipAndSum::evaluation<typename M::Norm>(
            records_, terms_.evaluation->map, without_tiny(theta), terms_.unit_records, threads_);
        return ledger_->pay(dataset_, query, std::move(sum), std::move(drawn));
      },
      noise);
}

bool Gate::evaluation_is_due() const {
  return terms_.evaluation &&
         ledger_->last_round(terms_.charter, privacy::ReleaseKind::kEvaluation) == 0;
}

void Gate::draw_ahead() {
  const uint32_t answered = std::min(terms_.answers, last_round());
  const size_t left = terms_.answers - answered;
  while (noise_.size() < std::min(left, kDrawnAhead))
    noise_.push_back(drawn(terms_.mechanism, terms_.numbers(), *entropy_));
  const bool soon = terms_.may_end_early || noise_.size() >= left;
  if (soon && !evaluation_noise_ && evaluation_is_due())
    evaluation_noise_.emplace(
        drawn(terms_.evaluation->mechanism, terms_.evaluation->map.size(), *entropy_));
}

}  // namespace parley::gate
