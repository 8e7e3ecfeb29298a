// What a chain knows, asked: what fits the budget, receipts, rounds, data sets and where they lie.
#include <algorithm>

#include "parley/base/math/number.h"
#include "parley/ledger/storage/chain.h"
#include "parley/ledger/storage/place.h"

namespace parley::ledger {
namespace {

using privacy::Cost;
using privacy::ReleaseKind;
using privacy::Spent;
using privacy::Track;

Error too_dear(const Dataset& account, const Cost& cost, uint32_t times,
               const std::optional<Cost>& then) {
  const auto& [id, name, budget, spent, unit, reads] = account;
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

/// What a person can do about a source that the ledger does not let pass.
Error other_source(const std::string& what, const std::string& name) {
  return {
      Code::kPolicy, what,
      "Put the policy's block back as it was. If the records really are other people's, a person "
      "types: parley ledger accept-source POLICY " +
          name + " --reason TEXT"};
}

bool shares(const std::vector<Hash>& some, const std::vector<Hash>& others) {
  return std::find_first_of(some.begin(), some.end(), others.begin(), others.end()) != some.end();
}

/// Those that none of `own` has.
std::vector<Hash> fingerprints_beyond(const std::vector<SourceOf>& own, const SourceOf& source) {
  std::vector<Hash> beyond = source.fingerprints;
  std::erase_if(beyond, [&](const Hash& each) {
    return std::any_of(own.begin(), own.end(),
                       [&](const SourceOf& known) { return shares(known.fingerprints, {each}); });
  });
  return beyond;
}

}  // namespace

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
      jobs_.at(answer.charter).rounds[place_of(kind)].at(static_cast<uint32_t>(answer.round));
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
  return job == jobs_.end() ? 0 : job->second.rounds[place_of(kind)].last();
}

bool Chain::remembers(const Hash& charter, ReleaseKind kind, uint32_t round) const {
  const auto job = jobs_.find(charter);
  if (job == jobs_.end()) return false;
  const Rounds& rounds = job->second.rounds[place_of(kind)];
  return round > 0 && round >= rounds.resumed && round <= rounds.last();
}

bool Chain::is_paid(const Row& answer) const {
  const auto kind = release_kind(answer.kind).value_or(ReleaseKind::kAnswer);
  const Rounds& rounds = jobs_.at(answer.charter).rounds[place_of(kind)];
  return answer.round != int64_t{rounds.resumed} || answer.hash == rounds.row_resumed;
}

int64_t Chain::row_of(const Hash& charter, ReleaseKind kind, uint32_t round) const {
  return jobs_.at(charter).rounds[place_of(kind)].at(round).row;
}

const Decision* Chain::decision(const Hash& charter) const {
  const auto found = decisions_.find(charter);
  return found == decisions_.end() ? nullptr : &found->second;
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

Result<void> Chain::is_allowed(const Hash& charter) const {
  const Decision* last = decision(charter);
  if (last == nullptr || last->what == Decision::What::kApproved) return {};
  return Error{Code::kPolicy,
               "this charter was " + std::string(ledger::name_of(last->what)) + " by " + last->by +
                   (last->reason.empty() ? "" : ": " + last->reason),
               "Nothing more is answered under it, unless a person approves it again."};
}

bool Chain::reads(int64_t id, const SourceOf& source) const {
  const auto& known = accounts_.at(id).sources;
  return std::find(known.begin(), known.end(), source) != known.end();
}

Result<void> Chain::may_read(const std::string& name, const SourceOf& source,
                             Comparing comparing) const {
  const bool by_text = comparing == Comparing::kText;
  std::vector<SourceOf> own;  // What it may read; what is in there may change.
  bool charged = false;
  for (const auto& [id, account] : accounts_)
    if (account.dataset.name == name) {
      if (reads(id, source)) return {};  // Also where a person had to say so.
      own = account.sources, charged = account.charged;
    }
  const auto has_read = [&](const SourceOf& one) {
    return std::any_of(own.begin(), own.end(), [&](const SourceOf& known) {
      return by_text ? known.is == one.is : reads_no_more(one, known);
    });
  };
  const bool same_place = has_read(source);
  const std::vector<Hash> fresh = fingerprints_beyond(own, source);
  const bool moved = !source.fingerprints.empty() && fresh.empty();
  if (charged && !own.empty() && !same_place && !moved)
    return other_source("data set '" + name + "' reads " + source.is +
                            ", but its budget was spent on " + own.back().is,
                        name);
  for (const auto& [id, account] : accounts_) {
    if (account.dataset.name == name) continue;
    for (const SourceOf& known : account.sources) {
      const bool looks = shares(known.fingerprints, fresh);
      const bool there = by_text ? known.is == source.is : may_share_records(known, source);
      if (has_read(known) || !(looks || (there && !same_place))) continue;
      return other_source(
          "data set '" + name + "' reads " + source.is +
              (known.is == source.is ? ", which the ledger knows as data set '"
                                     : (looks ? ", which holds the same records as "
                                              : ", which may hold the same records as ") +
                                           known.is + " of data set '") +
              account.dataset.name + "'",
          name);
    }
  }
  return {};
}

}  // namespace parley::ledger
