#include "parley/gate/secagg_gate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "parley/base/math/number.h"
#include "parley/learn/federated/shrink.h"

namespace parley::gate {
namespace {

/// To the end, repeated aggregations and evaluations among them.
Result<void> can_afford(const ledger::Ledger& ledger, ledger::DatasetId dataset,
                        const plan::SecaggTerms& terms) {
  const uint32_t evaluated = ledger.last_round(terms.charter, privacy::ReleaseKind::kEvaluation);
  const uint32_t paid = std::min(terms.answers, ledger.last_round(terms.charter));
  const uint32_t left = evaluated > 0 ? 0 : terms.answers - paid;
  std::optional<privacy::Cost> then;
  if (terms.evaluation && evaluated < terms.evaluation->answers) {
    then = terms.evaluation_cost();
    then->amount = mul_up(then->amount, terms.evaluation->answers - evaluated);
  }
  return ledger.can_afford(dataset, terms.cost(), left, then);
}

}  // namespace

Hash share_query_hash(const Hash& charter, uint32_t attempt, std::span<const double> theta,
                      privacy::ReleaseKind kind) {
  return TupleBytes().add("aggregation").add(query_hash(charter, attempt, theta, kind)).sha256();
}

SecaggGate::SecaggGate(Records records, plan::SecaggTerms terms, ledger::Ledger& ledger,
                       ledger::DatasetId dataset, Entropy& entropy, int threads)
    : records_(std::move(records)),
      terms_(std::move(terms)),
      account_{&ledger, dataset, terms_.charter},
      entropy_(&entropy),
      threads_(threads) {}

Result<SecaggGate> SecaggGate::open(Records records, plan::SecaggTerms terms,
                                    ledger::Ledger& ledger, ledger::DatasetId dataset,
                                    Entropy& entropy, int threads) {
  const size_t rows = ClipAndSum::rows(records), columns = ClipAndSum::columns(records);
  if (rows != terms.rows()) return other_data("rows", terms.rows(), rows);
  if (columns != terms.features()) return other_data("features", terms.features(), columns);
  if (static_cast<double>(rows) * terms.lattice().bound<L2>() > 0x1p61)
    return Error{Code::kInvalid, "the sum of so many rows does not fit 64 bits",
                 "Divide the data among several owners."};
  TRY(can_afford(ledger, dataset, terms));
  if (const auto* update = std::get_if<learn::LocalUpdate>(&terms.part)) {
    const double norm = update->plan().max_row_norm;
    records = records.map([&](const data::AnyRows& all) { return learn::shrunk(all, norm); });
  }
  if (const auto* sum = std::get_if<plan::DistanceSum>(&terms.part)) {
    check(sum->metric && sum->metric->columns() == columns);
    records = records.map([&](const data::AnyRows& all) { return sum->metric->rows(all); });
  }
  SecaggGate gate(std::move(records), std::move(terms), ledger, dataset, entropy, threads);
  gate.draw_ahead();
  return gate;
}

Result<void> SecaggGate::validate(std::span<const double> theta, Kind kind) const {
  TRY(check_theta(theta, terms_.features(), terms_.box));
  return is_payable(kind);
}

Result<void> SecaggGate::is_payable(Kind kind) const {
  const bool evaluation = kind == Kind::kEvaluation;
  if (evaluation && !terms_.evaluation)
    return Error{Code::kPolicy, "the charter keeps no epsilon for an evaluation"};
  if (!evaluation && paid(Kind::kEvaluation) > 0)
    return Error{Code::kPolicy, "the model has been evaluated, which ends the job"};
  const uint32_t most = evaluation ? terms_.evaluation->answers : terms_.answers;
  if (paid(kind) < most) return {};
  return Error{Code::kPolicy,
               "this owner has paid for the charter's " + std::to_string(most) +
                   (evaluation ? " evaluations" : " aggregations") + ", repeated ones among them",
               "Agree on another run, with more secure_aggregation.repeats."};
}

privacy::Bounded<L2> SecaggGate::part_at(uint32_t attempt, std::span<const double> theta,
                                         Kind kind) const {
  const auto at = without_tiny(theta);
  if (kind == Kind::kEvaluation)
    return ClipAndSum::evaluation<L2>(records_, terms_.evaluation->map, at,
                                      terms_.evaluation->unit_records, threads_);
  if (const auto* sum = std::get_if<plan::GradientSum>(&terms_.part))
    return ClipAndSum::gradient<L2>(records_, sum->loss, sum->lattice, at, sum->unit_records,
                                    threads_);
  if (const auto* sum = std::get_if<plan::DistanceSum>(&terms_.part))
    return ClipAndSum::length(records_, *sum, without_tiny(sum->metric->point(at)), threads_);
  const learn::LocalUpdate& update = terms_.update();
  const uint64_t done = uint64_t{attempt - 1} * static_cast<uint64_t>(update.plan().steps);
  return ClipAndSum::update(records_, update, terms_.gamma, at, done, threads_);
}

Result<privacy::Masked> SecaggGate::share(uint32_t attempt, std::span<const double> theta,
                                          privacy::Mask mask, Kind kind) {
  TRY(validate(theta, kind));
  const ledger::Query query{terms_.charter, paid(kind) + 1,
                            share_query_hash(terms_.charter, attempt, theta, kind), kind};
  if (noise(kind).empty()) draw_ahead();
  auto drawn_ahead = noise(kind).next();
  auto part = part_at(attempt, theta, kind);
  return std::visit(
      [&]<class M>(privacy::Drawn<M>& drawn) {
        return account_.ledger->pay_share(account_.dataset, query, std::move(part),
                                          std::move(drawn), std::move(mask));
      },
      drawn_ahead);
}

void SecaggGate::draw_ahead() {
  const uint32_t left = terms_.answers - std::min(terms_.answers, paid());
  noise_.fill(left, terms_.mechanism, terms_.numbers(), *entropy_);
  if (terms_.evaluation && paid(Kind::kEvaluation) < terms_.evaluation->answers)
    evaluation_noise_.fill(1, terms_.evaluation->mechanism, numbers(Kind::kEvaluation), *entropy_);
}

}  // namespace parley::gate
