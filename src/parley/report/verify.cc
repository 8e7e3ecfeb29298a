#include "parley/report/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parley/base/math/number.h"
#include "parley/plan/learner/pilot_check.h"
#include "parley/protocol/verify/verify_epsilon.h"
#include "parley/report/distance.h"
#include "parley/report/evaluation.h"
#include "parley/report/provenance.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;
using protocol::VerifyResult;

constexpr size_t kShown = 20;  // More findings than these are counted.

std::string text_of(const VerifyResult::Finding& finding) {
  std::string text;
  if (!finding.owner.empty()) text += finding.owner;
  if (finding.round > 0) text += ", round " + std::to_string(finding.round);
  return text + (text.empty() ? "" : ": ") + finding.what;
}

std::string not_verified(const VerifyResult& result) {
  const size_t count = result.findings.size();
  std::string text =
      fmt::format("NOT VERIFIED, {} {}:\n", grouped(count), count == 1 ? "finding" : "findings");
  for (size_t i = 0; i < std::min(count, kShown); ++i)
    text += "  " + text_of(result.findings[i]) + "\n";
  if (count > kShown) text += fmt::format("  and {} more\n", grouped(count - kShown));
  if (!result.recomputed && !result.in_parts)
    text += "The model was not recomputed: what it would be made of is in doubt.\n";
  return text;
}

/// zCDP if any owner added Gaussian noise.
std::string accountant_of(const VerifyResult& result) {
  std::string name;
  for (const VerifyResult::Owner& owner : result.owners)
    if (name.empty() || owner.accountant == "zCDP") name = owner.accountant;
  return name;
}

std::string epsilons(const VerifyResult& result) {
  std::string text = fmt::format("ε per owner by {}:", accountant_of(result));
  for (const VerifyResult::Owner& owner : result.owners)
    text += fmt::format("{} {} {} of {}", &owner == &result.owners.front() ? "" : ",", owner.name,
                        significant(owner.epsilon, 6), significant(owner.epsilon_charter, 6));
  return text + ".\n";
}

std::string ledgers(const VerifyResult& result) {
  std::string names;
  for (const VerifyResult::Owner& owner : result.owners)
    if (owner.ledger_head)
      names += fmt::format("{}{} (head {})", names.empty() ? "" : ", ", owner.name,
                           to_hex(*owner.ledger_head).substr(0, 12));
  return names.empty() ? "" : "Receipts match the ledgers given: " + names + ".\n";
}

Json json_of(const VerifyResult::Owner& owner) {
  return {{"name", owner.name},
          {"answers", owner.answers},
          {"epsilon", owner.epsilon},
          {"epsilon_claimed", owner.epsilon_claimed},
          {"epsilon_charter", owner.epsilon_charter},
          {"ledger_head", owner.ledger_head ? Json(to_hex(*owner.ledger_head)) : Json()}};
}

Json json_of(const VerifyResult::Finding& finding) {
  return {{"owner", finding.owner.empty() ? Json() : Json(finding.owner)},
          {"round", finding.round == 0 ? Json() : Json(finding.round)},
          {"what", finding.what}};
}

}  // namespace

std::string to_text(const VerifyResult& result) {
  std::string text =
      fmt::format("{}  charter {}\n", result.charter_name, to_hex(result.charter).substr(0, 12));
  if (!result.holds()) return text + not_verified(result);
  if (result.in_parts)
    text += fmt::format(
        "{} signed receipts: every owner's over the whole job, each at the charter's price.\n"
        "Not recomputed: the model. Its parts, which the manifest names by their hashes, and what "
        "they were made of are with the owners, each of which checked that the manifest binds its "
        "part; the noise was {}.\n",
        grouped(result.answers), result.dealt ? "the dealer's" : "the owners'");
  else
    text += fmt::format("Model recomputed from {} signed answers: identical.\n",
                        grouped(result.answers));
  if (result.pilot_check) text += plan::to_text(*result.pilot_check) + "\n";
  if (result.evaluation) text += to_text(*result.evaluation);
  if (result.distance) text += to_text(*result.distance);
  text += epsilons(result) + ledgers(result);
  if (!result.file_compared && !result.in_parts)
    text += "The transcript is not packed, so its hash was not compared with the model's.\n";
  return text;
}

std::string to_json(const VerifyResult& result) {
  Json json = {
      {"format", "parley.verify/1"},
      {"parley", provenance()},
      {"charter", {{"name", result.charter_name}, {"sha256", to_hex(result.charter)}}},
      {"verified", result.holds()},
      {"recomputed", result.recomputed},
      {"in_parts", result.in_parts},
      {"rounds", result.rounds},
      {"answers", result.answers},
      {"pilot_check", result.pilot_check ? Json::parse(to_json(*result.pilot_check)) : Json()},
      {"evaluation", result.evaluation ? Json::parse(to_json(*result.evaluation)) : Json()},
      {"distance", result.distance ? Json::parse(to_json(*result.distance)) : Json()},
      {"transcript_sha256_compared", result.file_compared},
      {"accountant", accountant_of(result)},
      {"owners", Json::array()},
      {"findings", Json::array()}};
  for (const VerifyResult::Owner& owner : result.owners) json["owners"].push_back(json_of(owner));
  for (const VerifyResult::Finding& finding : result.findings)
    json["findings"].push_back(json_of(finding));
  // Names in a transcript need not be UTF-8; the message must still come out.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parley::report
