#include "parley/report/network/doctor.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "parley/report/charter.h"
#include "parley/report/provenance.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

std::string state_of(const Diagnosis::Finding& finding) {
  return finding.wrong ? "wrong" : finding.said.empty() ? "not tried" : "ok";
}

}  // namespace

const Error* Diagnosis::wrong() const {
  for (const Finding& finding : findings)
    if (finding.wrong) return &*finding.wrong;
  return nullptr;
}

int Diagnosis::exit() const { return wrong() ? exit_status(wrong()->code) : 0; }

std::string to_text(const Diagnosis& diagnosis) {
  const Error* wrong = diagnosis.wrong();
  std::string text = wrong ? "Wrong: " + describe(*wrong) + "\n" : "Everything is in order.\n";
  if (wrong && !wrong->hint.empty()) text += wrong->hint + "\n";
  text += "\n";
  for (const Diagnosis::Finding& finding : diagnosis.findings)
    text += fmt::format("{:<9}  {}\n", state_of(finding),
                        finding.wrong || finding.said.empty()
                            ? finding.check
                            : fmt::format("{:<11}  {}", finding.check, finding.said));
  return text;
}

std::string to_json(const Diagnosis& diagnosis) {
  const Error* wrong = diagnosis.wrong();
  Json json = {{"format", "parley.doctor/1"},
               {"parley", provenance()},
               {"ok", wrong == nullptr},
               {"exit", diagnosis.exit()},
               {"checks", Json::array()}};
  if (wrong) json["wrong"] = json_of_part(*wrong);
  for (const Diagnosis::Finding& finding : diagnosis.findings)
    json["checks"].push_back(
        {{"check", finding.check}, {"state", state_of(finding)}, {"said", finding.said}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parley::report
