#include "parley/gate/gate.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "parley/base/math/number.h"

namespace parley::gate {
namespace {

std::optional<privacy::Cost> evaluation_cost(const plan::Terms& terms) {
  if (!terms.evaluation) return std::nullopt;
  return std::visit(
      [&]<class M>(const M& mechanism) {
        return std::optional(mechanism.cost(terms.evaluation_sensitivity<typename M::Norm>()));
      },
      terms.evaluation->mechanism);
}

Result<void> check_size(const Records& records, const plan::Terms& terms) {
  const size_t rows = ClipAndSum::rows(records), columns = ClipAndSum::columns(records);
  if (rows != terms.rows) return other_data("rows", terms.rows, rows);
  if (columns != terms.lattice.dimension())
    return other_data("features", terms.lattice.dimension(), columns);
  return {};
}

/// The cost of what is still to be paid beside answers: evaluation and Gram matrix.
std::optional<privacy::Cost> once_cost(const plan::Terms& terms, const ledger::Ledger& ledger) {
  auto cost = evaluation_cost(terms);
  if (!terms.gram || ledger.last_round(terms.charter, privacy::ReleaseKind::kGram) > 0) return cost;
  privacy::Cost gram = terms.gram->mechanism.cost(terms.gram_sensitivity());
  if (cost) gram.amount = add_up(gram.amount, cost->amount);  // Both are Gaussian: rho adds up.
  return gram;
}

}  // namespace

Gate::Gate(AnyRecords records, std::optional<plan::SqlQuestions> questions, plan::Terms terms,
           ledger::Ledger& ledger, ledger::DatasetId dataset, Entropy& entropy, Pass pass)
    : records_(std::move(records)),
      questions_(std::move(questions)),
      terms_(std::move(terms)),
      account_{&ledger, dataset, terms_.charter},
      entropy_(&entropy),
      pass_(pass) {}

Result<Gate> Gate::open(AnyRecords records, plan::Terms terms, ledger::Ledger& ledger,
                        ledger::DatasetId dataset, Entropy& entropy, Pass pass) {
  if (const auto* here = std::get_if<Records>(&records)) TRY(check_size(*here, terms));
  // The bounds of both lattices lie between 2^(grid_bits - 1) and 2^grid_bits.
  if (static_cast<double>(terms.rows) * terms.lattice.bound<L2>() > 0x1p61)
    return Error{Code::kInvalid, "the sum of so many rows does not fit 64 bits on this lattice",
                 "Use fewer grid_bits."};
  const bool evaluated = ledger.last_round(terms.charter, privacy::ReleaseKind::kEvaluation) > 0;
  const uint32_t given = std::min(terms.answers, ledger.last_round(terms.charter));
  const uint32_t left = evaluated ? 0 : terms.answers - given;
  const auto then = evaluated ? std::nullopt : once_cost(terms, ledger);
  TRY(std::visit(
      [&]<class M>(const M& mechanism) {
        const double sensitivity = terms.sensitivity<typename M::Norm>();
        return ledger.can_afford(dataset, mechanism.cost(sensitivity), left, then);
      },
      terms.mechanism));
  std::optional<plan::SqlQuestions> questions;
  if (const auto* there = std::get_if<EngineRecords>(&records))
    questions = TRY(EngineSum::questions(*there, terms));
  Gate gate(std::move(records), std::move(questions), std::move(terms), ledger, dataset, entropy,
            pass);
  gate.draw_ahead();
  return gate;
}

/// Before noise is taken, which a stop may have kept from being drawn, and before a payment for a
/// sum that it may have ended early.
Result<void> Gate::go_on() const {
  if (pass_.stop.asked()) return interrupted();
  return {};
}

/// What is asked: the gradients at theta, a model near it, or the moments, which have no theta.
template <class Norm>
Result<privacy::Bounded<Norm>> Gate::sum_at(std::span<const double> theta) const {
  if (questions_)
    return EngineSum::answer<Norm>(std::get<EngineRecords>(records_), questions_->answer, theta,
                                   terms_.rows, terms_.sensitivity<Norm>());
  const Records& records = std::get<Records>(records_);
  if (terms_.fine_tune) return ClipAndSum::tuned_model<Norm>(records, *terms_.fine_tune, theta);
  if (terms_.statistics)
    return ClipAndSum::statistics(records, std::get<learn::StatisticsMap<Norm>>(*terms_.statistics),
                                  terms_.unit_records, pass_);
  return ClipAndSum::gradient<Norm>(records, terms_.loss, terms_.lattice, theta,
                                    terms_.unit_records, pass_);
}

template <class Norm>
Result<privacy::Bounded<Norm>> Gate::evaluation_at(std::span<const double> theta) const {
  if (questions_)
    return EngineSum::answer<Norm>(std::get<EngineRecords>(records_), *questions_->evaluation,
                                   theta, terms_.rows, terms_.evaluation_sensitivity<Norm>());
  return ClipAndSum::evaluation<Norm>(std::get<Records>(records_), terms_.evaluation->map, theta,
                                      terms_.unit_records, pass_);
}

Result<privacy::Released> Gate::answer(uint32_t round, std::span<const double> theta) {
  TRY(check_round(round, terms_.answers));
  TRY(check_theta(theta, terms_.lattice.dimension(), terms_.box));
  if (round > last_round() && terms_.evaluation && !evaluation_is_due())
    return not_now("the model has been evaluated, which ends the job");
  if (gram_is_due()) return not_now("the Gram matrix comes first");
  const ledger::Query query{terms_.charter, round, query_hash(terms_.charter, round, theta)};
  if (auto stored = TRY(account_.ledger->stored(query))) return *std::move(stored);
  if (noise_.empty()) draw_ahead();
  TRY(go_on());
  auto noise = noise_.next();
  return std::visit(
      [&]<class M>(privacy::Drawn<M>& drawn) -> Result<privacy::Released> {
        auto sum = TRY(sum_at<typename M::Norm>(without_tiny(theta)));
        TRY(go_on());
        return account_.ledger->pay(account_.dataset, query, std::move(sum), std::move(drawn));
      },
      noise);
}

Result<privacy::Released> Gate::gram(uint32_t round, std::span<const double> theta) {
  constexpr auto kKind = privacy::ReleaseKind::kGram;
  if (!terms_.gram) return not_now("the charter asks for no Gram matrix");
  TRY(check_round(round, 1));
  TRY(check_theta(theta, terms_.lattice.dimension(), terms_.box));
  const ledger::Query query{terms_.charter, round, query_hash(terms_.charter, round, theta, kKind),
                            kKind};
  if (auto stored = TRY(account_.ledger->stored(query))) return *std::move(stored);
  if (last_round() > 0 || (terms_.evaluation && !evaluation_is_due()))
    return not_now("the Gram matrix comes before the gradients");
  draw_ahead();
  TRY(go_on());
  auto noise = gram_noise_.next();
  auto sum =
      ClipAndSum::statistics(std::get<Records>(records_), terms_.gram->map, terms_.unit_records,
                             pass_);  // Engines are refused in plan/sums/sql.cc.
  TRY(go_on());
  return account_.ledger->pay(account_.dataset, query, std::move(sum),
                              std::get<privacy::Drawn<privacy::Gaussian>>(std::move(noise)));
}

Result<privacy::Released> Gate::evaluate(uint32_t round, std::span<const double> theta) {
  constexpr auto kKind = privacy::ReleaseKind::kEvaluation;
  if (!terms_.evaluation || !(terms_.may_end_early || gave_every_answer()))
    return not_now(terms_.evaluation ? "an evaluation is due after the last answer only"
                                     : "the charter keeps no epsilon for an evaluation");
  TRY(check_round(round, 1));
  TRY(check_theta(theta, terms_.lattice.dimension(), terms_.box));
  const ledger::Query query{terms_.charter, round, query_hash(terms_.charter, round, theta, kKind),
                            kKind};
  if (auto stored = TRY(account_.ledger->stored(query))) return *std::move(stored);
  draw_ahead();
  TRY(go_on());
  auto noise = evaluation_noise_.next();
  return std::visit(
      [&]<class M>(privacy::Drawn<M>& drawn) -> Result<privacy::Released> {
        auto sum = TRY(evaluation_at<typename M::Norm>(without_tiny(theta)));
        TRY(go_on());
        return account_.ledger->pay(account_.dataset, query, std::move(sum), std::move(drawn));
      },
      noise);
}

uint32_t Gate::paid() const {
  using enum privacy::ReleaseKind;
  return account_.paid(kAnswer) + account_.paid(kEvaluation) + account_.paid(kGram);
}

bool Gate::evaluation_is_due() const {
  return terms_.evaluation && account_.paid(privacy::ReleaseKind::kEvaluation) == 0;
}

bool Gate::gram_is_due() const {
  return terms_.gram && account_.paid(privacy::ReleaseKind::kGram) == 0;
}

void Gate::draw_ahead() {
  if (gram_is_due())
    gram_noise_.fill(1, terms_.gram->mechanism, terms_.gram->map.size(), *entropy_, pass_.stop);
  const size_t left = terms_.answers - std::min(terms_.answers, last_round());
  noise_.fill(left, terms_.mechanism, terms_.numbers(), *entropy_, pass_.stop);
  const bool soon = terms_.may_end_early || noise_.size() >= left;
  if (soon && evaluation_is_due())
    evaluation_noise_.fill(1, terms_.evaluation->mechanism, terms_.evaluation->map.size(),
                           *entropy_, pass_.stop);
}

}  // namespace parley::gate
