#include "parley/gate/share_gate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "parley/base/number.h"
#include "parley/gate/gate.h"
#include "parley/gate/other_data.h"
#include "parley/learn/federated/shrink.h"

namespace parley::gate {
namespace {

constexpr size_t kDrawnAhead = 2;

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
  if (rows != terms.rows()) return other_data("rows", terms.rows(), rows);
  if (columns != terms.numbers()) return other_data("features", terms.numbers(), columns);
  if (static_cast<double>(rows) * terms.update.lattice().bound<L2>() > 0x1p61)
    return Error{Code::kInvalid, "the sum of so many rows does not fit 64 bits",
                 "Divide the data among several owners."};
  const uint32_t left = terms.answers - std::min(terms.answers, ledger.last_round(terms.charter));
  TRY(ledger.can_afford(dataset, terms.cost(), left));
  const double norm = terms.update.plan().max_row_norm;
  Records shrunk = records.map([&](const learn::AnyRows& all) { return learn::shrunk(all, norm); });
  ShareGate gate(std::move(shrunk), std::move(terms), ledger, dataset, entropy, threads);
  gate.draw_ahead();
  return gate;
}

Result<void> ShareGate::validate(std::span<const double> theta) const {
  if (theta.size() != terms_.numbers())
    return Error{Code::kInvalid, "theta has " + std::to_string(theta.size()) +
                                     " coordinates, the charter's model " +
                                     std::to_string(terms_.numbers())};
  const double box = terms_.update.plan().box;
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

Result<privacy::Masked> ShareGate::share(uint32_t attempt, std::span<const double> theta,
                                         privacy::Mask mask) {
  TRY(validate(theta));
  const ledger::Query query{terms_.charter, paid() + 1,
                            share_query_hash(terms_.charter, attempt, theta)};
  if (noise_.empty()) draw_ahead();
  DrawnShare noise = std::move(noise_.front());
  noise_.pop_front();
  const auto done =
      static_cast<uint64_t>(attempt - 1) * static_cast<uint64_t>(terms_.update.plan().steps);
  auto update = ClipAndSum::update(records_, terms_.update, terms_.gamma, without_tiny(theta), done,
                                   threads_);
  return std::visit(
      [&]<class M>(privacy::Drawn<M>& drawn) {
        return ledger_->pay_share(dataset_, query, std::move(update), std::move(drawn),
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
