#include "parley/ledger/chain.h"

#include <cmath>
#include <utility>

#include "parley/base/number.h"
#include "parley/privacy/accounting/zcdp.h"

namespace parley::ledger {
namespace {

using privacy::Budget;
using privacy::Cost;
using privacy::Spent;
using privacy::Track;

bool is_charge(const Row& row) { return row.kind != "budget" && row.kind != "approval"; }

Cost cost_of(const Row& row) {
  return {row.track == "pure" ? Track::kPure : Track::kZcdp, row.cost, row.delta};
}

Error broken(int64_t row, std::string what) {
  return {Code::kIntegrity,
          std::move(what),
          "The ledger was changed by someone else. Restore it from a backup and reconcile it.",
          {.key = "row " + std::to_string(row)}};
}

/// One key of a JSON object. SQLite does not keep the sign of a zero, so neither does the text.
std::string member(const char* key, double value) {
  return std::string(",\"") + key + "\":" + shortest(value + 0.0);
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

std::string budget_event(const Dataset& dataset) {
  const Budget& budget = dataset.budget;
  return "{\"budget\":{\"dataset\":\"" + dataset.name + "\"" + member("epsilon", budget.epsilon) +
         member("delta", budget.delta) + member("pure_max", budget.pure_max) +
         member("rho_max", budget.rho_max) + member("delta_convert", budget.delta_convert) +
         member("delta_extra", budget.delta_extra) + "}}";
}

bool keeps_promise(const Budget& budget) {
  const bool in_range = budget.epsilon > 0 && std::isfinite(budget.epsilon) && budget.delta < 1 &&
                        budget.pure_max >= 0 && budget.rho_max >= 0 && budget.delta_convert >= 0 &&
                        budget.delta_extra >= 0;
  if (!in_range || !(budget.delta_convert + budget.delta_extra <= budget.delta)) return false;
  if (budget.rho_max == 0) return budget.pure_max <= budget.epsilon;
  const auto delta = privacy::Delta::make(budget.delta_convert);
  return delta && privacy::zcdp_epsilon(budget.rho_max, *delta) <= budget.epsilon - budget.pure_max;
}

void Chain::declare(Dataset dataset) {
  const int64_t id = dataset.id;
  check(!accounts_.contains(id) || !accounts_.at(id).charged);
  accounts_.insert_or_assign(id, Account{.dataset = std::move(dataset)});
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
  if (is_charge(row)) return accepts_charge(row, account->second);
  if (row.track != "none" || row.cost != 0 || row.delta != 0)
    return broken(row.id, "costs something, though it released nothing");
  if (row.kind == "budget" && account->second.charged)
    return broken(row.id, "changes a budget after its first charge");
  return {};
}

Result<void> Chain::accepts_charge(const Row& row, const Account& account) const {
  if (row.track != "pure" && row.track != "zcdp") return broken(row.id, "is a charge on no track");
  if (!(row.cost >= 0 && row.delta >= 0)) return broken(row.id, "gives budget back");
  if (account.declared.empty()) return broken(row.id, "charges a data set that has no budget yet");
  if (const int64_t other = dataset_of(row.charter); other != 0 && other != row.dataset)
    return broken(row.id, "charges a second data set for one charter");
  if (row.kind == "answer" && row.round != int64_t{last_round(row.charter)} + 1)
    return broken(row.id, "answers a round out of order");
  if (!account.dataset.spent.plus(cost_of(row)).within(account.dataset.budget))
    return broken(row.id, "exceeds the budget of data set '" + account.dataset.name + "'");
  return {};
}

void Chain::extend(const Row& row) {
  Account& account = accounts_.at(row.dataset);
  size_ = row.id;
  head_ = row.hash;
  if (row.kind == "budget") account.declared = row.event;
  if (!is_charge(row)) return;
  account.charged = true;
  account.dataset.spent = account.dataset.spent.plus(cost_of(row));
  Job& job = jobs_[row.charter];
  job.dataset = row.dataset;
  job.spent = job.spent.plus(cost_of(row));
  if (row.kind != "answer") return;
  const Hash before = job.after.empty() ? Hash{} : job.after.back().job;
  job.after.push_back({job.spent, privacy::job_after(before, row.query, sha256(row.answer))});
}

Result<void> Chain::is_complete() const {
  for (const auto& [id, account] : accounts_) {
    const Where where{.key = "data set " + std::to_string(id)};
    if (account.declared != budget_event(account.dataset))
      return Error{Code::kIntegrity, "is not what its last 'budget' row says",
                   "The ledger was changed by someone else. Restore it from a backup.", where};
    if (!keeps_promise(account.dataset.budget))
      return Error{Code::kIntegrity, "has limits that exceed the epsilon and delta it promises",
                   "Do not answer from this ledger.", where};
  }
  return {};
}

Result<void> Chain::can_afford(int64_t dataset, const Cost& cost, uint32_t times) const {
  const auto& [id, name, budget, spent] = this->dataset(dataset);
  Spent after = spent;
  const bool is_free = cost.amount == 0 && cost.delta == 0;
  for (uint32_t i = 0; i < (is_free ? 1 : times) && after.within(budget); ++i)
    after = after.plus(cost);  // As the charges will be: sums rounded up depend on the order.
  if (after.within(budget)) return {};
  const bool pure = cost.track == Track::kPure;
  const auto text = [&](double amount, double delta) {
    return (pure ? "epsilon " : "rho ") + shortest(amount) +
           (cost.delta > 0 ? ", delta " + shortest(delta) : "");
  };
  const double left = pure ? budget.pure_max - spent.pure : budget.rho_max - spent.rho;
  return Error{Code::kBudgetExhausted,
               "the budget of data set '" + name + "' does not allow it: asked " +
                   (times > 1 ? std::to_string(times) + " times " : "") +
                   text(cost.amount, cost.delta) + "; left " +
                   text(left, budget.delta_extra - spent.delta),
               "Ask for a smaller epsilon or fewer rounds; what is spent does not come back."};
}

privacy::Receipt Chain::receipt(const Row& answer) const {
  const auto& [spent, job] = jobs_.at(answer.charter).after.at(answer.round - 1);
  privacy::Receipt receipt{.round = static_cast<uint32_t>(answer.round),
                           .event = answer.event,
                           .epsilon_spent = spent.pure,
                           .delta_spent = spent.delta,
                           .chain = answer.hash,
                           .query = answer.query,
                           .answer = sha256(answer.answer),
                           .job = job};
  if (spent.rho > 0) {
    const auto delta = *privacy::Delta::make(dataset(answer.dataset).budget.delta_convert);
    receipt.epsilon_spent = add_up(spent.pure, privacy::zcdp_epsilon(spent.rho, delta));
    receipt.delta_spent = add_up(spent.delta, delta.value());
  }
  return receipt;
}

uint32_t Chain::last_round(const Hash& charter) const {
  const auto job = jobs_.find(charter);
  return job == jobs_.end() ? 0 : static_cast<uint32_t>(job->second.after.size());
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

}  // namespace parley::ledger
