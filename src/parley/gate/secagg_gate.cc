#include "parley/gate/secagg_gate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "parley/base/math/number.h"
#include "parley/learn/federated/shrink.h"

namespace parley::gate {
namespace {

using Kind = privacy::ReleaseKind;

/// How many sums of each kind are still to be paid for, if the job goes to its end.
class ToCome {
 public:
  ToCome(const ledger::Ledger& ledger, const plan::SecaggTerms& terms)
      : ledger_(ledger), terms_(terms) {}

  uint32_t paid(Kind kind) const { return ledger_.last_round(terms_.charter, kind); }
  bool evaluated() const { return paid(Kind::kEvaluation) > 0; }

  /// `most`: sums of this kind in the whole job.
  uint32_t left(Kind kind, uint32_t most) const {
    return evaluated() && kind != Kind::kEvaluation ? 0 : most - std::min(most, paid(kind));
  }
  void add(Kind kind) {
    if (const auto sums = terms_.of(kind)) add(sums->cost(), left(kind, sums->answers));
  }
  const std::optional<privacy::Cost>& cost() const { return cost_; }

 private:
  void add(privacy::Cost cost, uint32_t times) {
    if (times == 0) return;
    cost.amount = mul_up(cost.amount, times);
    if (cost_) cost.amount = add_up(cost.amount, cost_->amount);
    cost_ = cost;
  }
  const ledger::Ledger& ledger_;
  const plan::SecaggTerms& terms_;
  std::optional<privacy::Cost> cost_{};
};

/// Can the budget pay the job to its end, with all repetitions, both without an alarm and with one?
Result<void> can_afford(const ledger::Ledger& ledger, ledger::DatasetId dataset,
                        const plan::SecaggTerms& terms) {
  const bool may_alarm = terms.after_alarm.has_value();
  ToCome plain(ledger, terms), after(ledger, terms);
  const bool alarmed = may_alarm && plain.paid(Kind::kGram) > 0;
  if (!may_alarm) plain.add(Kind::kGram);
  plain.add(Kind::kEvaluation);
  if (!alarmed)
    TRY(ledger.can_afford(dataset, terms.cost(), plain.left(Kind::kAnswer, terms.answers),
                          plain.cost()));
  if (!may_alarm || plain.paid(Kind::kAnswer) > terms.after_alarm->before) return {};
  for (const Kind kind : {Kind::kGram, Kind::kAfterAlarm, Kind::kEvaluation}) after.add(kind);
  const uint32_t before = alarmed ? 0 : after.left(Kind::kAnswer, terms.after_alarm->before);
  return ledger.can_afford(dataset, terms.cost(), before, after.cost());
}

}  // namespace

Hash share_query_hash(const Hash& charter, uint32_t attempt, std::span<const double> theta,
                      privacy::ReleaseKind kind) {
  return TupleBytes().add("aggregation").add(query_hash(charter, attempt, theta, kind)).sha256();
}

SecaggGate::SecaggGate(Records records, plan::SecaggTerms terms, ledger::Ledger& ledger,
                       ledger::DatasetId dataset, Entropy& entropy, Pass pass)
    : records_(std::move(records)),
      terms_(std::move(terms)),
      account_{&ledger, dataset, terms_.charter},
      entropy_(&entropy),
      pass_(pass) {}

Result<SecaggGate> SecaggGate::open(Records records, plan::SecaggTerms terms,
                                    ledger::Ledger& ledger, ledger::DatasetId dataset,
                                    Entropy& entropy, Pass pass) {
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
  SecaggGate gate(std::move(records), std::move(terms), ledger, dataset, entropy, pass);
  gate.draw_ahead();
  return gate;
}

Result<void> SecaggGate::validate(std::span<const double> theta, Kind kind) const {
  TRY(check_theta(theta, terms_.features(), terms_.box));
  return is_payable(kind);
}

bool SecaggGate::is_done() const {
  if (terms_.evaluation) return paid(Kind::kEvaluation) > 0;
  if (terms_.after_alarm && paid(Kind::kGram) > 0)
    return paid(Kind::kAfterAlarm) >= terms_.after_alarm->answers;
  return paid() >= terms_.answers;
}

/// In the charter's order: a Gram matrix comes before the answers or, after an alarm, between the
/// first answers and those of kind kAfterAlarm.
Result<void> SecaggGate::is_due(Kind kind) const {
  const bool alarm = terms_.after_alarm.has_value(), gram = paid(Kind::kGram) > 0;
  if (kind != Kind::kEvaluation && paid(Kind::kEvaluation) > 0)
    return not_now("the model has been evaluated, which ends the job");
  if (kind == Kind::kGram && paid(alarm ? Kind::kAfterAlarm : Kind::kAnswer) > 0)
    return not_now("the Gram matrix comes before the gradients");
  if (kind == Kind::kGram && alarm && paid(Kind::kAnswer) > terms_.after_alarm->before)
    return not_now("an alarm comes after the first sum, this owner has paid for " +
                   std::to_string(paid(Kind::kAnswer)));
  if (kind == Kind::kAnswer && terms_.gram && gram == alarm)
    return not_now(alarm ? "an alarm has ended these sums" : "the Gram matrix comes first");
  if (kind == Kind::kAfterAlarm && !gram) return not_now("the Gram matrix comes first");
  return {};
}

Result<void> SecaggGate::is_payable(Kind kind) const {
  const auto sums = terms_.of(kind);
  if (!sums)
    return Error{Code::kPolicy, kind == Kind::kEvaluation
                                    ? "the charter keeps no epsilon for an evaluation"
                                    : "the charter asks for no such sum"};
  TRY(is_due(kind));
  if (paid(kind) < sums->answers) return {};
  const bool evaluation = kind == Kind::kEvaluation;
  return Error{Code::kPolicy,
               "this owner has paid for the charter's " + std::to_string(sums->answers) +
                   (evaluation ? " evaluations" : " aggregations") + ", repeated ones among them",
               "Agree on another run, with more secure_aggregation.repeats."};
}

privacy::Bounded<L2> SecaggGate::part_at(uint32_t attempt, std::span<const double> theta,
                                         Kind kind) const {
  const auto at = without_tiny(theta);
  if (kind == Kind::kEvaluation)
    return ClipAndSum::evaluation<L2>(records_, terms_.evaluation->map, at,
                                      terms_.evaluation->unit_records, pass_);
  if (kind == Kind::kGram)
    return ClipAndSum::statistics(records_, terms_.gram->map, terms_.gram->unit_records, pass_);
  const auto* sum = kind == Kind::kAfterAlarm ? &terms_.after_alarm->sum
                                              : std::get_if<plan::GradientSum>(&terms_.part);
  if (sum)
    return ClipAndSum::gradient<L2>(records_, sum->loss, sum->lattice, at, sum->unit_records,
                                    pass_);
  if (const auto* one = std::get_if<plan::DistanceSum>(&terms_.part))
    return ClipAndSum::length(records_, *one, without_tiny(one->metric->point(at)), pass_);
  const learn::LocalUpdate& update = terms_.update();
  const uint64_t done = uint64_t{attempt - 1} * static_cast<uint64_t>(update.plan().steps);
  return ClipAndSum::update(records_, update, terms_.gamma, at, done, pass_);
}

Result<privacy::Masked> SecaggGate::share(uint32_t attempt, std::span<const double> theta,
                                          privacy::Mask mask, Kind kind) {
  TRY(validate(theta, kind));
  const ledger::Query query{terms_.charter, paid(kind) + 1,
                            share_query_hash(terms_.charter, attempt, theta, kind), kind};
  if (noise(kind).empty()) draw_ahead();
  if (pass_.stop.asked()) return interrupted();  // It may have kept noise from being drawn.
  auto drawn_ahead = noise(kind).next();
  auto part = part_at(attempt, theta, kind);
  if (pass_.stop.asked()) return interrupted();  // It may lack records.
  return std::visit(
      [&]<class M>(privacy::Drawn<M>& drawn) {
        return account_.ledger->pay_share(account_.dataset, query, std::move(part),
                                          std::move(drawn), std::move(mask));
      },
      drawn_ahead);
}

void SecaggGate::draw_ahead() {
  for (const Kind kind : {Kind::kGram, Kind::kAnswer, Kind::kAfterAlarm, Kind::kEvaluation}) {
    const auto sums = terms_.of(kind);
    // The first answers follow the Gram matrix at once.
    if (!sums || (!is_due(kind) && !(kind == Kind::kAnswer && !terms_.after_alarm))) continue;
    const uint32_t left = sums->answers - std::min(sums->answers, paid(kind));
    noise(kind).fill(left, *sums->mechanism, sums->numbers, *entropy_, pass_.stop);
  }
}

}  // namespace parley::gate
