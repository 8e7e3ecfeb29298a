// What people say that a ledger keeps: budgets, where the records lie, and decisions.
#include <algorithm>

#include "parley/ledger/state.h"

namespace parley::ledger {
namespace {

Error is_fixed(const std::string& name, const std::string& what, std::string hint) {
  return {Code::kPolicy, what + " of data set '" + name + "' is fixed: it has been charged",
          std::move(hint)};
}

Error breaks_promise(const std::string& name) {
  return {Code::kInvalid, "the limits of the budget of '" + name + "' exceed its promise",
          "Give epsilon, delta and the pure part; the rest follows from them."};
}

/// Why, in a person's words: one line of plain text.
Result<void> check_reason(const std::string& reason) {
  const bool plain = std::none_of(reason.begin(), reason.end(),
                                  [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (plain && reason.size() <= 1000) return {};
  return Error{Code::kInvalid, "the reason is too long or not one line of text",
               "Use up to 1,000 bytes without control characters."};
}

int64_t next_id(const Chain& chain) {
  const std::vector<Dataset> all = chain.datasets();
  return all.empty() ? 1 : all.back().id + 1;
}

}  // namespace

Result<void> check_name(const std::string& name) {
  const bool plain = std::none_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
  });
  if (plain && !name.empty() && name.size() <= 200) return {};
  return Error{Code::kInvalid,
               "the name of a data set, owner, unit or person is empty, too long or not plain text",
               "Use 1 to 200 characters without quotes, backslashes and control characters."};
}

Result<DatasetId> Ledger::declare(const std::string& name, const privacy::Budget& budget,
                                  const std::string& unit,
                                  const std::optional<DataSource>& source) {
  TRY(check_name(name));
  if (!unit.empty()) TRY(check_name(unit));
  if (!keeps_promise(budget)) return breaks_promise(name);
  const Chain& chain = state_->chain;
  const Dataset* known = chain.find(name);
  const bool same_unit = known && (unit.empty() || known->unit == unit);
  const bool same = known && known->budget == budget && same_unit;
  const SourceOf reads = source ? kept(state_->fingerprints, *source) : SourceOf{};
  if (source) TRY(chain.may_read(name, reads));
  if (same && (!source || chain.reads(known->id, reads))) return DatasetId{known->id};
  if (known && chain.is_charged(known->id)) {
    if (known->budget != budget)
      return is_fixed(name, "the budget",
                      "Keep the budget that was declared first. To raise it, a person types: "
                      "parley ledger budget POLICY");
    if (!known->unit.empty() && !same_unit)
      return is_fixed(name, "the privacy unit '" + known->unit + "'",
                      "Its charges protect that unit, and those for another do not add up with "
                      "them. Agree on a charter with the same unit.");
  }
  const Dataset dataset{.id = known ? known->id : next_id(chain),
                        .name = name,
                        .budget = budget,
                        .unit = known && unit.empty() ? known->unit : unit,
                        .reads = {.source = reads}};
  TRY(append([&](Addition& addition) { return addition.add_budget(dataset); }));
  return DatasetId{dataset.id};
}

Result<void> Ledger::accept_source(const std::string& name, const privacy::Budget& budget,
                                   const DataSource& source, const std::string& by,
                                   const std::string& reason) {
  TRY(check_name(name));
  TRY(check_name(by));
  TRY(check_reason(reason));
  const Dataset* known = state_->chain.find(name);
  if (!known && !keeps_promise(budget)) return breaks_promise(name);
  Dataset dataset =
      known ? *known : Dataset{.id = next_id(state_->chain), .name = name, .budget = budget};
  dataset.reads = {kept(state_->fingerprints, source), by, reason};
  if (known && state_->chain.reads(known->id, dataset.reads.source)) return {};
  return append([&](Addition& addition) { return addition.add_budget(dataset); });
}

Result<void> Ledger::raise(const std::string& name, const privacy::Budget& budget) {
  const Dataset* known = state_->chain.find(name);
  if (known == nullptr)
    return Error{Code::kInvalid, "the ledger has no data set '" + name + "'",
                 "Its first job declares it."};
  if (!keeps_promise(budget)) return breaks_promise(name);
  if (known->budget == budget) return {};
  if (state_->chain.is_charged(known->id) && !is_raised(known->budget, budget))
    return Error{Code::kPolicy,
                 "the budget of data set '" + name +
                     "' can only be raised: nothing of it may become less, neither epsilon nor "
                     "delta nor the limit of a track",
                 "To spend less, lower epsilon_max in the policy's [[accept]] rules. If epsilon "
                 "grows, leave the pure part at least as it was."};
  Dataset raised = *known;
  raised.budget = budget;
  return append([&](Addition& addition) { return addition.add_budget(raised); });
}

Result<void> Ledger::decide(DatasetId dataset, const Hash& charter, const Decision& decision) {
  TRY(check_name(decision.by));
  TRY(check_name(decision.at));
  TRY(check_reason(decision.reason));
  const Decision* last = state_->chain.decision(charter);
  if (last && last->what == decision.what) return {};
  return append([&](Addition& addition) {
    return addition.add_note(static_cast<int64_t>(dataset), charter, 0, {}, decision);
  });
}

bool Ledger::is_approved(const Hash& charter) const { return state_->chain.is_approved(charter); }

const Decision* Ledger::decision(const Hash& charter) const {
  return state_->chain.decision(charter);
}

Result<void> Ledger::is_allowed(const Hash& charter) const {
  return state_->chain.is_allowed(charter);
}

}  // namespace parley::ledger
