#include "parley/net/doctor/preflight.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "parley/data/sources/source.h"
#include "parley/gate/engine/open_engine.h"
#include "parley/ledger/storage/chain.h"
#include "parley/net/decisions.h"
#include "parley/net/identity/members.h"
#include "parley/net/vertical.h"
#include "parley/plan/learner/jobs.h"
#include "parley/plan/learner/weights.h"
#include "parley/plan/secagg_terms.h"
#include "parley/plan/sums/gram.h"
#include "parley/plan/terms.h"
#include "parley/plan/vertical_terms.h"

namespace parley::net {
namespace {

using charter::Charter, charter::Policy, charter::Preflight;

void add_word(std::string& list, const std::string& word) {
  list += (list.empty() ? "" : ", ") + word;
}

void note(Preflight& preflight, const Error& obstacle) { preflight.obstacles.push_back(obstacle); }

/// Which rule, which data set, and whether a person must still say yes.
void look_at_rules(const Policy& policy, const Charter& charter,
                   const std::optional<ledger::Contents>& ledger, Preflight& preflight) {
  const charter::Accept* rule = policy.first_match(charter);
  if (rule == nullptr)
    return note(preflight, {Code::kPolicy, "refused: " + charter::why_refused(policy, charter),
                            "Ask for another charter, or change the policy's [[accept]] rules."});
  preflight.rule = static_cast<size_t>(rule - policy.accept.data()) + 1;
  preflight.dataset = rule->dataset;
  preflight.person = rule->person;
  preflight.approved = rule->person && ((ledger && ledger->chain.is_approved(charter.hash)) ||
                                        std::filesystem::exists(policy.approval_of(charter)));
  const auto allowed = ledger ? ledger->chain.is_allowed(charter.hash) : Result<void>();
  if (!allowed && !std::filesystem::exists(policy.approval_of(charter)))
    return note(preflight, allowed.error());
  if (const auto no = left_no(policy, charter))
    return note(preflight, {Code::kPolicy,
                            "a person has said no: " + no->by + " at " + no->at +
                                (no->reason.empty() ? "" : ", " + no->reason),
                            "To allow it again, a person types: parley owner approve POLICY "
                            "CHARTER"});
  if (preflight.person && !preflight.approved)
    note(preflight,
         {Code::kPolicy, "it waits for a person",
          "Read it with `parley charter explain`, then type: parley owner approve POLICY "
          "CHARTER"});
}

/// The policy's owner in the charter, which has it: a rule has matched.
size_t place_of(const Policy& policy, const Charter& charter) {
  const auto us = std::find_if(charter.owners.begin(), charter.owners.end(),
                               [&](const auto& each) { return each.name == policy.owner; });
  return static_cast<size_t>(us - charter.owners.begin());
}

Result<void> read_rows(const Policy& policy, const Charter& charter, bool read_data,
                       Preflight& preflight) {
  const charter::Dataset* data = TRY(policy.dataset_for(charter));
  if (data->engine == charter::Engine::kSql) {
    TRY(plan::check_sql(charter));
    if (!read_data) return {};
    const auto records = TRY(gate::open_engine(policy, *data, charter));
    TRY(gate::EngineSum::questions(
        records,
        TRY(plan::terms_for(charter, place_of(policy, charter)))));  // Counts, and tries it.
    preflight.rows_counted = true;
    return {};
  }
  const data::Source source = TRY(charter::source_of(policy, *data, charter));
  if (!read_data) return {};
  if (charter.columns_apart())
    TRY(aligned_rows(policy, *data, charter, place_of(policy, charter)));
  else
    TRY(data::load_any(source, charter.schema));  // Refuses another number of rows.
  preflight.rows_counted = true;
  return {};
}

/// The account as it is, or as the first job would open it.
Result<ledger::Dataset> account_of(const Policy& policy, const Charter& charter,
                                   const std::optional<ledger::Contents>& ledger) {
  const charter::Dataset* data = TRY(policy.dataset_for(charter));
  ledger::Dataset account{.id = 1, .name = data->name, .budget = data->budget};
  if (!ledger) return account;
  const ledger::DataSource source = TRY(data_source(policy, *data));
  TRY(ledger->chain.may_read(data->name, ledger::kept(ledger->fingerprints, source)));
  for (const ledger::Dataset& known : ledger->datasets) {
    if (known.name != data->name) continue;
    account.spent = known.spent;
    if (!ledger->chain.is_charged(known.id)) continue;
    if (known.budget != data->budget)
      return Error{Code::kPolicy,
                   "the ledger has promised another budget for data set '" + data->name + "'",
                   "Put the policy's back or, to raise it, type: parley ledger budget POLICY"};
    if (!known.unit.empty() && known.unit != charter.privacy.unit)
      return Error{Code::kPolicy,
                   "the budget of data set '" + data->name + "' protects the unit '" + known.unit +
                       "', the charter another",
                   "Agree on a charter with the same privacy.unit."};
  }
  return account;
}

uint32_t answered_in(const std::optional<ledger::Contents>& ledger, const Hash& charter) {
  return ledger ? ledger->chain.last_round(charter) : 0;
}

double left_of(const ledger::Dataset& account, privacy::Track track) {
  const double left = track == privacy::Track::kPure ? account.budget.pure_max - account.spent.pure
                                                     : account.budget.rho_max - account.spent.rho;
  return std::max(0.0, left);
}

/// Who asks, and where they are.
Result<void> look_at_learners(const Policy& policy, const Charter& charter,
                              const std::string& instead, Preflight& preflight) {
  if (!charter.protocol.learners.graph.empty()) {
    preflight.learner = "all owners";
    return {};
  }
  const auto jobs = TRY(plan::jobs_asking(charter, policy.owner));
  for (const Charter& job : jobs) {
    if (!charter.central()) add_word(preflight.learner, job.learner.name);
    add_word(preflight.address, to_text(TRY(dial_for(policy, charter, job, instead)).address));
  }
  return {};
}

/// What the charter asks of an owner, and at which price each time.
struct Asked {
  uint32_t answers;
  size_t numbers;
  privacy::Cost cost;
  /// The Gram matrix that comes first, if one does. One after an alarm takes the place of answers,
  /// and all costs no more than they do.
  uint32_t grams = 0;
  privacy::Cost gram{};
};

Asked asked_of(const plan::SecaggTerms& terms) {
  Asked asked{terms.answers, terms.numbers(), terms.cost()};
  const auto gram = terms.of(privacy::ReleaseKind::kGram);
  if (gram && !terms.after_alarm) asked.grams = gram->answers, asked.gram = gram->cost();
  return asked;
}

Result<Asked> what_is_asked(const Policy& policy, const Charter& charter) {
  const size_t place = place_of(policy, charter);
  if (charter.columns_apart()) {
    const plan::VerticalTerms terms = TRY(plan::vertical_terms(charter));
    return Asked{terms.rounds, terms.numbers(place), terms.cost()};
  }
  if (charter.secure_aggregation) {
    const plan::SecaggPlan plan = TRY(plan::secagg_plan(charter));
    return asked_of(plan.owners[place]);
  }
  const plan::Terms terms = TRY(plan::terms_for(charter, place));
  const auto price = [&]<class M>(const M& mechanism) {
    return mechanism.cost(terms.sensitivity<typename M::Norm>());
  };
  Asked asked{terms.answers, terms.numbers(), std::visit(price, terms.mechanism)};
  if (terms.gram)
    asked.grams = 1, asked.gram = terms.gram->mechanism.cost(terms.gram_sensitivity());
  return asked;
}

/// All jobs cost the same: their budget is split evenly.
Result<void> weigh(const Policy& policy, const Charter& charter, const std::vector<Charter>& jobs,
                   const std::optional<ledger::Contents>& ledger, Preflight& preflight) {
  privacy::Cost cost{}, gram{};
  using enum privacy::ReleaseKind;
  std::set<Hash> seen;  // Statistics are released once, whoever asks.
  for (const Charter& job : jobs) {
    if (!seen.insert(job.hash).second) continue;
    const Asked asked = TRY(what_is_asked(policy, job));
    cost = asked.cost;
    preflight.answers += asked.answers;
    preflight.numbers = asked.numbers;
    preflight.answered += std::min(asked.answers, answered_in(ledger, job.hash));
    preflight.price += cost.amount * asked.answers + asked.gram.amount * asked.grams;
    const uint32_t grams = ledger ? ledger->chain.last_round(job.hash, kGram) : 0;
    gram = asked.gram;
    gram.amount = mul_up(gram.amount, asked.grams - std::min(asked.grams, grams));
  }
  preflight.track = cost.track;
  const auto to_come = static_cast<uint32_t>(preflight.answers - preflight.answered);
  ledger::Dataset account = TRY(account_of(policy, charter, ledger));
  preflight.left = preflight.left_after = left_of(account, cost.track);
  ledger::Chain chain{Hash{}};  // The ledger's own judgement, over a copy of the account.
  chain.declare(account);
  TRY(chain.can_afford(account.id, cost, to_come,
                       gram.amount > 0 ? std::optional(gram) : std::nullopt));
  if (ledger) TRY(ledger->chain.is_current());
  for (uint32_t i = 0; i < to_come; ++i) account.spent = account.spent.plus(cost);
  if (gram.amount > 0) account.spent = account.spent.plus(gram);
  preflight.left_after = left_of(account, cost.track);
  return {};
}

}  // namespace

Result<std::optional<ledger::Contents>> look_into_ledger(const Policy& policy,
                                                         const ledger::RowFilter& filter) {
  const auto file = ledger_of(policy);
  if (!std::filesystem::exists(file)) return std::optional<ledger::Contents>();
  ledger::Contents contents = TRY(ledger::read(file, filter));
  if (contents.owner != policy.owner)
    return Error{Code::kInvalid,
                 "is the ledger of " + contents.owner + ", not of " + policy.owner,
                 "Give every owner a state folder of its own.",
                 {.file = file.string()}};
  return std::optional(std::move(contents));
}

Preflight preflight_of(const Policy& policy, Charter charter,
                       const std::optional<ledger::Contents>& ledger,
                       const PreflightOptions& options, Clock& clock) {
  Preflight preflight;
  preflight.name = charter.name;
  preflight.charter = charter.hash;
  preflight.learner = charter.learner.name;
  for (const charter::Owner& owner : charter.owners)
    if (owner.name == policy.owner) preflight.rows = static_cast<uint64_t>(owner.rows);
  const auto needs = [&](const auto& result) {
    if (!result) note(preflight, result.error());
    return bool(result);
  };
  look_at_rules(policy, charter, ledger, preflight);
  if (preflight.rule == 0) return preflight;
  needs(look_at_learners(policy, charter, options.dial, preflight));
  if (needs(signing_key(policy, charter)) && needs(plan::every_sign_key(charter)))
    needs(check_members(*policy.identity, charter, policy.owner, clock));
  const std::filesystem::path folders[] = {charter.folder, policy.folder};
  if (!needs(charter::load_bundle(charter, folders))) return preflight;
  if (charter.protocol.distance()) needs(charter::load_pilot(charter, folders));
  const auto jobs = plan::jobs_asking(charter, policy.owner);
  if (!needs(jobs)) return preflight;
  if (!jobs->empty()) needs(weigh(policy, charter, *jobs, ledger, preflight));
  const auto notice = plan::noise_notice(charter);
  if (needs(notice)) preflight.noise = *notice;
  needs(read_rows(policy, charter, options.read_data, preflight));
  return preflight;
}

}  // namespace parley::net
