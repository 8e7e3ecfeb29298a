// Rows that no query asks for: how they are added, and what peers know of this ledger.
#include <algorithm>

#include "parley/base/math/number.h"
#include "parley/ledger/price.h"
#include "parley/ledger/state.h"

namespace parley::ledger {
namespace {

Error is_incomplete(const privacy::Receipt& receipt, const std::string& what) {
  return {Code::kIntegrity,
          "the receipt of " + std::string(name_of(receipt.kind)) + " " +
              std::to_string(receipt.round) + " " + what,
          "Give all that left under this charter, from its first round on: the whole transcript."};
}

/// The charge of a receipt, before its place is known.
Result<Row> charge_of(int64_t dataset, const Returned& returned) {
  const privacy::Cost cost = TRY(price_of(returned.receipt.event));
  Bytes answer = bytes_of(returned.values);
  if (sha256(answer) != returned.receipt.answer)
    return is_incomplete(returned.receipt, "comes without its numbers, or with others");
  return Row{.kind = std::string(name_of(returned.receipt.kind)),
             .dataset = dataset,
             .query = returned.receipt.query,
             .event = returned.receipt.event,
             .track = cost.track == privacy::Track::kPure ? "pure" : "zcdp",
             .cost = cost.amount + 0.0,
             .delta = cost.delta + 0.0,
             .answer = std::move(answer)};
}

/// What it claims for the charter must not exceed what the rows now add up to.
Result<void> check_sum(const privacy::Receipt& claimed, const privacy::Receipt& booked) {
  constexpr double kRounding = 1e-9;
  if (claimed.delta_spent != booked.delta_spent) return {};  // Another conversion: no comparison.
  if (claimed.epsilon_spent <= booked.epsilon_spent * (1 + kRounding)) return {};
  return is_incomplete(claimed, "says epsilon " + shortest(claimed.epsilon_spent) +
                                    " so far, what is here adds up to " +
                                    shortest(booked.epsilon_spent));
}

/// Was a part of a sum paid for, which may never have arrived?
bool is_part_of_sum(const std::string& event) {
  return event.starts_with("{\"gaussian_shares\"") || event.starts_with("{\"skellam\"");
}

/// A payment of which only the price is known, by the receipt after it. It gets a name of its own.
Result<void> book_lost(Addition& addition, const Hash& charter, uint32_t round, Row next) {
  const Hash name =
      TupleBytes().add("lost").add(charter).add(next.kind).add(uint64_t{round}).sha256();
  next.charter = charter;
  next.round = round;
  next.query = {};
  next.answer.clear();
  TRY(addition.add_note(next.dataset, charter, round, next.query,
                        Restored{*release_kind(next.kind), name}));
  TRY(addition.add(std::move(next)));
  return {};
}

/// Books one forgotten answer: in its place if that is the next one, beside if that was taken.
Result<void> book(Addition& addition, int64_t dataset, const Hash& charter,
                  const Returned& returned, Restoration& done) {
  const privacy::Receipt& receipt = returned.receipt;
  Row row = TRY(charge_of(dataset, returned));
  uint32_t last = addition.after.last_round(charter, receipt.kind);
  const bool gap = receipt.round > last + 1;
  if (receipt.round == 0 || (gap && !is_part_of_sum(receipt.event)))
    return is_incomplete(receipt, "is here, that of " + std::to_string(last + 1) + " is not");
  for (; last + 1 < receipt.round; ++last, ++done.lost)
    TRY(book_lost(addition, charter, last + 1, row));
  const bool in_place = receipt.round == last + 1;
  row.charter = in_place ? charter : receipt.chain;
  row.round = in_place ? receipt.round : 1;
  TRY(addition.add_note(
      dataset, charter, receipt.round, receipt.query,
      Restored{receipt.kind, receipt.chain, gap ? std::optional(receipt.job) : std::nullopt}));
  row = TRY(addition.add(std::move(row)));
  if (in_place) TRY(check_sum(receipt, addition.after.receipt(row)));
  ++(in_place ? done.booked : done.beside);
  return {};
}

}  // namespace

Result<Row> Addition::add(Row row) {
  row = sealed(after, clock, std::move(row));
  TRY(after.accepts(row));
  TRY(store.insert(row));
  after.extend(row);
  return row;
}

Result<Row> Addition::add_budget(const Dataset& dataset) {
  after.declare(dataset);
  TRY(store.put(dataset));
  return add(
      {.kind = "budget", .dataset = dataset.id, .event = budget_event(dataset), .track = "none"});
}

Result<Row> Addition::add_note(int64_t dataset, const Hash& charter, int64_t round,
                               const Hash& query, const Note& note) {
  return add({.kind = std::string(kind_of(note, after.format())),
              .dataset = dataset,
              .charter = charter,
              .round = round,
              .query = query,
              .event = note_event(note),
              .track = "none"});
}

Result<void> Ledger::recognise(DatasetId dataset, const Hash& charter,
                               const privacy::Receipt& receipt) {
  const Chain& chain = state_->chain;
  if (TRY(knows(charter, receipt))) return {};
  const int64_t id = static_cast<int64_t>(dataset);
  if (!chain.missing().contains(receipt.chain))
    TRY(append([&](Addition& addition) {
      return addition.add_note(id, charter, receipt.round, receipt.query,
                               Missing{receipt.kind, receipt.chain});
    }));
  return state_->chain.is_current();
}

Result<Restoration> Ledger::restore(DatasetId dataset, const Hash& charter,
                                    std::span<const Returned> returned) {
  Restoration done;
  TRY(append([&](Addition& addition) -> Result<void> {
    for (const Returned& each : returned) {
      if (addition.after.restored(each.receipt.chain) != 0 || TRY(knows(charter, each.receipt)))
        ++done.known;
      else
        TRY(book(addition, static_cast<int64_t>(dataset), charter, each, done));
    }
    return {};
  }));
  return done;
}

}  // namespace parley::ledger
