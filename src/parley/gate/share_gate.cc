#include "parley/gate/share_gate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "parley/base/number.h"
#include "parley/gate/gate.h"
#include "parley/learn/federated/shrink.h"

namespace parley::gate {
namespace {

constexpr size_t kDrawnAhead = 2;

Error does_not_fit(const std::string& what, uint64_t expected, uint64_t found) {
  return {.code = Code::kInvalid,
          .what = "the charter says " + std::to_string(expected) + " " + what + ", the data has " +
                  std::to_string(found),
          .hint = "Give the data the charter was written for, or agree on a new charter."};
}

}  // namespace

Hash share_query_hash(const Hash& charter, uint32_t attempt, std::span<const double> theta) {
  return TupleBytes().add("aggregation").add(query_hash(charter, attempt, theta)).sha256();
}

ShareGate::ShareGate(Records records, ShareTerms terms, ledger::Ledger& ledger,
                     ledger::DatasetId dataset, Entropy& entropy, int threads)
    : records_(std::move(records)),
      terms_(std::move(terms)),
      ledger_(&ledger),
      dataset_(dataset),
      entropy_(&entropy),
      threads_(threads) {}

Result<ShareGate> ShareGate::open(Records records, ShareTerms terms, ledger::Ledger& ledger,
                                  ledger::DatasetId dataset, Entropy& entropy, int threads) {
  const size_t rows = ClipAndSum::rows(records), columns = ClipAndSum::columns(records);
  if (rows != terms.rows()) return does_not_fit("rows", terms.rows(), rows);
  if (columns != terms.numbers()) return does_not_fit("features", terms.numbers(), columns);
  if (static_cast<double>(rows) * terms.lattice().bound<L2>() > 0x1p61)
    return Error{Code::kInvalid, "the sum of so many rows does not fit 64 bits",
                 "Divide the data among several owners."};
  const uint32_t left = terms.answers - std::min(terms.answers, ledger.last_round(terms.charter));
  TRY(ledger.can_afford(dataset, terms.cost(), left));
  if (const auto* update = std::get_if<learn::LocalUpdate>(&terms.part)) {
    const double norm = update->plan().max_row_norm;
    records = records.map([&](const learn::AnyRows& all) { return learn::shrunk(all, norm); });
  }
  ShareGate gate(std::move(records), std::move(terms), ledger, dataset, entropy, threads);
  gate.draw_ahead();
  return gate;
}

Result<void> ShareGate::validate(std::span<const double> theta) const {
  if (theta.size() != terms_.numbers())
    return Error{Code::kInvalid, "theta has " + std::to_string(theta.size()) +
                                     " coordinates, the charter's model " +
                                     std::to_string(terms_.numbers())};
  const double box = terms_.box;
  for (const double value : theta)
    if (!(std::fabs(value) <= box))  // Also catches NaN.
      return Error{Code::kInvalid, "theta is not finite or outside the box " + shortest(box),
                   "The learner must project its model before it asks."};
  if (!is_done()) return {};
  return Error{Code::kPolicy,
               "this owner has paid for the charter's " + std::to_string(terms_.answers) +
                   " aggregations, repeated ones among them",
               "Agree on another run, with more secure_aggregation.repeats."};
}

privacy::Bounded<L2> ShareGate::part_at(uint32_t attempt, std::span<const double> theta) const {
  const auto at = without_tiny(theta);
  if (const auto* sum = std::get_if<GradientSum>(&terms_.part))
    return ClipAndSum::gradient<L2>(records_, sum->loss, sum->lattice, at, sum->unit_records,
                                    threads_);
  const learn::LocalUpdate& update = terms_.update();
  const uint64_t done = uint64_t{attempt - 1} * static_cast<uint64_t>(update.plan().steps);
  return ClipAndSum::update(records_, update, terms_.gamma, at, done, threads_);
}

Result<privacy::Masked> ShareGate::share(uint32_t attempt, std::span<const double> theta,
                                         privacy::Mask mask) {
  TRY(validate(theta));
  const ledger::Query query{terms_.charter, paid() + 1,
                            share_query_hash(terms_.charter, attempt, theta)};
  if (noise_.empty()) draw_ahead();
  DrawnShare noise = std::move(noise_.front());
  noise_.pop_front();
  auto part = part_at(attempt, theta);
  return std::visit(
      [&]<class M>(privacy::Drawn<M>& drawn) {
        return ledger_->pay_share(dataset_, query, std::move(part), std::move(drawn),
                                  std::move(mask));
      },
      noise);
}

void ShareGate::draw_ahead() {
  const uint32_t left = terms_.answers - std::min(terms_.answers, paid());
  while (noise_.size() < std::min<size_t>(left, kDrawnAhead))
    noise_.push_back(std::visit(
        [&]<class M>(const M& mechanism) {
          return DrawnShare(std::in_place_type<privacy::Drawn<M>>, mechanism, terms_.numbers(),
                            *entropy_);
        },
        terms_.mechanism));
}

}  // namespace parley::gate
