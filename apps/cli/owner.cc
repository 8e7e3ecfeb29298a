// parley owner run|approve POLICY [CHARTER...]
#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "interrupt.h"
#include "parley/api/daemons.h"
#include "parley/report/provenance.h"

namespace parley::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The first job that failed decides how the process exits.
Result<Output> output_of(const std::vector<OwnerJob>& ends) {
  Output output;
  Json jobs = Json::array();
  for (const OwnerJob& end : ends) {
    if (!end.model) return end.model.error();
    Json job{{"charter", to_hex(end.charter)}, {"name", end.charter_name}, {"model", nullptr}};
    if (!end.learner.empty()) job["learner"] = end.learner;
    if (*end.model) job["model"] = to_hex(**end.model);
    output.text += fmt::format(
        "{}: every answer was given; {}\n", end.charter_name,
        *end.model ? "model " + to_hex(**end.model) : "the learner left without a farewell");
    jobs.push_back(std::move(job));
  }
  output.json = Json{{"parley", report::provenance()}, {"jobs", jobs}}.dump(2) + "\n";
  return output;
}

Result<Output> serve(const OwnerOptions& options) {
  const Policy policy = TRY(Policy::read(options.policy));
  heed_interrupts();
  return output_of(TRY(api::run_owner(policy,
                                      {.charters = options.charters,
                                       .dial = options.dial,
                                       .listen = options.listen,
                                       .learner = options.learner,
                                       .wait = std::chrono::seconds(options.wait),
                                       .log = log_line},
                                      interrupted)));
}

/// Who types; behind sudo, who typed that.
std::string user_name() {
  const char* behind = std::getenv("SUDO_USER");
  const passwd* user = behind == nullptr ? getpwuid(geteuid()) : nullptr;
  std::string name = behind ? behind : user ? user->pw_name : std::to_string(geteuid());
  std::erase_if(name, [](char c) {
    return !std::isgraph(static_cast<unsigned char>(c)) || c == '"' || c == '\\';
  });
  return name.empty() ? "unknown" : name.substr(0, 100);
}

Result<Output> approve(const OwnerOptions& options) {
  const Policy policy = TRY(Policy::read(options.policy));
  Output output;
  Json approved = Json::array();
  for (const auto& file : options.charters) {
    const Charter charter = TRY(Charter::read(file));
    TRY(parley::approve(policy, charter, user_name()));
    output.text += fmt::format("{} approved ({})\n", charter.name(), to_hex(charter.hash()));
    approved.push_back(to_hex(charter.hash()));
  }
  output.json = Json{{"parley", report::provenance()}, {"approved", approved}}.dump(2) + "\n";
  return output;
}

}  // namespace

Result<Output> run(const OwnerOptions& options, ProgressStyle) {
  return options.action == OwnerOptions::Action::kRun ? serve(options) : approve(options);
}

}  // namespace parley::cli
