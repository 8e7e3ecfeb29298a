// parley owner check POLICY [CHARTER...]
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "commands.h"
#include "parley/net/doctor/preflight.h"
#include "parley/report/provenance.h"

namespace parley::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Error& error) {
  return {{"code", name_of(error.code)}, {"what", describe(error)}, {"hint", error.hint}};
}

std::string about_credentials(const Result<net::Credentials>& credentials) {
  if (credentials) return "Papers: in order, " + credentials->identity.uri() + ".\n";
  return "Papers: NOT in order, so nothing can be answered: " + describe(credentials.error()) +
         ". " + credentials.error().hint + "\n";
}

}  // namespace

Result<Output> run(const OwnerCheckOptions& options, ProgressStyle style) {
  const charter::Policy policy = TRY(charter::read_policy(options.policy));
  SystemClock clock;
  const auto ledger = TRY(net::look_into_ledger(policy));
  const auto credentials = net::credentials_of(policy, clock);
  charter::SpentByDataset spent;
  if (ledger)
    for (const ledger::Dataset& dataset : ledger->datasets) spent[dataset.name] = dataset.spent;
  const std::string explained = charter::explain(policy, spent);
  bool runs = bool(credentials);
  Output output{.text = explained + about_credentials(credentials), .json = {}};
  Json charters = Json::array();
  Progress progress(options.no_data ? ProgressStyle::kQuiet : style, "charters",
                    options.charters.size());
  for (const auto& file : options.charters) {
    const charter::Charter charter = TRY(charter::read_charter(file));
    const auto preflight = net::preflight_of(policy, charter, ledger,
                                             {.dial = options.dial, .read_data = !options.no_data});
    runs = runs && preflight.runs();
    output.text += "\n" + charter::explain(preflight);
    charters.push_back(Json::parse(preflight.to_json()));
    progress.advance();
  }
  output.json = Json{{"format", "parley.owner.check/1"},
                     {"parley", report::provenance()},
                     {"owner", policy.owner},
                     {"runs", runs},
                     {"explanation", explained},
                     {"papers", credentials ? Json() : json_of(credentials.error())},
                     {"charters", charters}}
                    .dump(2, ' ', false, Json::error_handler_t::replace) +
                "\n";
  output.exit = runs ? 0 : exit_status(Code::kPolicy);
  return output;
}

}  // namespace parley::cli
