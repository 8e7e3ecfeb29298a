#include "parley/report/network/owner.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "parley/charter/explain_policy.h"
#include "parley/report/charter.h"
#include "parley/report/provenance.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const OwnerJob& job) {
  Json json{{"charter", to_hex(job.charter)}, {"name", job.charter_name}, {"model", nullptr}};
  if (!job.learner.empty()) json["learner"] = job.learner;
  if (*job.model) json["model"] = to_hex(**job.model);
  return json;
}

Json json_of(const Preflight& preflight) {
  Json json = {{"name", preflight.name},
               {"charter", to_hex(preflight.charter)},
               {"runs", preflight.runs()},
               {"rule", preflight.rule == 0 ? Json() : Json(preflight.rule)},
               {"person", preflight.person},
               {"approved", preflight.approved},
               {"dataset", preflight.rule == 0 ? Json() : Json(preflight.dataset)},
               {"learner", preflight.learner},
               {"address", preflight.address},
               {"rows", preflight.rows},
               {"rows_counted", preflight.rows_counted},
               {"answers", preflight.answers},
               {"answered", preflight.answered},
               {"numbers", preflight.numbers},
               {"track", preflight.track == Track::kPure ? "pure" : "zcdp"},
               {"price", preflight.price},
               {"left", preflight.left},
               {"left_after", preflight.left_after},
               {"noise", preflight.noise},
               {"obstacles", Json::array()}};
  for (const Error& obstacle : preflight.obstacles)
    json["obstacles"].push_back(json_of_part(obstacle));
  return json;
}

/// Names in files need not be UTF-8; the message must still come out.
std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string about_credentials(const Result<std::string>& identity) {
  if (identity) return "Credentials: in order, " + *identity + ".\n";
  return "Credentials: NOT in order, so nothing can be answered: " + describe(identity.error()) +
         ". " + identity.error().hint + "\n";
}

}  // namespace

std::string to_text(const std::vector<OwnerJob>& jobs) {
  std::string text;
  for (const OwnerJob& job : jobs)
    text += fmt::format(
        "{}: every answer was given; {}\n", job.charter_name,
        *job.model ? "model " + to_hex(**job.model) : "the learner left without a farewell");
  return text;
}

std::string to_json(const std::vector<OwnerJob>& jobs) {
  Json json{{"parley", provenance()}, {"jobs", Json::array()}};
  for (const OwnerJob& job : jobs) json["jobs"].push_back(json_of(job));
  return json.dump(2) + "\n";
}

std::string to_text(const std::vector<Approved>& charters) {
  std::string text;
  for (const Approved& each : charters) {
    text += fmt::format("{} {} ({})\n{}{}", each.name, each.what, to_hex(each.charter), each.noise,
                        each.noise.empty() ? "" : "\n");
    if (!each.waits.empty())
      text +=
          "Not in the ledger yet, but it will be before anything is paid: " + each.waits + ".\n";
  }
  return text;
}

std::string to_json(const std::vector<Approved>& charters) {
  Json json{{"parley", provenance()}};
  for (const Approved& each : charters) json[each.what].push_back(to_hex(each.charter));
  return json.dump(2) + "\n";
}

bool OwnerCheck::runs() const {
  bool all = bool(identity);
  for (const Preflight& preflight : charters) all = all && preflight.runs();
  return all;
}

std::string to_text(const OwnerCheck& check) {
  std::string text = check.explanation + about_credentials(check.identity);
  for (const Preflight& preflight : check.charters) text += "\n" + charter::explain(preflight);
  return text;
}

std::string to_json(const OwnerCheck& check) {
  Json json{{"format", "parley.owner.check/1"},
            {"parley", provenance()},
            {"owner", check.owner},
            {"runs", check.runs()},
            {"explanation", check.explanation},
            {"credentials", check.identity ? Json() : json_of_part(check.identity.error())},
            {"charters", Json::array()}};
  for (const Preflight& preflight : check.charters) json["charters"].push_back(json_of(preflight));
  return dumped(json);
}

std::string to_json(const Preflight& preflight) { return dumped(json_of(preflight)); }

std::string to_text(const TunedModel& tuned) {
  if (tuned.published)
    return fmt::format(
        "{}: tuned, noisy and paid for with epsilon {:.6g}: may be published\nmodel       {}\n"
        "transcript  {}\n",
        tuned.name, tuned.epsilon_spent, tuned.model.string(), tuned.transcript.string());
  return fmt::format("{}: NOT PRIVATE, made of your exact rows: keep it and its predictions\n{}\n",
                     tuned.name, tuned.model.string());
}

std::string to_json(const TunedModel& tuned) {
  const Json json{{"parley", provenance()},
                  {"charter", to_hex(tuned.charter)},
                  {"name", tuned.name},
                  {"model", tuned.model.string()},
                  {"published", tuned.published},
                  {"transcript", tuned.published ? Json(tuned.transcript.string()) : Json()},
                  {"epsilon_spent", tuned.epsilon_spent}};
  return json.dump(2) + "\n";
}

}  // namespace parley::report
