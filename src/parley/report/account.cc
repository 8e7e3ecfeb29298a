#include "parley/report/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/privacy/accounting/calibrate.h"
#include "parley/privacy/accounting/event_json.h"
#include "parley/report/provenance.h"
#include "parley/report/table.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;
using Kind = Account::Kind;

std::string_view name_of(privacy::Adjacency adjacency) {
  return adjacency == privacy::Adjacency::kReplaceOne ? "replace_one" : "add_remove";
}

Result<AccountRow> ask_all(const privacy::Events& events, privacy::Adjacency adjacency,
                           const AccountQuestion& question, double at) {
  AccountRow row{at, {}};
  for (const privacy::Accountant& accountant : privacy::accountants()) {
    if (!question.accountant.empty() && question.accountant != accountant.name) continue;
    const auto found =
        question.kind == Kind::kEpsilon
            ? accountant.epsilon(events, TRY(privacy::Delta::make(at)), adjacency)
            : accountant.delta(events, TRY(privacy::Epsilon::make(at)).value(), adjacency);
    Said said{std::string(accountant.name), {}};
    if (found)
      said.value = *found;
    else
      said.why_not = found.error().what;
    row.said.push_back(std::move(said));
  }
  return row;
}

bool has(const privacy::Events& events, auto predicate) {
  return std::any_of(events.begin(), events.end(),
                     [&](const privacy::Repeated& r) { return predicate(r.event); });
}

/// What a reader must know beside the numbers.
std::string note_of(const Account& account) {
  std::string note =
      "pld and gdp hold for schedules fixed in advance; a ledger enforces " + account.enforced_by;
  if (has(account.events,
          [](const auto& e) { return std::holds_alternative<privacy::GaussianEvent>(e); }))
    note +=
        "; gdp is exact for continuous noise, while what is run is discrete and enforced by zcdp";
  const bool sampled = has(account.events, [](const auto& e) {
    return std::holds_alternative<privacy::SampledGaussianEvent>(e);
  });
  if (sampled && account.adjacency == privacy::Adjacency::kReplaceOne)
    note +=
        "; under replace_one the multiplier of sampled noise refers to twice a record's norm, rdp "
        "takes two add/remove steps, and pld's pair is not proven to be the worst";
  return note;
}

Json json_of(const AccountRow& row) {
  Json values = Json::object();
  for (const Said& said : row.said)
    values[said.accountant] = said.value ? Json(*said.value) : Json();
  return values;
}

Json reasons_of(const AccountRow& row) {
  Json reasons = Json::object();
  for (const Said& said : row.said)
    if (!said.value) reasons[said.accountant] = said.why_not;
  return reasons;
}

/// Seven digits, rounded up like what it came from; but 10.000000000000002 is 10.
std::string rounded_up(double value) {
  if (value <= 0) return fmt::format("{:g}", value);
  const double unit = std::pow(10, std::floor(std::log10(value)) - 6);
  return fmt::format("{:.7g}", std::ceil(value * (1 - 1e-12) / unit) * unit);
}

}  // namespace

Result<Account> account(const privacy::Events& events, privacy::Adjacency adjacency,
                        const AccountQuestion& question) {
  if (!question.accountant.empty()) TRY(privacy::accountant_named(question.accountant));
  Account result{
      question.kind, events, adjacency, {}, std::string(privacy::enforced_for(events).name)};
  for (const double at : question.at)
    result.rows.push_back(TRY(ask_all(events, adjacency, question, at)));
  return result;
}

Result<Calibration> calibrate(const privacy::Events& events, privacy::Adjacency adjacency,
                              const std::string& accountant, double epsilon, double delta) {
  const std::string name =
      accountant.empty() ? std::string(privacy::enforced_for(events).name) : accountant;
  const auto by = TRY(privacy::accountant_named(name));
  const auto target = TRY(privacy::Epsilon::make(epsilon));
  const auto limit = TRY(privacy::Delta::make(delta));
  const auto found = TRY(privacy::calibrate(events, by, target, limit, adjacency));
  const auto noisy = TRY(privacy::with_noise_times(events, found.factor));
  Account checked = TRY(account(noisy, adjacency, {Kind::kEpsilon, {delta}, ""}));
  return Calibration{epsilon, delta, name, found.factor, std::move(checked)};
}

std::string to_text(const Account& account) {
  const bool epsilon = account.kind == Kind::kEpsilon;
  std::string text =
      fmt::format("Events     {}\nAdjacency  {}\n\n", privacy::events_to_json(account.events),
                  name_of(account.adjacency));
  std::vector<std::vector<std::string>> cells = {{epsilon ? "δ" : "ε"}};
  for (const Said& said : account.rows.front().said) cells[0].push_back(said.accountant);
  for (const AccountRow& row : account.rows) {
    cells.push_back({fmt::format("{:g}", row.at)});
    for (const Said& said : row.said)
      cells.back().push_back(said.value ? rounded_up(*said.value) : "-");
  }
  text += table(cells) + "\n";
  for (const Said& said : account.rows.front().said)
    if (!said.value) text += fmt::format("{}: {}\n", said.accountant, said.why_not);
  return text + note_of(account) + "\n";
}

std::string to_json(const Account& account) {
  const char* at = account.kind == Kind::kEpsilon ? "delta" : "epsilon";
  const char* said = account.kind == Kind::kEpsilon ? "epsilon" : "delta";
  Json json = {{"format", "parley.account/1"},
               {"parley", provenance()},
               {"events", Json::parse(privacy::events_to_json(account.events))},
               {"adjacency", name_of(account.adjacency)}};
  if (account.rows.size() == 1) {
    json[at] = account.rows.front().at;
    json[said] = json_of(account.rows.front());
  } else {
    json["curve"] = Json::array();
    for (const AccountRow& row : account.rows)
      json["curve"].push_back(Json{{at, row.at}, {said, json_of(row)}});
  }
  json["missing"] = reasons_of(account.rows.front());
  json["enforced_by"] = account.enforced_by;
  json["note"] = note_of(account);
  return json.dump(2) + "\n";
}

std::string to_text(const Calibration& calibration) {
  return fmt::format("All noise times {} gives ε ≤ {:g} at δ = {:g} by {}\n\n",
                     shortest(calibration.factor), calibration.epsilon, calibration.delta,
                     calibration.accountant) +
         to_text(calibration.account);
}

std::string to_json(const Calibration& calibration) {
  const Json json = {{"format", "parley.account.calibrate/1"},
                     {"parley", provenance()},
                     {"target", {{"epsilon", calibration.epsilon}, {"delta", calibration.delta}}},
                     {"accountant", calibration.accountant},
                     {"factor", calibration.factor},
                     {"account", Json::parse(to_json(calibration.account))}};
  return json.dump(2) + "\n";
}

}  // namespace parley::report
