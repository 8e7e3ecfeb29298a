#include "parley/report/network/status.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "parley/report/provenance.h"

namespace parley::report {
namespace {

using Json = nlohmann::ordered_json;

Error other_version() {
  return {Code::kFailed, "the daemon says something that this program does not know",
          "Is it of another version? Restart the daemon after an upgrade."};
}

Json datasets_of(const ledger::Contents& ledger) {
  Json all = Json::array();
  for (const ledger::Dataset& each : ledger.datasets)
    all.push_back({{"name", each.name},
                   {"epsilon_spent", each.spent.pure},
                   {"epsilon", each.budget.pure_max},
                   {"rho_spent", each.spent.rho},
                   {"rho", each.budget.rho_max}});
  return all;
}

std::string owner_text(const Json& said) {
  std::string text =
      fmt::format("{}: running since {}, process {}, Parley {}\n",
                  said.at("owner").get<std::string>(), said.at("since").get<std::string>(),
                  said.at("pid").get<int64_t>(), said.at("version").get<std::string>());
  for (const Json& each : said.at("charters")) {
    const std::string name = each.at("name"), reason = each.at("reason");
    text += fmt::format("  {}: {}{}\n", name.empty() ? each.at("file").get<std::string>() : name,
                        each.at("state").get<std::string>(), reason.empty() ? "" : ": " + reason);
  }
  for (const Json& each : said.value("datasets", Json::array()))
    text += fmt::format("  data set {}: spent epsilon {:.6g} of {:.6g}, rho {:.6g} of {:.6g}\n",
                        each.at("name").get<std::string>(), each.at("epsilon_spent").get<double>(),
                        each.at("epsilon").get<double>(), each.at("rho_spent").get<double>(),
                        each.at("rho").get<double>());
  return text;
}

std::string learner_text(const Json& said) {
  std::string text =
      fmt::format("{}: round {} of {}, running since {}, process {}, Parley {}\n",
                  said.at("name").get<std::string>(), said.at("round").get<uint64_t>(),
                  said.at("rounds").get<uint64_t>(), said.at("since").get<std::string>(),
                  said.at("pid").get<int64_t>(), said.at("version").get<std::string>());
  const Json& attending = said.at("attending");
  for (const Json& owner : said.at("owners")) {
    const bool here = std::find(attending.begin(), attending.end(), owner) != attending.end();
    text += fmt::format("  {} {}\n", owner.get<std::string>(), here ? "attends" : "is away");
  }
  return text;
}

/// With the ledger, and what every result says of itself.
Result<Json> whole(const DaemonStatus& status) {
  Json said = Json::parse(status.said, nullptr, false);
  if (!said.is_object() || !said.contains("format")) return other_version();
  said["parley"] = provenance();
  if (status.ledger) said["datasets"] = datasets_of(*status.ledger);
  return said;
}

}  // namespace

Result<std::string> to_text(const DaemonStatus& status) {
  const Json said = TRY(whole(status));
  try {
    if (said.at("format") == "parley.owner.status/1") return owner_text(said);
    if (said.at("format") == "parley.learner.status/1") return learner_text(said);
  } catch (const Json::exception&) {
  }
  return other_version();
}

Result<std::string> to_json(const DaemonStatus& status) {
  return TRY(whole(status)).dump(2) + "\n";
}

}  // namespace parley::report
