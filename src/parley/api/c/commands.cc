#include "parley/api/c/commands.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "parley/audit.h"
#include "parley/base/printable.h"
#include "parley/base/version.h"
#include "parley/c.h"

namespace parley::api {
namespace {

using Json = nlohmann::ordered_json;

Result<Json> about(Call& call);

constexpr std::array<std::pair<std::string_view, Command*>, 16> kCommands = {{
    {"about", about},
    {"account", account_epsilon},
    {"account.calibrate", account_calibrate},
    {"audit", audit_attack},
    {"charter.check", charter_check},
    {"charter.explain", charter_explain},
    {"fit", fit_table},
    {"forecast", forecast_job},
    {"ledger.create", ledger_create},
    {"ledger.export", ledger_export},
    {"ledger.show", ledger_show},
    {"ledger.verify", ledger_verify},
    {"owner.value", owner_value},
    {"predict", predict_table},
    {"simulate", simulate_job},
    {"verify", verify_model},
}};

std::string command_names() {
  std::string names;
  for (const auto& [name, command] : kCommands)
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

/// What the library is and can do.
Result<Json> about(Call& call) {
  TRY(call.only({}));
  Json names = Json::array();
  for (const auto& [name, command] : kCommands) names.push_back(name);
  return Json{{"version", kVersion},
              {"commit", commit()},
              {"c_version", PARLEY_C_VERSION},
              {"commands", std::move(names)},
              {"mechanisms", mechanism_names()}};
}

}  // namespace

Result<Command*> command_named(std::string_view name) {
  for (const auto& [known, command] : kCommands)
    if (known == name) return command;
  return Error{Code::kInvalid, "there is no command '" + printable(name, 60) + "'",
               "There are: " + command_names() + "."};
}

}  // namespace parley::api
