#include "parley/gate/columns_gate.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parley::gate {
namespace {

Error wrong_number(const std::string& what, uint64_t expected, uint64_t found) {
  return {Code::kInvalid,
          "the charter says " + std::to_string(expected) + " " + what + ", the data has " +
              std::to_string(found),
          "Give the data the charter was written for, or agree on a new charter."};
}

/// A label within -1 .. 1, whatever the file says: nothing may fail on a record.
std::vector<int64_t> integer_labels(const learn::AnyRows& rows, int fraction) {
  std::vector<int64_t> labels;
  std::visit(
      [&](const auto& kind) {
        for (size_t i = 0; i < kind->size(); ++i)
          labels.push_back(static_cast<int64_t>(
              std::nearbyint(std::ldexp(std::clamp(kind->label(i), -1.0, 1.0), fraction))));
      },
      rows);
  return labels;
}

}  // namespace

Hash sharing_question(const Hash& charter, uint32_t round, ByteView seed) {
  return TupleBytes().add("sharing").add(charter).add(uint64_t{round}).add(seed).sha256();
}

ColumnsGate::ColumnsGate(const learn::AnyRows& rows, SharingTerms terms, size_t owner,
                         ledger::Ledger& ledger, ledger::DatasetId dataset)
    : terms_(std::move(terms)),
      owner_(owner),
      columns_(rows, terms_.plan.bits, terms_.plan.row_norms[owner]),
      ledger_(&ledger),
      dataset_(dataset) {
  if (owner == terms_.label_holder) labels_ = integer_labels(rows, terms_.plan.fraction);
}

Result<ColumnsGate> ColumnsGate::open(const Records& records, SharingTerms terms, size_t owner,
                                      ledger::Ledger& ledger, ledger::DatasetId dataset) {
  const size_t rows = ClipAndSum::rows(records), columns = ClipAndSum::columns(records);
  if (rows != terms.plan.rows) return wrong_number("records", terms.plan.rows, rows);
  if (columns != terms.columns[owner])
    return wrong_number("features", terms.columns[owner], columns);
  const uint32_t given = std::min(terms.rounds, ledger.last_round(terms.charter));
  TRY(ledger.can_afford(dataset, terms.noise.cost(terms.sensitivity), terms.rounds - given));
  return ColumnsGate(records.value_, std::move(terms), owner, ledger, dataset);
}

std::vector<int64_t> ColumnsGate::scores(std::span<const double> x) const {
  const learn::JointPlan& plan = terms_.plan;
  std::vector<int64_t> scores =
      columns_.scores(x, plan.scale, plan.fraction, plan.row_norms[owner_] * plan.balls[owner_]);
  for (size_t i = 0; i < labels_.size(); ++i) scores[i] -= labels_[i];
  return scores;
}

Result<privacy::Released> ColumnsGate::pay(uint32_t round, const Hash& question,
                                           const Hash& what_leaves) {
  if (round < 1 || round > terms_.rounds)
    return Error{Code::kPolicy,
                 "round " + std::to_string(round) + " is outside the charter's 1 .. " +
                     std::to_string(terms_.rounds),
                 "A learner may ask only what its charter says."};
  const std::vector<int64_t> digest = values_of(what_leaves);
  auto paid = TRY(ledger_->pay_dealt(dataset_, {terms_.charter, round, question}, terms_.noise,
                                     terms_.sensitivity, digest));
  if (paid.values() == digest) return paid;
  return Error{Code::kIntegrity,
               "round " + std::to_string(round) +
                   " was paid for other numbers: the data or the program has changed since",
               "Go on with what the job was started with, or agree on another run."};
}

}  // namespace parley::gate
