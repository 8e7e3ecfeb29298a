#include "parley/audit/targets/charter_target.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "parley/audit/targets/federated_target.h"
#include "parley/audit/targets/vertical_target.h"
#include "parley/base/math/norm.h"
#include "parley/learn/kernel/kernel.h"
#include "parley/plan/can_run.h"
#include "parley/plan/sums/sql.h"
#include "parley/protocol/sync.h"
#include "parley/sim/engine/party.h"
#include "parley/wire/stream.h"

namespace parley::audit {
namespace {

using charter::Charter;
using RowsPointer = std::shared_ptr<const data::Rows>;

constexpr size_t kColumnsMost = 16;  // More cost time and show nothing.
constexpr size_t kControlUnits = 4;  // A unit of four times the records that the charter allows.
constexpr double kLong = 1e6;        // Times the clip: clipped under every loss.

/// The charter with a model of `columns` features and an owner of `rows` records. Its bounds let
/// canaries pass, where a database reads them by the schema.
Charter narrowed_owner(Charter charter, size_t owner, size_t columns, size_t rows) {
  charter.preprocess.reset();
  charter.schema.bundle.reset();
  charter.schema.bias = false;
  const double clip = std::fmax(charter.privacy.max_grad_norm, 1 / kLong);
  charter.schema.columns.clear();
  for (size_t j = 0; j < columns; ++j)
    charter.schema.columns.push_back(
        {.name = "a" + std::to_string(j), .low = -kLong * clip, .high = kLong * clip});
  if (charter.schema.target.levels.empty())
    charter.schema.target = {.column = "y", .low = -1, .high = 1, .center = 0, .scale = 1};
  charter.owners[owner].rows = static_cast<int64_t>(rows);
  return charter;
}

/// A record whose gradient at theta = 0 is clipped and lies along column j, up or down.
void add_canary(data::Rows& rows, const Charter& charter, size_t j, bool up) {
  std::vector<double> z(rows.columns());
  z[j] = kLong * charter.privacy.max_grad_norm;
  rows.add(z, up ? -1 : 1);  // The slope at zero has the sign of -y.
}

using PartyPointer = std::unique_ptr<sim::Party>;

/// An owner's records: here, or in a database.
struct Held {
  RowsPointer rows;
  std::optional<sim::DatabaseRecords> database{};
};

Result<Held> held(RowsPointer rows, const Charter& charter, size_t owner, bool in_sql) {
  Held held{std::move(rows)};
  if (in_sql) held.database = TRY(sim::records_in_sqlite(charter, owner, *held.rows));
  return held;
}

/// Under `contact = "broadcast"` an owner answers what was called once it has claimed it.
Result<std::optional<Bytes>> granted(protocol::Owner& process, wire::Stream& stream,
                                     uint32_t round) {
  const auto claim = process.tick();
  if (!claim) return Error{Code::kPolicy, "claims nothing: all answers are given"};
  TRY(stream.receive_from_owner(*claim));
  return process.step(stream.send(wire::Grant{round, true}));
}

/// What the learner hears when it asks every round at theta = 0 and, out of turn, one more: each
/// answer, in order. Whether the owner's clock has ticked it does not wait for. Returns the owner
/// as it is then.
template <class Heed>
Result<PartyPointer> ask_all(const Charter& charter, size_t owner, const Held& records,
                             Entropy& entropy, const Heed& heed) {
  PartyPointer party = TRY(sim::Party::make({.charter = charter,
                                             .owner = owner,
                                             .rows = records.rows,
                                             .policy = nullptr,
                                             .seed = entropy.word(),
                                             .run = 0,
                                             .ledger = {},
                                             .threads = 1,
                                             .database = records.database}));
  const auto owner_process = TRY(party->start());
  protocol::Owner& process = *owner_process;
  wire::Stream stream(charter.hash);
  TRY(stream.receive_from_owner(process.connect()));
  TRY(process.step(stream.send(wire::Welcome{.next_round = 1})));
  const std::vector<double> zero(charter.schema.features().size());
  const auto ask = [&](uint32_t round, privacy::ReleaseKind kind) -> Result<wire::ReceivedAnswer> {
    auto reply =
        TRY(process.step(stream.send(wire::Query{round, privacy::Public::from_model(zero), kind})));
    if (!reply) reply = TRY(granted(process, stream, round));
    if (process.refused()) return *process.refused();
    check(reply.has_value());
    const auto message = TRY(stream.receive_from_owner(*reply));
    process.rest();
    return std::get<wire::ReceivedAnswer>(message.body);
  };
  using enum privacy::ReleaseKind;
  if (charter.protocol.rule() == charter::Rule::kGram) TRY(ask(1, kGram));  // Not looked at.
  const auto last = static_cast<uint32_t>(charter.answers());
  for (uint32_t round = 1; round <= last; ++round) heed(TRY(ask(round, kAnswer)).values);
  if (const auto more = ask(last + 1, kAnswer)) heed(more->values);
  return party;
}

/// Two worlds of one owner, and the difference that the attacker looks for.
struct Worlds {
  Charter charter;
  size_t owner = 0;
  Held first, second;
  double first_sum = 0, shift = 0;  // of the column in which they differ, in lattice units
  bool l1 = false;
};

template <class Norm>
double sum_of(const Charter& charter, const learn::Lattice& lattice, const data::Rows& rows) {
  const std::vector<double> zero(rows.columns());
  const auto loss = charter::loss_of(charter.model);
  return double(learn::lattice_sum<Norm>(loss, lattice, zero, rows, 0, rows.size())[0]);
}

/// A unit of `changed` records, others that fill up, and one that is ordinary.
Result<Worlds> worlds_of(const Charter& whole, size_t owner, size_t changed, bool in_sql) {
  const auto unit = static_cast<size_t>(whole.privacy.unit_records);
  const size_t columns = std::min(whole.schema.encoded().size(), kColumnsMost);
  const size_t rows = kControlUnits * unit + 1;
  Worlds worlds{narrowed_owner(whole, owner, columns, rows), owner, {}, {}};
  const auto make = [&](bool up) {
    auto made = std::make_shared<data::Rows>(columns);
    for (size_t i = 0; i + 1 < rows; ++i)
      add_canary(*made, worlds.charter, 0, i < changed * unit && up);
    made->add(std::vector<double>(columns, 0.1), 1);
    return made;
  };
  worlds.first = TRY(held(make(false), worlds.charter, owner, in_sql));
  worlds.second = TRY(held(make(true), worlds.charter, owner, in_sql));
  const charter::Privacy& privacy = whole.privacy;
  const auto lattice = TRY(
      learn::Lattice::make(privacy.max_grad_norm, static_cast<int>(privacy.grid_bits), columns));
  worlds.l1 = privacy.mechanism == charter::MechanismName::kLaplace;
  const auto sum = [&](const data::Rows& in) {
    return worlds.l1 ? sum_of<L1>(whole, lattice, in) : sum_of<L2>(whole, lattice, in);
  };
  worlds.first_sum = sum(*worlds.first.rows);
  worlds.shift = sum(*worlds.second.rows) - worlds.first_sum;
  return worlds;
}

/// Laplace's likelihood ratio, or a Gaussian's.
double score(const Worlds& worlds, double answer) {
  const double away = answer - worlds.first_sum;
  return worlds.l1 ? std::fabs(away) - std::fabs(away - worlds.shift) : away;
}

Play play_of(Worlds worlds) {
  return [worlds = std::move(worlds)](World world, Entropy& entropy) -> Result<double> {
    double total = 0;
    TRY(ask_all(worlds.charter, worlds.owner, world == World::kFirst ? worlds.first : worlds.second,
                entropy, [&](const std::vector<int64_t>& answer) {
                  total += score(worlds, double(answer[0]));
                }));
    return total;
  };
}

/// `copies` units per canary, each with a column of its own.
CanaryRun canaries_of(const Charter& whole, size_t owner, size_t copies, bool in_sql) {
  return [=](const std::vector<bool>& coins, Entropy& entropy) -> Result<std::vector<double>> {
    if (coins.size() > data::kColumnsMax)
      return Error{Code::kInvalid, "a model has at most 4096 columns, one for every canary"};
    const size_t records = copies * static_cast<size_t>(whole.privacy.unit_records);
    const Charter wide = narrowed_owner(whole, owner, coins.size(), coins.size() * records);
    auto rows = std::make_shared<data::Rows>(coins.size());
    for (size_t j = 0; j < coins.size(); ++j)
      for (size_t i = 0; i < records; ++i) add_canary(*rows, wide, j, coins[j]);
    std::vector<double> totals(coins.size());
    const Held given = TRY(held(rows, wide, owner, in_sql));
    TRY(ask_all(wide, owner, given, entropy, [&](const std::vector<int64_t>& answer) {
      for (size_t j = 0; j < totals.size(); ++j) totals[j] += double(answer[j]);
    }));
    return totals;
  };
}

Result<void> check_available(const Charter& charter) {
  TRY(plan::check_complete(charter));
  if (!charter.protocol.as<charter::Sync>() && !charter.protocol.as<charter::Async>())
    return charter::not_available("protocol.name", name_of(charter.protocol.name()),
                                  "Use \"sync\" or \"async\".");
  return {};
}

}  // namespace

Result<Target> charter_target(const Charter& charter, size_t owner, bool in_sql) {
  check(owner < charter.owners.size());
  if (in_sql) TRY(plan::check_sql(charter));
  if (charter.complete() && charter.columns_apart()) return vertical_target(charter, owner);
  if (charter.complete() && charter.secure_aggregation) return federated_target(charter, owner);
  TRY(check_available(charter));
  const charter::Owner& who = charter.owners[owner];
  const Worlds one = TRY(worlds_of(charter, owner, 1, in_sql));
  SystemEntropy entropy;
  const PartyPointer asked =
      TRY(ask_all(one.charter, owner, one.first, entropy, [](const std::vector<int64_t>&) {}));
  const bool gaussian = charter.privacy.mechanism == charter::MechanismName::kGaussian;
  return Target{.kind = "charter",
                .name = who.name,
                .what = std::string(in_sql ? "in SQLite, " : "") +
                        "one unit of the attacker's or its opposite, asked at theta = 0 by the "
                        "learner, in every round",
                .claimed = {std::min(asked->epsilon_spent(), who.epsilon), who.delta, gaussian},
                .play = play_of(one),
                .control = play_of(TRY(worlds_of(charter, owner, kControlUnits, in_sql))),
                .control_name = "four units of records instead of one",
                .canaries = canaries_of(charter, owner, 1, in_sql),
                .control_canaries = canaries_of(charter, owner, kControlUnits, in_sql)};
}

}  // namespace parley::audit
