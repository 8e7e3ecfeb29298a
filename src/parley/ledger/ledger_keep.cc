// Keeping a ledger: checkpoints, so that opening a large one takes no longer than a small one; the
// witness, which notices an older copy; and what was forgotten at a checkpoint, read again.
#include <openssl/hmac.h>

#include <algorithm>
#include <set>

#include "parley/ledger/state.h"

namespace parley::ledger {
namespace {

/// A checkpoint names every charter, so that many of them make it rare.
constexpr int64_t kRowsPerCharter = 20;

Witness::Seen now(const Chain& chain) {
  return {chain.origin(), chain.size(), chain.head(), chain.last_charge(),
          chain.last_charge_hash()};
}

Error is_older(const Witness& witness, const Store& store, const Chain& chain) {
  return {Code::kIntegrity,
          "is an older copy, or another ledger: its witness " + witness.file().string() +
              " has seen " + std::to_string(witness.seen()->rows) + " rows, it has " +
              std::to_string(chain.size()) +
              (witness.seen()->rows <= chain.size() ? " others" : ""),
          "Put the newest ledger back, or ask every learner for its transcripts and type: parley "
          "ledger reconcile POLICY TRANSCRIPT",
          {.file = store.file()}};
}

Result<bool> has(Store& store, int64_t id, const Hash& hash) {
  const std::optional<Row> row = TRY(store.find_row(id));
  return row && row->hash == hash;
}

/// Whether the last charge that the witness saw is here.
Result<bool> has_last_charge(Store& store, const Chain& chain, const Witness::Seen& seen) {
  if (seen.charge == 0 || chain.restored(seen.charge_hash) != 0) return true;
  return has(store, seen.charge, seen.charge_hash);
}

}  // namespace

SourceOf kept(const Hash& key, const DataSource& source) {
  std::set<Hash> keyed;
  for (const Hash& digest : source.digests) {
    Hash fingerprint;
    unsigned size = 0;
    check(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), digest.data(), digest.size(),
               fingerprint.data(), &size) != nullptr);
    keyed.insert(fingerprint);
  }
  return {source.is, {keyed.begin(), keyed.end()}};
}

/// What has to be done before the next row: a witness that could not be told must be, and a
/// checkpoint that is due is written.
Result<void> Ledger::catch_up() {
  State& state = *state_;
  if (state.witness && !state.keeping.reconciling) TRY(state.witness->write(now(state.chain)));
  const int64_t since = state.chain.size() - state.chain.checkpoint();
  const auto jobs = static_cast<int64_t>(state.chain.jobs());
  if (!state.keeping.key || since < std::max(state.keeping.checkpoint_rows, kRowsPerCharter * jobs))
    return {};
  return add_checkpoint();
}

/// That it failed is told before the next row: this one is on the disk, and may leave.
void Ledger::tell_witness() {
  if (state_->witness && !state_->keeping.reconciling)
    static_cast<void>(bool(state_->witness->write(now(state_->chain))));
}

Result<void> Ledger::ask_witness() const {
  if (!state_->witness) return {};
  Witness& witness = *state_->witness;
  if (const auto& seen = witness.seen()) {
    const bool whole = seen->rows == 0 || TRY(has(*state_->store, seen->rows, seen->head));
    const bool same = seen->origin == state_->chain.origin() && whole;
    if (!same || !TRY(has_last_charge(*state_->store, state_->chain, *seen)))
      return is_older(witness, *state_->store, state_->chain);
  }
  TRY(witness.write(now(state_->chain)));
  return witness.sync();
}

Result<void> Ledger::is_reconciled() {
  if (!state_->witness) return {};
  Witness& witness = *state_->witness;
  const auto& seen = witness.seen();
  if (seen && !TRY(has_last_charge(*state_->store, state_->chain, *seen)))
    return is_older(witness, *state_->store, state_->chain);
  state_->keeping.reconciling = false;
  TRY(witness.write(now(state_->chain)));
  return witness.sync();
}

Result<void> Ledger::add_checkpoint() {
  State& state = *state_;
  const std::string text = state.chain.state();
  Row row{.kind = std::string(kind_of(Checkpoint{}, state.chain.format())),
          .dataset = state.chain.datasets().front().id,
          .track = "none",
          .answer = Bytes(text.begin(), text.end())};
  row.id = state.chain.size() + 1;
  row.previous = state.chain.head();
  const SigningKey& key = *state.keeping.key;
  row.event = note_event(Checkpoint{key.public_key(), key.sign(state.chain.checkpoint_bytes(row))});
  row = sealed(state.chain, *state.clock, std::move(row));
  TRY(state.store->in_transaction([&]() -> Result<void> {
    TRY(state.store->expect_head(state.chain));
    return state.store->insert(row);
  }));
  state.chain.extend(row);
  tell_witness();
  return {};
}

/// All rows, checked, in place of what the last checkpoint says of them.
Result<void> Ledger::recall() const {
  Connection reader = TRY(Connection::read(state_->store->file()));
  Loaded loaded = TRY(load(reader, [](const Row&) {}));
  if (loaded.chain.head() != state_->chain.head())
    return Error{Code::kIntegrity,
                 "someone else wrote to the ledger while it was in use",
                 "Stop whatever wrote to it, then verify it.",
                 {.file = state_->store->file()}};
  state_->chain = std::move(loaded.chain);
  return {};
}

/// A row's place is under its hash, so one that is not in its place is nowhere.
Result<bool> Ledger::knows(const Hash& charter, const privacy::Receipt& receipt) const {
  if (state_->chain.restored(receipt.chain) != 0) return true;
  const auto row = TRY(state_->store->find_charge(charter, receipt.kind, receipt.round));
  return row && row->hash == receipt.chain;
}

}  // namespace parley::ledger
