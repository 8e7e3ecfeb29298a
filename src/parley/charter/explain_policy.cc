#include "parley/charter/explain_policy.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "parley/base/math/number.h"
#include "parley/base/printable.h"
#include "parley/charter/dataset/programs.h"

namespace parley::charter {
namespace {

std::string roughly(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

std::string count(uint64_t number, const std::string& thing) {
  return grouped(number) + " " + thing + (number == 1 ? "" : "s");
}

std::string place_of(const Policy& policy, const Dataset& data) {
  const std::string kind(name_of(data.source));
  if (!data.path.empty()) return (policy.folder / data.path).string();
  return data.dsn.empty() ? kind : kind + ", " + data.dsn;
}

/// One track of a budget.
std::string balance(const std::string& unit, double spent, double max) {
  return unit + " " + roughly(spent) + " of " + roughly(max) + " spent, " +
         roughly(std::max(0.0, max - spent)) + " left";
}

/// What runs beside parley, for whoever must know whether it is still the same.
std::string programs(const Policy& policy, const Dataset& data) {
  std::string text;
  for (const Program& program : programs_of(policy, data)) {
    text += "  Runs " + printable(program.file.string());
    if (!program.hash) {
      text += ", which cannot be read.\n";
      continue;
    }
    text += ", SHA-256 " + to_hex(*program.hash);
    if (data.driver_sha256)
      text += *data.driver_sha256 == *program.hash ? ", as driver_sha256 says"
                                                   : ", which is NOT what driver_sha256 says";
    text += ".\n";
  }
  return text;
}

std::string explain(const Policy& policy, const Dataset& data, const privacy::Spent& spent) {
  const privacy::Budget& budget = data.budget;
  std::string text = "Data set " + data.name + " (" + place_of(policy, data) +
                     "): in its lifetime epsilon " + shortest(budget.epsilon) +
                     (budget.delta > 0 ? ", delta " + shortest(budget.delta) : "") + ". ";
  if (budget.pure_max > 0)
    text += "Without delta: " + balance("epsilon", spent.pure, budget.pure_max) + ". ";
  if (budget.rho_max > 0) text += "With delta: " + balance("rho", spent.rho, budget.rho_max) + ". ";
  if (!data.unit_column.empty())
    text += "At most " + count(static_cast<uint64_t>(data.unit_records.value_or(1)), "record") +
            " of one " + in_quotes(data.unit_column) + ". ";
  if (data.where)
    text += std::string("Only rows whose ") + in_quotes(data.where->column) +
            (data.where->exclude ? " is not" : " is") + " in a list of " +
            count(data.where->values.size(), "value") + ". ";
  text.back() = '\n';
  return text + programs(policy, data);
}

std::string protocols_of(const Accept& rule) {
  std::string text;
  for (size_t i = 0; i < rule.protocols.size(); ++i)
    text += (i == 0                          ? ", protocol "
             : i + 1 < rule.protocols.size() ? ", "
                                             : " or ") +
            std::string(name_of(rule.protocols[i]));
  return text;
}

std::string owners_of(const Accept& rule) {
  const auto listed = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? " " : ", ") + name;
    return text;
  };
  return (rule.must_have.empty() ? "" : ", with" + listed(rule.must_have)) +
         (rule.may_have.empty() ? "" : ", with no others than" + listed(rule.may_have)) +
         (rule.others_min == 0 ? ""
                               : ", with " + count(rule.others_min, "other owner") + " or more");
}

std::string explain(const Accept& rule) {
  return "charters of " + rule.consortium +
         (rule.learner ? " with the learner " + *rule.learner : "") + protocols_of(rule) +
         (rule.dealer == Dealer::kLearner ? ", also where the learner deals masks and noise" : "") +
         owners_of(rule) + ": answered from " + rule.dataset + ", each up to epsilon " +
         shortest(rule.epsilon_max) +
         (rule.person ? ", once a person has approved.\n" : ", without asking anyone.\n");
}

/// Why this rule is not for that charter.
std::string why_not(const Policy& policy, const Accept& rule, const Charter& charter,
                    const Owner& us) {
  if (rule.consortium != charter.consortium)
    return "is for " + rule.consortium + ", not " + charter.consortium;
  if (rule.learner && *rule.learner != charter.learner.name)
    return "is for the learner " + *rule.learner + ", not " + charter.learner.name;
  if (!rule.allows_protocol(charter))
    return "does not allow the protocol " + std::string(name_of(charter.protocol.name())) +
           (rule.protocols.empty() ? ", which must be named: protocol = [\"sharing\"]" : "");
  if (!rule.allows_dealer(charter))
    return "does not trust a learner that deals masks and noise; to allow it, add: dealer = "
           "\"learner\"";
  if (!rule.allows_owners(charter, us.name))
    return "wants other owners: must_have, may_have or others_min does not fit";
  const double asked = policy.epsilon_of(charter, us, rule);
  return "allows epsilon " + shortest(rule.epsilon_max) + ", the charter asks " +
         shortest(us.epsilon) +
         (asked == us.epsilon ? ""
          : std::isfinite(asked)
              ? " at delta " + shortest(us.delta) + ", which is " + roughly(asked) +
                    " at the data set's"
              : " at delta " + shortest(us.delta) + ", and the data set has no delta");
}

std::string who_accepts(const Preflight& preflight) {
  std::string text = "  Rule " + std::to_string(preflight.rule) + " accepts it";
  if (!preflight.person) return text + ", without asking anyone.\n";
  return text + (preflight.approved ? ", and a person has approved.\n"
                                    : " once a person has approved, which nobody has yet.\n");
}

std::string what_leaves(const Preflight& preflight) {
  std::string text = "  To " + preflight.learner +
                     (preflight.address.empty() ? "" : " at " + preflight.address) + " go " +
                     count(preflight.answers, "answer") + " of " +
                     count(preflight.numbers, "noisy number") + " each";
  if (preflight.answered > 0)
    text += ", of which the ledger has " + grouped(preflight.answered) + " already";
  return text + ". No record leaves.\n";
}

std::string price(const Preflight& preflight) {
  const std::string unit = preflight.track == privacy::Track::kPure ? "epsilon " : "rho ";
  return "  Price: " + unit + roughly(preflight.price) + " in all; of data set " +
         preflight.dataset + " " + roughly(preflight.left) + " is left now, " +
         roughly(preflight.left_after) + " afterwards.\n";
}

}  // namespace

