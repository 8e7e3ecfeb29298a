#include "parley/ledger/storage/chain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parley/base/math/number.h"
#include "parley/privacy/accounting/zcdp.h"

namespace parley::ledger {
namespace {

using privacy::Cost;
using privacy::ReleaseKind;
using privacy::Spent;
using privacy::Track;

bool is_charge(const Row& row) { return row.kind != "budget" && row.kind != "approval"; }

Cost cost_of(const Row& row) {
  return {row.track == "pure" ? Track::kPure : Track::kZcdp, row.cost, row.delta};
}

size_t place_of(ReleaseKind kind) { return static_cast<size_t>(kind); }

Error broken(int64_t row, std::string what) {
  return {Code::kIntegrity,
          std::move(what),
          "The ledger was changed by someone else. Restore it from a backup and reconcile it.",
          {.key = "row " + std::to_string(row)}};
}

Error too_dear(const Dataset& account, const Cost& cost, uint32_t times,
               const std::optional<Cost>& then) {
  const auto& [id, name, budget, spent, unit] = account;
  const bool pure = cost.track == Track::kPure;
  const auto text = [&](double amount, double delta) {
    return (pure ? "epsilon " : "rho ") + shortest(amount) +
           (cost.delta > 0 ? ", delta " + shortest(delta) : "");
  };
  const double left = pure ? budget.pure_max - spent.pure : budget.rho_max - spent.rho;
  return {Code::kBudgetExhausted,
          "the budget of data set '" + name + "' does not allow it: asked " +
              (times > 1 ? std::to_string(times) + " times " : "") + text(cost.amount, cost.delta) +
              (then ? " and once " + text(then->amount, then->delta) : "") + "; left " +
              text(std::max(0.0, left), std::max(0.0, budget.delta_extra - spent.delta)),
          "Ask for a smaller epsilon or fewer rounds; what is spent does not come back."};
}

/// A peer can prove that this ledger has forgotten something.
Error is_older_copy(const LostRow& lost) {
  return {Code::kIntegrity,
          "the ledger is an older copy: it does not know its own " +
              std::string(name_of(lost.row.kind)) + " " + std::to_string(lost.round) +
              " of charter " + to_hex(lost.charter).substr(0, 12) +
              ", for which a peer holds a signed receipt",
          "Put the newest ledger back, or ask every learner for its transcripts and type: parley "
          "ledger reconcile POLICY TRANSCRIPT"};
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
  if (!note_from(row.event))
    return broken(row.id, "says something that this version does not understand");
  return {};
}

Result<void> Chain::accepts_budget(const Row& row, const Account& account) const {
  const auto declared = budget_from(row.event);
  if (!declared) return broken(row.id, "does not say a budget");
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
  if (row.kind == "approval") return extend_note(row);
  if (row.kind != "budget") return extend_charge(row);
  Account& account = accounts_.at(row.dataset);
  account.declared = budget_from(row.event);
  account.dataset.unit = account.declared->unit;
}

void Chain::extend_note(const Row& row) {
  const Note note = *note_from(row.event);
  if (const auto* approved = std::get_if<Approved>(&note))
    approved_.emplace(row.charter, *approved);
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
  auto& after = job.after[place_of(*release_kind(row.kind))];
  const Hash before = after.empty() ? Hash{} : after.back().job;
  const bool told = announced_ && announced_->job;
  after.push_back(
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

Result<void> Chain::is_current() const {
  if (missing_.empty()) return {};
  return is_older_copy(missing_.begin()->second);
}

Result<void> Chain::can_afford(int64_t dataset, const Cost& cost, uint32_t times,
                               const std::optional<Cost>& then) const {
  TRY(is_current());
  const Dataset& account = this->dataset(dataset);
  Spent after = account.spent;
  const bool is_free = cost.amount == 0 && cost.delta == 0;
  for (uint32_t i = 0; i < (is_free ? 1 : times) && after.within(account.budget); ++i)
    after = after.plus(cost);  // As the charges will be: sums rounded up depend on the order.
  if (then) after = after.plus(*then);
  if (after.within(account.budget)) return {};
  return too_dear(account, cost, times, then);
}

privacy::Receipt Chain::receipt(const Row& answer) const {
  const auto kind = release_kind(answer.kind).value_or(ReleaseKind::kAnswer);
  const auto& [spent, delta_convert, job, row] =
      jobs_.at(answer.charter).after[place_of(kind)].at(static_cast<size_t>(answer.round) - 1);
  privacy::Receipt receipt{.round = static_cast<uint32_t>(answer.round),
                           .event = answer.event,
                           .epsilon_spent = spent.epsilon(delta_convert),
                           .delta_spent = spent.delta,
                           .chain = known_as(answer),
                           .query = answer.query,
                           .answer = sha256(answer.answer),
                           .job = job,
                           .kind = kind};
  if (spent.rho > 0) receipt.delta_spent = add_up(spent.delta, delta_convert);
  return receipt;
}

uint32_t Chain::last_round(const Hash& charter, ReleaseKind kind) const {
  const auto job = jobs_.find(charter);
  return job == jobs_.end() ? 0 : static_cast<uint32_t>(job->second.after[place_of(kind)].size());
}

int64_t Chain::row_of(const Hash& charter, ReleaseKind kind, uint32_t round) const {
  return jobs_.at(charter).after[place_of(kind)].at(round - 1).row;
}

int64_t Chain::dataset_of(const Hash& charter) const {
  const auto job = jobs_.find(charter);
  return job == jobs_.end() ? 0 : job->second.dataset;
}

const Dataset& Chain::dataset(int64_t id) const {
  const auto account = accounts_.find(id);
  check(account != accounts_.end());
  return account->second.dataset;
}

const Dataset* Chain::find(const std::string& name) const {
  for (const auto& [id, account] : accounts_)
    if (account.dataset.name == name) return &account.dataset;
  return nullptr;
}

std::vector<Dataset> Chain::datasets() const {
  std::vector<Dataset> all;
  for (const auto& [id, account] : accounts_) all.push_back(account.dataset);
  return all;
}

int64_t Chain::restored(const Hash& chain) const {
  const auto found = restored_.find(chain);
  return found == restored_.end() ? 0 : found->second;
}

const Hash& Chain::known_as(const Row& row) const {
  const auto found = stands_for_.find(row.id);
  return found == stands_for_.end() ? row.hash : found->second;
}

}  // namespace parley::ledger
