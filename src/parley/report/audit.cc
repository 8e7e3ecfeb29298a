#include "parley/report/audit.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "parley/audit/targets/mechanisms.h"
#include "parley/base/math/number.h"
#include "parley/report/provenance.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;
using audit::Audit, audit::Certificate, audit::Claim, audit::Method;

std::string_view name_of(Method method) {
  return method == Method::kTwoWorld ? "two_world" : "one_run";
}

/// Certificates are rounded down: they say "at least".
std::string at_least(double epsilon) {
  return fmt::format("{:.3f}", std::floor(epsilon * 1e3) / 1e3);
}

std::string promise(const Claim& claim) {
  return claim.delta == 0 ? fmt::format("ε = {:.6g}", claim.epsilon)
                          : fmt::format("ε = {:.6g}, δ = {:g}", claim.epsilon, claim.delta);
}

std::string heading(const Audit& audit) {
  if (audit.kind == "charter")
    return fmt::format("{}  charter {}  owner {}", audit.charter, audit.charter_hash.substr(0, 12),
                       audit.name);
  if (audit.kind == "planted") return fmt::format("planted bug {}  NOT PRIVATE", audit.name);
  return fmt::format("mechanism {}", audit.name);
}

std::string effort(const Audit& audit) {
  return audit.method == Method::kTwoWorld
             ? fmt::format("two worlds, {} runs in each", grouped(audit.runs))
             : fmt::format("one run, {} canaries", grouped(audit.runs));
}

Json json_of(const Certificate& found, Method method) {
  if (method == Method::kOneRun) return {{"one_run", found.clopper_pearson}};
  return {{"clopper_pearson", found.clopper_pearson},
          {"gaussian", found.gaussian ? Json(*found.gaussian) : Json()}};
}

bool flagged(const Audit& audit) {
  return audit.control && audit.control->epsilon() > audit.claimed.epsilon;
}

std::string verdict(const Audit& audit) {
  if (!audit.passes()) return "FAILS: what is claimed is not true.\n";
  if (audit.control && !flagged(audit))
    return fmt::format("Proves little: not even {} would be flagged. Give more --runs.\n",
                       audit.control_name);
  return "Passes: the attack proves no more than the claim. It does not prove the claim.\n";
}

}  // namespace

std::string to_text(const Audit& audit) {
  std::string text = heading(audit) + "\n" + audit.what + "\n\n";
  text += fmt::format("Claimed     {}\n", promise(audit.claimed));
  text += fmt::format("Certified   ε ≥ {}", at_least(audit.found.epsilon()));
  if (audit.found.gaussian)
    text += fmt::format("   (any noise {}, Gaussian {})", at_least(audit.found.clopper_pearson),
                        at_least(*audit.found.gaussian));
  text += fmt::format("\nConfidence  {:.9g}; {}\n", audit.confidence, effort(audit));
  text += fmt::format("Power       {} if the worlds were never confused",
                      at_least(audit.found.if_perfect));
  if (audit.control)
    text += fmt::format(";\n            {} for {}: {}", at_least(audit.control->epsilon()),
                        audit.control_name, flagged(audit) ? "flagged" : "not flagged");
  return text + "\n\n" + verdict(audit);
}

std::string to_json(const Audit& audit) {
  const bool charter = audit.kind == "charter";
  const auto named = [&](const char* kind) {
    return audit.kind == kind ? Json(audit.name) : Json();
  };
  Json json = {{"format", "parley.audit/1"},
               {"parley", provenance()},
               {"target",
                {{"mechanism", named("mechanism")},
                 {"charter", charter ? Json(audit.charter_hash) : Json()},
                 {"owner", named("charter")},
                 {"planted", named("planted")}}},
               {"claimed", {{"epsilon", audit.claimed.epsilon}, {"delta", audit.claimed.delta}}},
               {"method", name_of(audit.method)}};
  json[audit.method == Method::kTwoWorld ? "runs_per_world" : "canaries"] = audit.runs;
  json["confidence"] = audit.confidence;
  json["certified_epsilon"] = json_of(audit.found, audit.method);
  json["verdict"] = audit.passes() ? "passes" : "fails";
  json["power"] = {{"if_perfect", audit.found.if_perfect}};
  if (audit.control) {
    json["power"]["control"] = audit.control_name;
    json["power"]["certified_epsilon"] = audit.control->epsilon();
    json["power"]["flagged"] = flagged(audit);
  }
  return json.dump(2) + "\n";
}

std::string list_text(std::span<const PlantedBug> planted) {
  std::string text = "Mechanisms that may touch private data (--mechanism)\n";
  for (const std::string_view name : audit::mechanism_names()) text += fmt::format("  {}\n", name);
  text += "\nPlanted bugs, NOT PRIVATE, to test the auditor (--planted)\n";
  for (const PlantedBug& each : planted)
    text += fmt::format("  {:<18} {}\n  {:<18} ({})\n", each.name, each.what, "", each.source);
  if (planted.empty()) text += "  none: this program was built with PARLEY_STUDIES=OFF\n";
  return text;
}

std::string list_json(std::span<const PlantedBug> planted) {
  Json bugs = Json::array();
  for (const PlantedBug& each : planted)
    bugs.push_back({{"name", each.name}, {"what", each.what}, {"source", each.source}});
  const Json json = {{"format", "parley.audit.list/1"},
                     {"parley", provenance()},
                     {"mechanisms", audit::mechanism_names()},
                     {"planted", bugs}};
  return json.dump(2) + "\n";
}

}  // namespace parley::report
