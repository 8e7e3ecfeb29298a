#include "parley/gate/columns_gate.h"

#include <sodium.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace parley::gate {
namespace {

/// A label within -1 .. 1, whatever the file says: nothing may fail on a record.
std::vector<int64_t> integer_labels(const data::AnyRows& rows, int fraction) {
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

/// Columns on the grid of moments, or on that of scores.
learn::IntegerColumns integer_columns(const data::AnyRows& rows, const plan::VerticalTerms& terms,
                                      size_t owner) {
  const learn::JointPlan& plan = terms.plan;
  learn::IntegerColumns columns{learn::IntegerRows(rows, plan.bits, plan.row_norms[owner])};
  const bool moments = terms.rule == charter::Rule::kStatistics;
  if (owner == terms.label_holder)
    columns.labels = integer_labels(rows, moments ? plan.bits : plan.fraction);
  return columns;
}

Bytes data_in(const learn::IntegerColumns& columns) {
  Bytes bytes;
  for (size_t i = 0; i < columns.rows.size(); ++i) {
    append_little_endian(bytes, columns.rows.at(i).size());
    for (const uint32_t at : columns.rows.at(i)) append_little_endian(bytes, at);
    for (const int64_t value : columns.rows.values(i)) append_little_endian(bytes, uint64_t(value));
  }
  for (const int64_t label : columns.labels) append_little_endian(bytes, uint64_t(label));
  return bytes;
}

}  // namespace

Hash sharing_question(const Hash& charter, uint32_t round, ByteView seed) {
  return TupleBytes().add("sharing").add(charter).add(uint64_t{round}).add(seed).sha256();
}

void ColumnsGate::take(const data::AnyRows& rows) {
  if (!terms_.cells.empty()) {
    const learn::CellColumns& cells = terms_.cells[owner_];
    leaves_.emplace(privacy::ToMask<WipedVector<uint32_t>>(cells.leaves(rows)));
    columns_.emplace(privacy::ToMask<learn::IntegerColumns>(cells.integers(leaves_->value_)));
    return;
  }
  columns_.emplace(privacy::ToMask<learn::IntegerColumns>(integer_columns(rows, terms_, owner_)));
  if (terms_.noisy) noisy_.emplace(rows, terms_, owner_);
}

Result<ColumnsGate> ColumnsGate::checked(size_t columns, plan::VerticalTerms terms, size_t owner,
                                         ledger::Ledger& ledger, ledger::DatasetId dataset) {
  if (columns != terms.columns[owner]) return other_data("features", terms.columns[owner], columns);
  const uint32_t given = std::min(terms.rounds, ledger.last_round(terms.charter));
  TRY(ledger.can_afford(dataset, terms.cost(), terms.rounds - given));
  return ColumnsGate(std::move(terms), owner, ledger, dataset);
}

Result<ColumnsGate> ColumnsGate::open(const Records& records, plan::VerticalTerms terms,
                                      size_t owner, ledger::Ledger& ledger,
                                      ledger::DatasetId dataset) {
  const size_t rows = ClipAndSum::rows(records), columns = ClipAndSum::columns(records);
  if (rows != terms.plan.rows) return other_data("records", terms.plan.rows, rows);
  auto gate = TRY(checked(columns, std::move(terms), owner, ledger, dataset));
  gate.take(records.value_);
  return gate;
}

Result<ColumnsGate> ColumnsGate::open(Records records, learn::Alignment alignment,
                                      plan::VerticalTerms terms, size_t owner,
                                      ledger::Ledger& ledger, ledger::DatasetId dataset) {
  check(alignment.digests.size() == ClipAndSum::rows(records));
  const size_t columns = ClipAndSum::columns(records);
  auto gate = TRY(checked(columns, std::move(terms), owner, ledger, dataset));
  gate.all_.emplace(std::move(records));
  gate.alignment_ = std::move(alignment);
  return gate;
}

Result<Hash> ColumnsGate::align(std::span<const std::vector<learn::IdDigest>> lists) {
  check(all_.has_value());
  const auto common = TRY(learn::common_rows({all_->value_, alignment_}, lists, terms_.plan.rows));
  take(common.rows);
  return common.alignment.hash();
}

Result<void> ColumnsGate::align(std::span<const uint64_t> common) {
  check(all_.has_value());
  TRY(learn::check_common(common.size(), terms_.plan.rows));
  take(learn::rows_in_order(all_->value_, common));
  return {};
}

privacy::ToMask<std::vector<int64_t>> ColumnsGate::scores(std::span<const double> x) const {
  const learn::JointPlan& plan = terms_.plan;
  const learn::IntegerColumns& own = columns_->value_;
  std::vector<int64_t> scores =
      own.rows.scores(x, plan.scale, plan.fraction, plan.row_norms[owner_] * plan.balls[owner_]);
  for (size_t i = 0; i < own.labels.size(); ++i) scores[i] -= own.labels[i];
  return privacy::ToMask<std::vector<int64_t>>(std::move(scores));
}

Hash ColumnsGate::digest(const Secret32& key) const {
  const Bytes text = TupleBytes()
                         .add("columns")
                         .add(terms_.charter)
                         .add(sha256(data_in(columns_->value_)))
                         .bytes();
  Hash digest;
  check(crypto_generichash(digest.data(), digest.size(), text.data(), text.size(), key.data(),
                           key.size()) == 0);
  return digest;
}

Result<privacy::Released> ColumnsGate::pay(uint32_t round, const Hash& question,
                                           const Hash& what_leaves) {
  TRY(check_round(round, terms_.rounds));
  const std::vector<int64_t> digest = values_of(what_leaves);
  const ledger::Query query{terms_.charter, round, question};
  auto paid = TRY(
      account_.ledger->pay_dealt(account_.dataset, query, terms_.cost(), terms_.event(), digest));
  if (paid.values() == digest) return paid;
  return Error{Code::kIntegrity,
               "round " + std::to_string(round) +
                   " was paid for other numbers: the data or the program has changed since",
               "Go on with what the job was started with, or agree on another run."};
}

}  // namespace parley::gate
