#include "parley/ledger/storage/chain.h"

#include <utility>

namespace parley::ledger {
namespace {

using privacy::Cost;
using privacy::Track;

bool is_charge(const Row& row) { return row.kind != "budget" && !is_note(row.kind); }

Cost cost_of(const Row& row) {
  return {row.track == "pure" ? Track::kPure : Track::kZcdp, row.cost, row.delta};
}

Error broken(int64_t row, std::string what) {
  return {Code::kIntegrity,
          std::move(what),
          "The ledger was changed by someone else. Restore it from a backup and reconcile it.",
          {.key = "row " + std::to_string(row)}};
}

}  // namespace

Hash hash_of(const Row& row) {
  return TupleBytes()
      .add(row.previous)
      .add(static_cast<uint64_t>(row.id))
      .add(row.at)
      .add(row.kind)
      .add(static_cast<uint64_t>(row.dataset))
      .add(row.charter)
      .add(static_cast<uint64_t>(row.round))
      .add(row.query)
      .add(row.event)
      .add(row.track)
      .add(row.cost)
      .add(row.delta)
      .add(sha256(row.answer))
      .sha256();
}

void Chain::declare(Dataset dataset) {
  const auto known = accounts_.find(dataset.id);
  if (known == accounts_.end())
    accounts_.emplace(dataset.id, Account{.dataset = std::move(dataset)});
  else
    known->second.dataset.budget = dataset.budget;
}

Result<void> Chain::accepts(const Row& row) const {
  if (row.id != size_ + 1)
    return broken(size_ + 1, "is missing; the next one is row " + std::to_string(row.id));
  if (row.previous != head_)
    return broken(row.id, size_ > 0
                              ? "does not follow the row before it"
                              : "does not follow the ledger's format, owner, date and genesis");
  if (row.hash != hash_of(row)) return broken(row.id, "is not what its hash says");
  const auto account = accounts_.find(row.dataset);
  if (account == accounts_.end())
    return broken(row.id,
                  "is about data set " + std::to_string(row.dataset) + ", which is missing");
  if (announced_ && !is_announced(row))
    return broken(row.id, "is not the charge that the row before it announces");
  if (is_charge(row)) return accepts_charge(row, account->second);
  if (row.track != "none" || row.cost != 0 || row.delta != 0)
    return broken(row.id, "costs something, though it released nothing");
  if (row.kind == "budget") return accepts_budget(row, account->second);
  return accepts_note(row);
}

Result<void> Chain::accepts_note(const Row& row) const {
  const auto note = note_from(row.event);
  if (!note || row.kind != kind_of(*note, format_))
    return broken(row.id, "says something that this version does not understand");
  if (const auto* checkpoint = std::get_if<Checkpoint>(&*note))
    return accepts_checkpoint(row, *checkpoint);
  return {};
}

Result<void> Chain::accepts_checkpoint(const Row& row, const Checkpoint& checkpoint) const {
  if (!is_signed(checkpoint.key, checkpoint_bytes(row), checkpoint.signature))
    return broken(row.id, "is a checkpoint that its key did not sign");
  Chain said(origin_, format_);  // What it says, in the words of this version.
  for (const auto& [id, account] : accounts_) said.declare(account.dataset);
  if (!said.resume(row) || said.state() != state())
    return broken(row.id, "is a checkpoint that says something else than the rows before it");
  return {};
}

Result<void> Chain::accepts_budget(const Row& row, const Account& account) const {
  const auto declared = budget_from(row.event);
  if (!declared) return broken(row.id, "does not say a budget");
  const auto& [source, by, reason] = declared->reads;
  const std::string& name = account.dataset.name;
  if (!source.is.empty() && by.empty() && !may_read(name, source) &&
      !may_read(name, source, Comparing::kText))
    return broken(row.id, "gives a data set a source that only a person may give it");
  if (!account.charged) return {};
  const Dataset& before = *account.declared;
  if (!is_raised(before.budget, declared->budget))
    return broken(row.id, "lowers a budget or moves it between its tracks after the first charge");
  if (!before.unit.empty() && before.unit != declared->unit)
    return broken(row.id, "changes whom a budget protects after the first charge");
  return {};
}

Result<void> Chain::accepts_charge(const Row& row, const Account& account) const {
  const auto kind = release_kind(row.kind);
  if (!kind) return broken(row.id, "is of no kind that this version knows");
  if (row.track != "pure" && row.track != "zcdp") return broken(row.id, "is a charge on no track");
  if (!(row.cost >= 0 && row.delta >= 0)) return broken(row.id, "gives budget back");
  if (!account.declared) return broken(row.id, "charges a data set that has no budget yet");
  if (const int64_t other = dataset_of(row.charter); other != 0 && other != row.dataset)
    return broken(row.id, "charges a second data set for one charter");
  if (row.round != int64_t{last_round(row.charter, *kind)} + 1)
    return broken(row.id, "answers a round out of order");
  if (!announced_ && !is_allowed(row.charter))
    return broken(row.id, "is paid under a charter that a person has refused or withdrawn");
  // What has left must be booked, whether or not it fits.
  if (!announced_ && !account.dataset.spent.plus(cost_of(row)).within(account.declared->budget))
    return broken(row.id, "exceeds the budget of data set '" + account.dataset.name + "'");
  return {};
}

/// Under its own charter and round or, where another answer has taken that place since, under a
/// name of its own: the hash of the row that was lost.
bool Chain::is_announced(const Row& row) const {
  const LostRow& lost = announced_->lost;
  const bool in_place = row.charter == lost.charter && row.round == lost.round;
  const bool beside = row.charter == lost.row.chain && row.round == 1;
  return row.kind == name_of(lost.row.kind) && row.dataset == announced_->dataset &&
         row.query == announced_->query && (in_place || beside);
}

void Chain::extend(const Row& row) {
  size_ = row.id;
  head_ = row.hash;
  if (is_note(row.kind)) return extend_note(row);
  if (row.kind != "budget") return extend_charge(row);
  Account& account = accounts_.at(row.dataset);
  account.declared = budget_from(row.event);
  account.dataset.unit = account.declared->unit;
  const SourceOf& source = account.declared->reads.source;
  if (source.is.empty()) return;
  if (!account.charged) account.sources.clear();  // Nothing was spent on what it read before.
  if (!reads(row.dataset, source)) account.sources.push_back(source);
}

void Chain::extend_note(const Row& row) {
  const Note note = *note_from(row.event);
  if (const auto* decision = std::get_if<Decision>(&note))
    decisions_.insert_or_assign(row.charter, *decision);
  if (std::holds_alternative<Checkpoint>(note)) checkpoint_ = row.id;
  if (const auto* missing = std::get_if<Missing>(&note))
    missing_.emplace(missing->chain, LostRow{row.charter, row.round, *missing});
  if (const auto* restored = std::get_if<Restored>(&note))
    announced_ = Announced{row.dataset,
                           row.query,
                           {row.charter, row.round, {restored->kind, restored->chain}},
                           restored->job};
}

void Chain::extend_charge(const Row& row) {
  Account& account = accounts_.at(row.dataset);
  account.charged = true;
  account.dataset.spent = account.dataset.spent.plus(cost_of(row));
  Job& job = jobs_[row.charter];
  job.dataset = row.dataset;
  job.spent = job.spent.plus(cost_of(row));
  last_charge_ = row.id;
  last_charge_hash_ = announced_ ? announced_->lost.row.chain : row.hash;
  Rounds& rounds = job.rounds[place_of(*release_kind(row.kind))];
  const Hash before = rounds.last() == 0 ? Hash{} : rounds.at(rounds.last()).job;
  const bool told = announced_ && announced_->job;
  rounds.last_row = row.hash;
  rounds.after.push_back(
      {job.spent, account.declared->budget.delta_convert,
       told ? *announced_->job : privacy::job_after(before, row.query, sha256(row.answer)),
       row.id});
  if (!announced_) return;
  const Hash& lost = announced_->lost.row.chain;
  restored_.emplace(lost, row.id);
  stands_for_.emplace(row.id, lost);
  missing_.erase(lost);
  announced_.reset();
}

Result<void> Chain::is_complete() const {
  if (announced_) return broken(size_ + 1, "is missing, though the row before announces it");
  for (const auto& [id, account] : accounts_) {
    const Where where{.key = "data set " + std::to_string(id)};
    const auto& declared = account.declared;
    if (!declared || declared->name != account.dataset.name ||
        declared->budget != account.dataset.budget)
      return Error{Code::kIntegrity, "is not what its last 'budget' row says",
                   "The ledger was changed by someone else. Restore it from a backup.", where};
    if (!keeps_promise(account.dataset.budget))
      return Error{Code::kIntegrity, "has limits that exceed the epsilon and delta it promises",
                   "Do not answer from this ledger.", where};
  }
  return {};
}

}  // namespace parley::ledger
