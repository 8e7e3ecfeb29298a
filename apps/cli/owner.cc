// parley owner run|approve POLICY [CHARTER...]
#include <fmt/core.h>
#include <pwd.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "interrupt.h"
#include "parley/base/entropy.h"
#include "parley/base/files.h"
#include "parley/net/owner_service.h"
#include "parley/report/provenance.h"

namespace parley::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The first job that failed decides how the process exits.
Result<Output> output_of(const std::vector<net::JobEnd>& ends) {
  Output output;
  Json jobs = Json::array();
  for (const net::JobEnd& end : ends) {
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
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  SystemClock clock;
  SystemEntropy entropy;
  heed_interrupts();
  const net::Log log = log_line;
  const bool listens = policy.identity && !policy.identity->learner.empty();
  net::log_refused_handshakes(listens ? log : nullptr);
  const net::ServiceOptions service{.charters = options.charters,
                                    .dial = options.dial,
                                    .listen = options.listen,
                                    .learner = options.learner,
                                    .patience = {.absent = std::chrono::seconds(options.wait)}};
  return output_of(TRY(net::serve(policy, service, entropy, clock, interrupted, log)));
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
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  SystemClock clock;
  Output output;
  Json approved = Json::array();
  for (const auto& file : options.charters) {
    const charter::Charter charter = TRY(charter::read_charter(file));
    TRY(policy.dataset_for(charter));  // What no rule allows, no person can approve.
    const auto approval = policy.approval_of(charter);
    TRY(make_directories(approval.parent_path()));
    TRY(write_file(approval, clock.now() + " " + user_name() + "\n"));
    output.text += fmt::format("{} approved ({})\n", charter.name, to_hex(charter.hash));
    approved.push_back(to_hex(charter.hash));
  }
  output.json = Json{{"parley", report::provenance()}, {"approved", approved}}.dump(2) + "\n";
  return output;
}

}  // namespace

Result<Output> run(const OwnerOptions& options, ProgressStyle) {
  return options.action == OwnerOptions::Action::kRun ? serve(options) : approve(options);
}

}  // namespace parley::cli