std::string explain(const Policy& policy, const SpentByDataset& spent) {
  std::string text = "Policy of " + policy.owner;
  if (policy.identity) text += ", known as such in " + policy.identity->consortium;
  text += policy.dial.empty() ? ".\n" : "; dials " + to_text(policy.dial) + ".\n";
  for (const Dataset& data : policy.datasets) {
    const auto found = spent.find(data.name);
    text += explain(policy, data, found == spent.end() ? privacy::Spent{} : found->second);
  }
  if (!policy.accept.empty()) text += "The first of these rules that fits decides:\n";
  for (size_t i = 0; i < policy.accept.size(); ++i)
    text += "  " + std::to_string(i + 1) + ". " + explain(policy.accept[i]);
  return text + (policy.accept.empty() ? "No rule accepts anything: every charter is refused.\n"
                                       : "Everything else is refused.\n");
}

std::string why_refused(const Policy& policy, const Charter& charter) {
  if (policy.first_match(charter) != nullptr) return "";
  if (!charter.complete()) return "it is a draft: " + charter.undecided.front() + " is undecided";
  if (const auto protects = check_protects(charter); !protects) return protects.error().what;
  if (charter.privacy.calibration != Calibration::kSound)
    return "its calibration is \"" + std::string(name_of(charter.privacy.calibration)) +
           "\", which is not private";
  const auto us = std::find_if(charter.owners.begin(), charter.owners.end(),
                               [&](const Owner& each) { return each.name == policy.owner; });
  if (us == charter.owners.end()) return "it does not name " + policy.owner;
  if (policy.accept.empty()) return "the policy has no rules";
  std::string text;
  for (size_t i = 0; i < policy.accept.size(); ++i)
    text += (i == 0 ? "" : "; ") + ("rule " + std::to_string(i + 1)) + " " +
            why_not(policy, policy.accept[i], charter, *us);
  return text;
}

std::string explain(const Preflight& preflight) {
  std::string text = "Charter " + preflight.name + " (" + to_hex(preflight.charter).substr(0, 12) +
                     ")" + (preflight.runs() ? " would run.\n" : " would NOT run.\n");
  for (const Error& obstacle : preflight.obstacles)
    text += "  Because: " + describe(obstacle) + ". " + obstacle.hint + "\n";
  if (preflight.rule == 0) return text;
  text += who_accepts(preflight);
  text += "  Data set " + preflight.dataset +
          (preflight.rows_counted ? " has the " + count(preflight.rows, "row") + " it names.\n"
                                  : " must have " + count(preflight.rows, "row") + ".\n");
  if (preflight.answers == 0) return text;
  text += what_leaves(preflight) + price(preflight);
  return preflight.noise.empty() ? text : text + "  " + preflight.noise + "\n";
}

}  // namespace parley::charter
